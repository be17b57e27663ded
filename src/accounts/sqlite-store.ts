import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "libsql";
import { AccountError, type AccountStore } from "./account-store.ts";
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
  try {
    return createSqlStore(await openDatabase(path));
  } catch (fault) {
    throw fault instanceof AccountError ? fault : openingError(path, fault);
  }
}

async function openDatabase(path: string): Promise<SqliteDatabase> {
  await mkdir(dirname(path), { recursive: true });
  await (await open(path, "a+", 0o600)).close();
  const file = new Database(path);
  const database = new SqliteDatabase(file);
  try {
    await setUp(file);
    await database.transact(migrate());
    await database.takeLog(path);
  } catch (fault) {
    await database.close();
    throw fault;
  }
  return database;
}

/** What the administrator can do about a file that cannot be opened, by the code of the error. */
const REMEDIES: Readonly<Record<string, string>> = {
  EISDIR: "It is a folder: remove it, or set VISAGE_DATA_DIR to another folder",
  ENOTDIR: "A part of the path is a file: set VISAGE_DATA_DIR to a folder",
  EEXIST: "A part of the path is a file: set VISAGE_DATA_DIR to a folder",
  EACCES: "Allow this user to read and write it, or set VISAGE_DATA_DIR to another folder",
  EPERM: "Allow this user to read and write it, or set VISAGE_DATA_DIR to another folder",
  EROFS: "Set VISAGE_DATA_DIR to a folder that can be written",
  ENOSPC: "Make room on the disk",
  SQLITE_FULL: "Make room on the disk",
  SQLITE_READONLY: "Allow this user to read and write it, or set VISAGE_DATA_DIR to another folder",
  SQLITE_NOTADB: "The file is damaged: restore it from a backup, or move it away to start without accounts",
  SQLITE_CORRUPT: "The file is damaged: restore it from a backup, or move it away to start without accounts",
};

/** Names the file, the cause and the remedy. */
function openingError(path: string, fault: unknown): Error {
  const { code = "", message } = fault as Error & { code?: string };
  // Extended codes of SQLite begin with the plain one.
  const plain = Object.keys(REMEDIES).find((known) => code === known || code.startsWith(`${known}_`));
  const remedy = plain === undefined ? "" : `. ${REMEDIES[plain]}`;
  return new Error(`The accounts in ${path} cannot be opened (${message})${remedy}`, { cause: fault });
}

async function setUp(file: Database.Database): Promise<void> {
  file.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`);
  // This waits for nobody, and fails for one of two who open a new file at the same moment.
  const deadline = Date.now() + BUSY_TIMEOUT_MS;
  while (!tryExecute(file, "pragma journal_mode = wal", Date.now() < deadline)) await sleep(RETRY_PAUSE_MS);
  file.exec("pragma synchronous = full");
  file.exec("pragma foreign_keys = on");
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

/** The database in an SQLite file. It owns the connection. */
export class SqliteDatabase implements SqlDatabase {
  readonly keepRows = "";
  readonly #file: Database.Database;
  readonly #prepared = new Map<string, Database.Statement>();
  #log: FileHandle | undefined;

  constructor(file: Database.Database) {
    this.#file = file;
  }

  /**
   * Has the log in which SQLite writes first brought to the disk by another thread from now on. SQLite itself would
   * do it in this one, and nobody would be answered meanwhile: some milliseconds, but a tenth of a second on a busy
   * disk. A file system that cannot have such a log leaves it as it is.
   */
  async takeLog(path: string): Promise<void> {
    this.#log = await open(`${path}-wal`, "r+").catch(() => undefined);
    if (!this.#log) return;
    await syncFolder(dirname(path));
    this.#file.exec("pragma synchronous = normal");
  }

  async query(statement: Statement): Promise<Row[]> {
    return this.#run(statement);
  }

  async transact<T>(script: Script<T>): Promise<T> {
    // The lock is taken at once, for one that reads first and writes later may find that it cannot.
    this.#file.exec("begin immediate");
    let value: T;
    try {
      value = this.#runAll(script);
      this.#file.exec("commit");
    } catch (fault) {
      this.#rollBack();
      throw fault;
    }
    await this.#log?.datasync();
    return value;
  }

  async close(): Promise<void> {
    await this.#log?.close();
    this.#file.close();
  }

  /** Ends a transaction that failed. The first error says why, so that none is thrown here. */
  #rollBack(): void {
    // SQLite has rolled back by itself after some errors, such as a full disk.
    if (!this.#file.inTransaction) return;
    try {
      this.#file.exec("rollback");
    } catch {
      // The next transaction fails if this one is still open.
    }
  }

  #runAll<T>(script: Script<T>): T {
    let step = script.next();
    while (!step.done) step = script.next(this.#run(step.value));
    return step.value;
  }

  #run({ sql, values = [] }: Statement): Row[] {
    let statement = this.#prepared.get(sql);
    if (!statement) {
      // SQLite takes $1 for a name, and counts names in the order in which they occur.
      statement = this.#file.prepare(sql.replaceAll(/\$(?=\d)/g, "?"));
      this.#prepared.set(sql, statement);
    }
    return statement.all(values) as Row[];
  }
}

/** Brings the names of new files to the disk. Windows does so by itself, and opens no folder. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path);
  await folder.sync().finally(() => folder.close());
}
