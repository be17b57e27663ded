import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";

/** A temporary PostgreSQL server on this machine. */
export interface TestPostgres {
  /** URL of an empty database. */
  readonly url: string;
  /** Creates another empty database and returns its URL. */
  createDatabase(): Promise<string>;
  /** Closes all connections and shuts the server down. */
  stop(): Promise<void>;
  /** Kills all processes of the server, like a crash of the machine. */
  kill9(): Promise<void>;
  /** Restarts the server with the same URL and data. */
  start(): Promise<void>;
  /** Stops the server and removes its files. */
  remove(): Promise<void>;
}

const START_TIMEOUT_MS = 20_000;
// In CI a missing program must fail its tests.
// biome-ignore lint/style/noProcessEnv: tests have no settings
const isCi = process.env.CI === "true";

const programs = findPrograms();

/** Whether to run the tests: false if PostgreSQL is missing, except in CI, where the tests fail. */
export const hasPostgres = programs !== undefined || isCi;
if (!hasPostgres) console.warn("PostgreSQL is not installed. Tests that need it are skipped.");

/** A certificate and its key in PEM. */
export interface PostgresTls {
  readonly cert: string;
  readonly key: string;
}

/** Starts a server with one empty database. It is ready when the promise resolves. With a certificate it offers TLS. */
export async function startPostgres(tls?: PostgresTls): Promise<TestPostgres> {
  if (!programs) throw new Error("PostgreSQL is not installed: initdb and postgres are not found.");
  const folder = mkdtempSync(join(tmpdir(), "visage-postgres-"));
  const owner = findUnprivilegedUser();
  if (owner) chownSync(folder, owner.uid, owner.gid);
  const options = { cwd: folder, stdio: "ignore", ...owner } as const;
  const flags = ["--username=visage", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"];
  execFileSync(join(programs, "initdb"), [...flags, folder], { ...options, stdio: "pipe" });

  const port = await findFreePort();
  const createUrl = (database: string) => `postgres://visage@127.0.0.1:${port}/${database}`;
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"];
  if (tls) {
    for (const [name, pem] of Object.entries({ "server.crt": tls.cert, "server.key": tls.key })) {
      writeFileSync(join(folder, name), pem, { mode: 0o600 });
      if (owner) chownSync(join(folder, name), owner.uid, owner.gid);
    }
    settings.push("ssl=on");
  }
  const args = ["-D", folder, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])];
  let server: ChildProcess | undefined;
  let databases = 0;

  const start = async () => {
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (!(await canConnect(createUrl("postgres")))) {
      if (Date.now() > deadline) throw new Error("PostgreSQL does not start.");
      // After a crash it does not start until all old processes have ended.
      if (!isRunning(server)) server = spawn(join(programs, "postgres"), args, options);
      await sleep(50);
    }
  };
  const stop = async (signal: NodeJS.Signals) => {
    if (!server || !isRunning(server)) return;
    const exit = once(server, "exit");
    server.kill(signal);
    await exit;
  };
  const createDatabase = async () => {
    const name = `test_${++databases}`;
    await execute(createUrl("postgres"), `create database ${name}`);
    return createUrl(name);
  };

  process.once("exit", () => server?.kill("SIGKILL"));
  await start();
  return {
    url: await createDatabase(),
    createDatabase,
    // SIGINT is the fast shutdown, which does not wait for clients.
    stop: () => stop("SIGINT"),
    kill9: async () => {
      const processes = await execute(createUrl("postgres"), "select pid from pg_stat_activity");
      const exit = stop("SIGKILL");
      for (const { pid } of processes) tryKill(Number(pid));
      await exit;
    },
    start,
    remove: async () => {
      await stop("SIGQUIT");
      rmSync(folder, { recursive: true });
    },
  };
}

/** Runs SQL on a new connection. */
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

/** Locks tables for reads and writes. Returns a function that releases the lock. */
export async function lockTables(url: string, ...tables: string[]): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  await client.query(`begin; lock table ${tables.join(", ")} in access exclusive mode`);
  // Closing the connection rolls back the transaction and releases its locks.
  return () => client.end();
}

async function canConnect(url: string): Promise<boolean> {
  return execute(url, "select 1").then(
    () => true,
    () => false,
  );
}

/** Kills a process unless it has already ended. */
function tryKill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {}
}

function isRunning(server: ChildProcess | undefined): boolean {
  return server !== undefined && server.exitCode === null && server.signalCode === null;
}

/** Finds the folder of the server programs. On Debian it is not in the path. */
function findPrograms(): string | undefined {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    // biome-ignore lint/style/noProcessEnv: the path of programs is no setting
    ...(process.env.PATH ?? "").split(delimiter),
    ...versions.map((version) => join(debian, version, "bin")),
  ];
  return folders.find((folder) => ["initdb", "postgres"].every((name) => existsSync(join(folder, name))));
}

/** Returns the user to run PostgreSQL as if this process is root, because PostgreSQL rejects root. */
function findUnprivilegedUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const readId = (flag: string, user: string) =>
    Number(execFileSync("id", [flag, user], { stdio: ["ignore", "pipe", "ignore"] }));
  for (const user of ["postgres", "nobody"]) {
    try {
      return { uid: readId("-u", user), gid: readId("-g", user) };
    } catch {}
  }
  throw new Error("PostgreSQL does not run as root, and there is no other user to run it as.");
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
