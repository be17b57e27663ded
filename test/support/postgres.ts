import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";

/** A PostgreSQL server of a test's own, on this machine. */
export interface TestPostgres {
  /** Of a database that is there and empty. */
  readonly url: string;
  /** Makes another empty database and gives its address. */
  createDatabase(): Promise<string>;
  /** Ends all connections and then the server, in good order. */
  stop(): Promise<void>;
  /** Ends the server with all its processes as a failing machine would, without a word to clients. */
  kill9(): Promise<void>;
  /** Starts the server again, at the same address and with the same data. */
  start(): Promise<void>;
  /** Ends the server for good and removes its files. */
  remove(): Promise<void>;
}

const START_TIMEOUT_MS = 20_000;
// CI must not pass because a tool is missing.
const isCi = process.env.CI === "true";

const programs = findPrograms();

/** Whether tests can have a PostgreSQL. Without one they are passed over, except in CI, where they fail. */
export const hasPostgres = programs !== undefined || isCi;
if (!hasPostgres) console.warn("No PostgreSQL is on this machine: tests that need one are skipped.");

/** Makes a server with one empty database; it is ready when the promise resolves. */
export async function startPostgres(): Promise<TestPostgres> {
  if (!programs) throw new Error("No PostgreSQL is on this machine: initdb and postgres are not found.");
  const folder = mkdtempSync(join(tmpdir(), "visage-postgres-"));
  const owner = ownerOfServers();
  if (owner) chownSync(folder, owner.uid, owner.gid);
  const options = { cwd: folder, stdio: "ignore", ...owner } as const;
  const flags = ["--username=visage", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"];
  execFileSync(join(programs, "initdb"), [...flags, folder], { ...options, stdio: "pipe" });

  const port = await findFreePort();
  const urlOf = (database: string) => `postgres://visage@127.0.0.1:${port}/${database}`;
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"];
  const args = ["-D", folder, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])];
  let server: ChildProcess | undefined;
  let databases = 0;

  const start = async () => {
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (!(await canConnect(urlOf("postgres")))) {
      if (Date.now() > deadline) throw new Error("PostgreSQL does not start.");
      // After a crash it refuses to start until the last of its old processes is gone.
      if (!isRunning(server)) server = spawn(join(programs, "postgres"), args, options);
      await sleep(50);
    }
  };
  const end = async (signal: NodeJS.Signals) => {
    if (!server || !isRunning(server)) return;
    const exit = once(server, "exit");
    server.kill(signal);
    await exit;
  };
  const createDatabase = async () => {
    const name = `test_${++databases}`;
    await execute(urlOf("postgres"), `create database ${name}`);
    return urlOf(name);
  };

  process.once("exit", () => server?.kill("SIGKILL"));
  await start();
  return {
    url: await createDatabase(),
    createDatabase,
    // Its name for a shutdown that does not wait for clients.
    stop: () => end("SIGINT"),
    kill9: async () => {
      const processes = await execute(urlOf("postgres"), "select pid from pg_stat_activity");
      const exit = end("SIGKILL");
      for (const { pid } of processes) tryKill(Number(pid));
      await exit;
    },
    start,
    remove: async () => {
      await end("SIGQUIT");
      rmSync(folder, { recursive: true });
    },
  };
}

/** Runs SQL on a connection of its own. */
export async function execute(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Lets everyone wait who would read or write these tables, until what is given is called. */
export async function lockTables(url: string, ...tables: string[]): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  await client.query(`begin; lock table ${tables.join(", ")} in access exclusive mode`);
  // Without a commit: with the connection go its transaction and its locks.
  return () => client.end();
}

async function canConnect(url: string): Promise<boolean> {
  return execute(url, "select 1").then(
    () => true,
    () => false,
  );
}

/** One that has ended by itself is as good. */
function tryKill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {}
}

function isRunning(server: ChildProcess | undefined): boolean {
  return server !== undefined && server.exitCode === null && server.signalCode === null;
}

/** The folder of the server's programs; Debian keeps them out of the path. */
function findPrograms(): string | undefined {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...(process.env.PATH ?? "").split(delimiter),
    ...versions.map((version) => join(debian, version, "bin")),
  ];
  return folders.find((folder) => ["initdb", "postgres"].every((name) => existsSync(join(folder, name))));
}

/** PostgreSQL refuses to run as root: there it runs as the user that its package makes, or as nobody. */
function ownerOfServers(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (flag: string, user: string) =>
    Number(execFileSync("id", [flag, user], { stdio: ["ignore", "pipe", "ignore"] }));
  for (const user of ["postgres", "nobody"]) {
    try {
      return { uid: idOf("-u", user), gid: idOf("-g", user) };
    } catch {}
  }
  throw new Error("PostgreSQL refuses to run as root, and there is no other user to run it as.");
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
