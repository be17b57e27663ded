import { type FileHandle, mkdir, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "libsql";
import { CheckpointThread } from "./checkpoint-thread.ts";
import { DatabaseError, MissingDatabaseError } from "./database-error.ts";
import { Erasure } from "./erasure.ts";
import { migrate } from "./migrations.ts";
import type {
  ByteRow,
  Deletion,
  ErasureCallbacks,
  OpenOptions,
  Row,
  SqlDatabase,
  Statement,
  TransactionScript,
} from "./sql-database.ts";

/** How long to wait for a lock of another process, such as a backup or a `visage users` command. */
const BUSY_TIMEOUT_MS = 5_000;
const RETRY_PAUSE_MS = 20;
/** The write-ahead log is moved into the file when it is longer. SQLite by itself uses the same limit. */
const MAX_LOG_BYTES = 4 * 1024 * 1024;

/**
 * Opens an SQLite file and migrates its schema. A missing or empty file is created, readable by its owner only, unless
 * it must exist. Several processes on one machine may share the file. Changes are durable: they survive a crash of the
 * process or the machine.
 */
export async function openSqliteDatabase(
  path: string,
  { mustExist = false, ...callbacks }: OpenOptions = {},
): Promise<SqlDatabase> {
  try {
    await (mustExist ? requireFile(path) : createFile(path));
    return await openFile(path, callbacks);
  } catch (error) {
    throw error instanceof DatabaseError ? error : createOpenError(path, error);
  }
}

async function requireFile(path: string): Promise<void> {
  const { size } = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT" ? new MissingDatabaseError() : error;
  });
  if (size === 0) throw new MissingDatabaseError();
}

async function createFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await (await open(path, "a+", 0o600)).close();
}

async function openFile(path: string, callbacks: ErasureCallbacks): Promise<SqliteDatabase> {
  const file = new Database(path);
  const database = new SqliteDatabase(file, callbacks);
  try {
    await configure(file);
    await database.runTransaction(migrate());
    await database.waitAsynchronously(path);
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

/** What the administrator can do about a file that cannot be opened, by error code. */
const REMEDIES: Readonly<Record<string, string>> = {
  EISDIR: "it is a folder; remove it, or set VISAGE_DATA_DIR to another folder",
  ENOTDIR: "a part of the path is a file; set VISAGE_DATA_DIR to a folder",
  EEXIST: "a part of the path is a file; set VISAGE_DATA_DIR to a folder",
  EACCES: "allow this user to read and write it, or set VISAGE_DATA_DIR to another folder",
  EPERM: "allow this user to read and write it, or set VISAGE_DATA_DIR to another folder",
  EROFS: "set VISAGE_DATA_DIR to a writable folder",
  ENOSPC: "free some disk space",
  SQLITE_FULL: "free some disk space",
  SQLITE_IOERR: "the disk may be full or damaged; check it",
  SQLITE_READONLY: "allow this user to read and write it, or set VISAGE_DATA_DIR to another folder",
  SQLITE_NOTADB: "the file is damaged; restore it from a backup, or move it away to start without accounts",
  SQLITE_CORRUPT: "the file is damaged; restore it from a backup, or move it away to start without accounts",
};

/** Creates an error that names the file, the cause and the remedy in one sentence. */
function createOpenError(path: string, error: unknown): Error {
  const { code = "", message } = error as Error & { code?: string };
  // Extended SQLite codes start with the primary code.
  const primary = Object.keys(REMEDIES).find((known) => code === known || code.startsWith(`${known}_`));
  const remedy = primary === undefined ? "" : `: ${REMEDIES[primary]}`;
  return new Error(`The account file ${path} cannot be opened (${message})${remedy}`, { cause: error });
}

async function configure(file: Database.Database): Promise<void> {
  file.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`);
  // This statement ignores the busy timeout, so it fails if two processes create the file at the same time.
  const deadline = Date.now() + BUSY_TIMEOUT_MS;
  while (!tryExec(file, "pragma journal_mode = wal", Date.now() < deadline)) await sleep(RETRY_PAUSE_MS);
  file.exec("pragma synchronous = full");
  file.exec("pragma foreign_keys = on");
  // Overwrites deleted rows with zeros.
  file.exec("pragma secure_delete = on");
}

/** Returns false if the file is locked by another process and the caller may retry. */
function tryExec(file: Database.Database, sql: string, mayRetry: boolean): boolean {
  try {
    file.exec(sql);
    return true;
  } catch (error) {
    if (mayRetry && isBusy(error)) return false;
    throw error;
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith("SQLITE_BUSY");
}

/** A database in an SQLite file. It owns the connection. */
export class SqliteDatabase implements SqlDatabase {
  /** Transactions are exclusive, so rows need no lock. */
  readonly rowLockClause = "";
  readonly exclusiveRowLockClause = "";
  readonly decodeHex = (expression: string) => `unhex(${expression})`;
  /** SQLite stores timestamps as text. */
  readonly parseTimestamp = (expression: string) => expression;
  /** SQLite aggregates only text. It takes the bytes of a blob as they are for text, and the other way round. */
  readonly concatBytes = (expression: string) => `cast(string_agg(${expression}, '') as blob)`;
  readonly #file: Database.Database;
  readonly #prepared = new Map<string, Database.Statement>();
  readonly #erasure: Erasure;
  #writeAheadLog: FileHandle | undefined;
  #checkpoints: CheckpointThread | undefined;
  /** The last transaction. Each starts when the one before it has ended, so that only one tries to get the lock. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(file: Database.Database, callbacks: ErasureCallbacks = {}) {
    this.#file = file;
    this.#erasure = new Erasure(this, () => this.#emptyLog(), callbacks);
  }

  /**
   * From now on, flushes the write-ahead log to disk, moves it into the file and waits for locks asynchronously. SQLite
   * itself would block the event loop: up to 100 ms for a flush to a busy disk, and 5 s for each lock. Has no effect if
   * there is no log file, because a transaction may then have to wait for a lock in its commit as well.
   */
  async waitAsynchronously(path: string): Promise<void> {
    this.#writeAheadLog = await open(`${path}-wal`, "r+").catch(() => undefined);
    if (!this.#writeAheadLog) return;
    await syncFolder(dirname(path));
    this.#checkpoints = new CheckpointThread(path);
    this.#file.exec("pragma synchronous = normal");
    this.#file.exec("pragma busy_timeout = 0");
    this.#file.exec("pragma wal_autocheckpoint = 0");
  }

  async query(statement: Statement): Promise<Row[]> {
    const deadline = Date.now() + BUSY_TIMEOUT_MS;
    for (;;) {
      try {
        return this.#run(statement);
      } catch (error) {
        if (!isBusy(error) || Date.now() > deadline) throw error;
      }
      await sleep(RETRY_PAUSE_MS);
    }
  }

  async queryBytes(statement: Statement): Promise<ByteRow[]> {
    const rows = await this.query(statement);
    return rows.map((row) =>
      Object.values(row).map((value) => (value === null ? undefined : Buffer.from(value as Buffer | string))),
    );
  }

  async runTransaction<T>(script: TransactionScript<T>): Promise<T> {
    const deadline = Date.now() + BUSY_TIMEOUT_MS;
    const value = await this.#runInTurn(() => this.#runWithWriteLock(script, deadline));
    if (this.#writeAheadLog)
      await Promise.all([this.#writeAheadLog.datasync(), this.#limitLog(this.#writeAheadLog)]);
    return value;
  }

  /** Runs work that needs the write lock, after the work that came before. */
  #runInTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work, work);
    this.#last = turn;
    return turn;
  }

  async #runWithWriteLock<T>(script: TransactionScript<T>, deadline: number): Promise<T> {
    // Take the write lock now: a transaction that reads first may fail to get it later.
    while (!tryExec(this.#file, "begin immediate", Date.now() < deadline)) await sleep(RETRY_PAUSE_MS);
    try {
      const value = this.#runScript(script);
      this.#file.exec("commit");
      return value;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  get isErasureDelayed(): boolean {
    return this.#erasure.isDelayed;
  }

  startErasure(deletion: Deletion): void {
    this.#erasure.start(deletion);
  }

  waitForErasure(maxMs?: number): Promise<boolean> {
    return this.#erasure.wait(maxMs);
  }

  /** Starts to empty the write-ahead log if it is long. Never rejects, because the transaction is committed. */
  async #limitLog(log: FileHandle): Promise<void> {
    const { size } = await log.stat().catch(() => ({ size: 0 }));
    if (size > MAX_LOG_BYTES) this.#erasure.start("rows");
  }

  /** Moves all changes into the file, because the write-ahead log has the rows as they were inserted. */
  async #emptyLog(): Promise<void> {
    const checkpoints = this.#checkpoints;
    if (!checkpoints) return;
    // Most of the log is moved while others write.
    await checkpoints.run("passive");
    const isEmpty = await this.#runInTurn(() => checkpoints.run("truncate"));
    if (!isEmpty) throw new Error("Another process uses the file, so its write-ahead log cannot be emptied.");
  }

  async close(): Promise<void> {
    await this.#erasure.close();
    await this.#last.catch(() => {});
    await this.#checkpoints?.close();
    await this.#writeAheadLog?.close();
    this.#file.close();
  }

  /** Rolls back after an error. Never throws: the first error is the one to report. */
  #rollBack(): void {
    // SQLite rolls back by itself after some errors, such as a full disk.
    if (!this.#file.inTransaction) return;
    try {
      this.#file.exec("rollback");
    } catch {
      // If the transaction is still open, the next one fails.
    }
  }

  #runScript<T>(script: TransactionScript<T>): T {
    let step = script.next();
    while (!step.done) step = script.next(this.#run(step.value));
    return step.value;
  }

  #run({ sql, values = [] }: Statement): Row[] {
    let statement = this.#prepared.get(sql);
    if (!statement) {
      // SQLite parses $1 as a named parameter; ?1 is a numbered one.
      statement = this.#file.prepare(sql.replaceAll(/\$(?=\d)/g, "?"));
      this.#prepared.set(sql, statement);
    }
    return statement.all(values) as Row[];
  }
}

/** Flushes the directory entries of new files. Windows needs no such flush and cannot open folders. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path);
  await folder.sync().finally(() => folder.close());
}
