import { Pool, type PoolClient } from "pg";
import { DatabaseError, MissingDatabaseError } from "./database-error.ts";
import { withoutSecrets } from "./database-location.ts";
import { Erasure } from "./erasure.ts";
import { migrate } from "./migrations.ts";
import { copyRows } from "./postgres-copy.ts";
import type {
  ErasureCallbacks,
  OpenOptions,
  Row,
  SqlDatabase,
  Statement,
  TransactionScript,
} from "./sql-database.ts";

const MAX_CONNECTIONS = 4;
/** Account queries are small: a database that needs longer than this counts as unavailable. */
const CONNECT_TIMEOUT_MS = 2_000;
const QUERY_TIMEOUT_MS = 4_000;
/** A migration may rewrite large tables, and other replicas wait for it. */
const MIGRATION_TIMEOUT_MS = 600_000;
/** Arbitrary key of the advisory lock, unlikely to be used by other applications. */
const MIGRATION_LOCK = 8_647_424_301;

/**
 * Opens a PostgreSQL database, which replicas may share, and migrates its schema. Missing tables are created, unless
 * they must exist. Throws if the database cannot be reached.
 */
export async function openPostgresDatabase(
  url: string,
  { mustExist = false, ...callbacks }: OpenOptions = {},
): Promise<SqlDatabase> {
  const migration = openPool(url, MIGRATION_TIMEOUT_MS);
  try {
    await migration.runTransaction(migrateUnderLock(mustExist));
  } catch (error) {
    if (error instanceof DatabaseError) throw error;
    const { message } = error as Error;
    throw new Error(`The account database ${withoutSecrets(url)} cannot be opened (${message})`, {
      cause: error,
    });
  } finally {
    await migration.close();
  }
  return openPool(url, QUERY_TIMEOUT_MS, callbacks);
}

function* migrateUnderLock(mustExist: boolean): TransactionScript<void> {
  yield { sql: "select pg_advisory_xact_lock($1)", values: [MIGRATION_LOCK] };
  // A statement that waits for a table lock blocks all queries after it. Give up before running replicas fail.
  yield { sql: `set local lock_timeout = ${QUERY_TIMEOUT_MS}` };
  if (mustExist) {
    const [schema] = yield { sql: "select to_regclass('schema_version') as name" };
    if (schema!.name === null) throw new MissingDatabaseError();
  }
  yield* migrate();
}

function openPool(url: string, timeoutMs: number, callbacks: ErasureCallbacks = {}): SqlDatabase {
  const pool = new Pool({
    connectionString: withStandardSslModes(url),
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: timeoutMs,
    statement_timeout: timeoutMs,
    application_name: "visage",
    keepAlive: true,
  });
  // An unhandled error event would end the process. A broken connection fails its pending query, and the pool replaces
  // it.
  pool.on("error", ignore);
  pool.on("connect", (client) => client.on("error", ignore));

  const query = (statement: Statement) => withClient(pool, (client) => runStatement(client, statement));
  const runTransaction = async <T>(script: TransactionScript<T>) =>
    (await withClient(pool, (client) => runScript(client, script)))();
  const erasure = new Erasure({ query, runTransaction }, async () => {}, callbacks);

  return {
    query,
    queryBytes: (statement) => withClient(pool, (client) => copyRows(client, statement)),
    runTransaction,
    rowLockClause: "for key share",
    exclusiveRowLockClause: "for update",
    decodeHex: (expression) => `decode(${expression}, 'hex')`,
    parseTimestamp: (expression) => `cast(${expression} as timestamptz)`,
    concatBytes: (expression) => `string_agg(${expression}, ''::bytea)`,
    startErasure: (deletion) => erasure.start(deletion),
    waitForErasure: (maxMs) => erasure.wait(maxMs),
    get isErasureDelayed() {
      return erasure.isDelayed;
    },
    close: async () => {
      await erasure.close();
      await pool.end();
    },
  };
}

/** Gives `sslmode` the meaning that it has in libpq. The driver alone treats every mode but `disable` as verify-full. */
function withStandardSslModes(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.set("uselibpqcompat", "true");
  return url.href;
}

/**
 * Runs a transaction. Returns a function that returns its value, or throws what the script has thrown: such a transaction
 * is rolled back, and its connection can be used again.
 */
async function runScript<T>(client: PoolClient, script: TransactionScript<T>): Promise<() => T> {
  await client.query("begin");
  let rows: Row[] = [];
  for (;;) {
    let step: IteratorResult<Statement, T>;
    try {
      step = script.next(rows);
    } catch (error) {
      await client.query("rollback");
      return () => {
        throw error;
      };
    }
    if (step.done) {
      await client.query("commit");
      const { value } = step;
      return () => value;
    }
    rows = await runStatement(client, step.value);
  }
}

async function runStatement(client: PoolClient, { sql, values = [] }: Statement): Promise<Row[]> {
  const { rows } = await client.query<Row>(sql, [...values]);
  return rows;
}

/** Runs work on a pooled connection. If the work throws, closing the connection aborts its transaction. */
async function withClient<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect().catch((error) => {
    // Node tries every address of a host name and wraps the errors.
    throw error instanceof AggregateError ? error.errors[0] : error;
  });
  let isBroken = true;
  try {
    const result = await work(client);
    isBroken = false;
    return result;
  } finally {
    client.release(isBroken);
  }
}

function ignore(): void {}
