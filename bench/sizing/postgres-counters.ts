import { readFileSync } from "node:fs";
import { execute } from "../../tools/support/postgres.ts";

/** Linux reports CPU time in ticks of 1/100 s. */
const MS_PER_TICK = 10;

/** What a PostgreSQL server on this machine has done so far. */
export interface PostgresCounters {
  readonly transactions: number;
  /** CPU time of all its processes, also of those that have ended. */
  readonly cpuMs: number;
}

/** Reads the counters of the server and database of this URL. The server counts transactions a second late, and those of idle connections ten seconds. */
export async function readPostgresCounters(url: string): Promise<PostgresCounters> {
  const [row] = await execute(
    url,
    `select xact_commit + xact_rollback as count, pg_read_file('postmaster.pid') as file
      from pg_stat_database where datname = current_database()`,
  );
  const pid = Number(String(row!.file).split("\n")[0]);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  const ticks = [pid, ...children.map(Number)].map((one) => {
    const [utime, stime, cutime, cstime] = statOf(one);
    return utime! + stime! + (one === pid ? cutime! + cstime! : 0);
  });
  return { transactions: Number(row!.count), cpuMs: MS_PER_TICK * ticks.reduce((sum, one) => sum + one, 0) };
}

/** utime, stime, cutime and cstime of a process; zeros if it has just ended. */
function statOf(pid: number): number[] {
  try {
    // The command name in parentheses may contain spaces. Behind it, utime is the 12th field.
    const [, fields] = readFileSync(`/proc/${pid}/stat`, "utf8").split(/\) (?=[A-Z] )/);
    return fields!.split(" ").slice(11, 15).map(Number);
  } catch {
    return [0, 0, 0, 0];
  }
}
