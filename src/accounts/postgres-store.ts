import { Pool, type PoolClient } from "pg";
import type { AccountStore } from "./account-store.ts";
import { migrate } from "./migrations.ts";
import type { Row, Script, SqlDatabase, Statement } from "./sql-database.ts";
import { createSqlStore } from "./sql-store.ts";

const MOST_CONNECTIONS = 4;
/** Accounts are small: a database that needs longer than this is as good as away. */
const CONNECT_TIMEOUT_MS = 2_000;
const QUERY_TIMEOUT_MS = 4_000;
/** Any number that other users of the database are unlikely to lock. */
const MIGRATION_LOCK = 8_647_424_301;

/** Opens the accounts in a PostgreSQL database, which replicas may share. Throws when it does not answer. */
export async function openPostgresStore(url: string): Promise<AccountStore> {
  const database = openDatabase(url);
  try {
    await database.transact(migrateAlone());
  } catch (fault) {
    await database.close();
    throw fault;
  }
  return createSqlStore(database);
}

function* migrateAlone(): Script<void> {
  yield { sql: "select pg_advisory_xact_lock($1)", values: [MIGRATION_LOCK] };
  yield* migrate();
}

function openDatabase(url: string): SqlDatabase {
  const pool = new Pool({
    connectionString: url,
    max: MOST_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    statement_timeout: QUERY_TIMEOUT_MS,
    application_name: "visage",
    keepAlive: true,
  });
  // A connection that breaks fails the query that waits on it, or is not there for the next. Unheard, the event
  // would end the process.
  pool.on("error", ignore);
  pool.on("connect", (client) => client.on("error", ignore));

  return {
    query: (statement) => withClient(pool, (client) => run(client, statement)),
    transact: <T>(script: Script<T>) =>
      withClient(pool, async (client) => {
        await client.query("begin");
        let step = script.next();
        while (!step.done) step = script.next(await run(client, step.value));
        await client.query("commit");
        return step.value;
      }),
    keepRows: "for key share",
    close: () => pool.end(),
  };
}

async function run(client: PoolClient, { sql, values = [] }: Statement): Promise<Row[]> {
  const { rows } = await client.query<Row>(sql, [...values]);
  return rows;
}

/** Lends a connection. One that fails is closed, which ends its transaction even where no answer comes. */
async function withClient<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect().catch((fault) => {
    // Node tries each address of a name, and says what went wrong only inside.
    throw fault instanceof AggregateError ? fault.errors[0] : fault;
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
