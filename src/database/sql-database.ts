/** A parameter of a statement. Booleans are passed as 1 and 0, which both databases accept. */
export type SqlValue = string | number | Uint8Array | null;

/** A row by column name. The types of the values depend on the database. */
export type Row = Readonly<Record<string, unknown>>;

/** The columns of a row as bytes, text in UTF-8; undefined for null. */
export type ByteRow = readonly (Uint8Array | undefined)[];

/** An SQL statement with the parameters $1, $2 and so on. */
export interface Statement {
  readonly sql: string;
  readonly values?: readonly SqlValue[];
}

/**
 * A transaction as a generator: it yields statements and receives their rows. If it throws, the transaction is rolled
 * back. It cannot await anything else, so an embedded database can run it synchronously.
 */
export type TransactionScript<T> = Generator<Statement, T, readonly Row[]>;

/** What was deleted: rows, or galleries that are hidden and whose rows are to be deleted. */
export type Deletion = "rows" | "galleries";

/** Called about an erasure that takes long. */
export interface ErasureCallbacks {
  /** Called once, when an erasure has failed for a while. */
  readonly onErasureDelay?: (cause: unknown) => void;
  /** Called when an erasure that was delayed is finished. */
  readonly onErasureEnd?: () => void;
}

/** How to open a database. */
export interface OpenOptions extends ErasureCallbacks {
  /** Throws MissingDatabaseError if the database does not exist, instead of creating it. False by default. */
  readonly mustExist?: boolean;
}

/** The database operations that the stores need. */
export interface SqlDatabase {
  /** Runs a read-only statement. */
  query(statement: Statement): Promise<readonly Row[]>;
  /** Runs a read-only statement whose columns are text or bytes. The fastest way to read large ones. */
  queryBytes(statement: Statement): Promise<readonly ByteRow[]>;
  /** Runs a transaction. Its changes are durable when the promise resolves. */
  runTransaction<T>(script: TransactionScript<T>): Promise<T>;
  /** Clause after a select that keeps other transactions from deleting its rows until this one ends. */
  readonly rowLockClause: string;
  /** Clause after a select that waits for the locks of `rowLockClause` and keeps others from taking one. */
  readonly exclusiveRowLockClause: string;
  /** Makes the expression that converts hexadecimal digits to bytes. */
  readonly decodeHex: (expression: string) => string;
  /** Makes the expression that converts the text of a timestamp, or null. */
  readonly parseTimestamp: (expression: string) => string;
  /** Makes the aggregate that concatenates bytes. */
  readonly concatBytes: (expression: string) => string;
  /**
   * Starts to erase deleted rows from the files, as far as the database can do that at once: PostgreSQL keeps them until
   * its next vacuum. The rows of hidden galleries are deleted before. Goes on in the background until it succeeds.
   */
  startErasure(deletion: Deletion): void;
  /**
   * Waits until everything is erased, by default two seconds, or not at all for an erasure that is delayed. Returns
   * whether it is. Never rejects.
   */
  waitForErasure(maxMs?: number): Promise<boolean>;
  /** Whether an erasure has failed for a while and is not finished. */
  readonly isErasureDelayed: boolean;
  close(): Promise<void>;
}

/** Converts bytes: the PostgreSQL driver returns a Buffer, SQLite an ArrayBuffer. */
export function bytesFromColumn(value: unknown): Uint8Array {
  return new Uint8Array(value as Uint8Array | ArrayBuffer);
}

/** Converts a timestamp: the PostgreSQL driver returns a Date, SQLite the stored text. */
export function dateFromColumn(value: unknown): Date {
  return new Date(value as Date | string);
}

/** Converts a timestamp that may be null. */
export function optionalDateFromColumn(value: unknown): Date | undefined {
  return value === null ? undefined : dateFromColumn(value);
}
