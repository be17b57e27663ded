/** What a statement may be given. Truth values are 1 and 0, which both databases take for them. */
export type SqlValue = string | number | null;

/** A row by the names of its columns; each database has types of its own for the same column. */
export type Row = Readonly<Record<string, unknown>>;

/** Its parameters are $1, $2 and so on. */
export interface Statement {
  readonly sql: string;
  readonly values?: readonly SqlValue[];
}

/**
 * The statements of one transaction: yields each and is given its rows. A script that throws changes nothing.
 * It cannot wait for anything else, so an embedded database can run it in one go.
 */
export type Script<T> = Generator<Statement, T, readonly Row[]>;

/** The little that the account store asks of a database. */
export interface SqlDatabase {
  /** Runs a statement that changes nothing. */
  query(statement: Statement): Promise<readonly Row[]>;
  /** Runs a script from start to end, or not at all; its changes are stored for good when it resolves. */
  transact<T>(script: Script<T>): Promise<T>;
  /** Put behind a select, keeps others from removing its rows until the transaction ends. */
  readonly keepRows: string;
  close(): Promise<void>;
}
