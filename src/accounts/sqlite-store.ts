import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "libsql";
import type { AccountStore } from "./account-store.ts";
import { migrate } from "./migrations.ts";
import type { Row, Script, SqlDatabase, Statement } from "./sql-database.ts";
import { createSqlStore } from "./sql-store.ts";

/** Others hold the file for milliseconds; the thread stands still while it waits for them. */
const BUSY_TIMEOUT_MS = 5_000;
const RETRY_PAUSE_MS = 20;

/**
 * Opens the accounts in an SQLite file, which is made where it is missing, readable by its owner alone.
 * Several processes of one machine may share it. What a call has stored outlives a crash of the process or
 * the machine.
 */
export async function openSqliteStore(path: string): Promise<AccountStore> {
  await mkdir(dirname(path), { recursive: true });
  await (await open(path, "a", 0o600)).close();
  const database = createDatabase(await openFile(path));
  try {
    await database.transact(migrate());
  } catch (fault) {
    await database.close();
    throw fault;
  }
  return createSqlStore(database);
}

async function openFile(path: string): Promise<Database.Database> {
  const file = new Database(path);
  file.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`);
  // This waits for nobody, and fails for one of two who open a new file at the same moment.
  const deadline = Date.now() + BUSY_TIMEOUT_MS;
  while (!tryExecute(file, "pragma journal_mode = wal", Date.now() < deadline)) await sleep(RETRY_PAUSE_MS);
  file.exec("pragma synchronous = full");
  file.exec("pragma foreign_keys = on");
  return file;
}

/** Tells whether it worked; that others hold the file is no fault as long as one may try again. */
function tryExecute(file: Database.Database, sql: string, mayTryAgain: boolean): boolean {
  try {
    file.exec(sql);
    return true;
  } catch (fault) {
    if (mayTryAgain && fault instanceof Database.SqliteError && fault.code === "SQLITE_BUSY") return false;
    throw fault;
  }
}

function createDatabase(file: Database.Database): SqlDatabase {
  const prepared = new Map<string, Database.Statement>();

  const run = ({ sql, values = [] }: Statement) => {
    let statement = prepared.get(sql);
    if (!statement) {
      // SQLite takes $1 for a name, and counts names in the order in which they occur.
      statement = file.prepare(sql.replaceAll(/\$(?=\d)/g, "?"));
      prepared.set(sql, statement);
    }
    return statement.all(values) as Row[];
  };

  return {
    query: async (statement) => run(statement),
    // The lock is taken at once, for one that reads first and writes later may find that it cannot.
    transact: async <T>(script: Script<T>) =>
      file
        .transaction(() => {
          let step = script.next();
          while (!step.done) step = script.next(run(step.value));
          return step.value;
        })
        .immediate(),
    keepRows: "",
    close: async () => {
      file.close();
    },
  };
}
