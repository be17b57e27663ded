import { AccountError } from "./account-store.ts";
import type { TransactionScript } from "./sql-database.ts";

/**
 * The schema migrations in order. The version of a schema is the number of migrations applied to it. Released
 * migrations never change. Every statement runs on both databases: SQLite accepts the type names of PostgreSQL, and
 * stores timestamps as text and booleans as numbers.
 */
const MIGRATIONS: readonly (readonly string[])[] = [
  [
    `create table plans (
      name text not null primary key,
      requests_per_second double precision,
      burst bigint not null,
      requests_per_month bigint,
      max_image_bytes bigint
    )`,
    `insert into plans (name, requests_per_second, burst, requests_per_month) values
      ('trial', 2, 10, 1000),
      ('basic', 10, 20, 50000),
      ('pro', 50, 100, 1000000),
      ('unlimited', null, 1, null)`,
    `create table users (
      id_hash text not null primary key,
      name text not null unique,
      plan text not null references plans (name),
      starts_at timestamptz not null,
      ends_at timestamptz,
      enabled boolean not null
    )`,
    `create table usage (
      id_hash text not null references users (id_hash) on delete cascade,
      month text not null,
      operation text not null,
      outcome text not null,
      count bigint not null,
      primary key (id_hash, month, operation, outcome)
    )`,
    `create table usage_batches (
      id text not null primary key,
      added_at timestamptz not null
    )`,
    "create index usage_batches_by_age on usage_batches (added_at)",
  ],
];

/**
 * Applies the missing migrations. The caller must hold a lock: only one migration may run at a time. Throws AccountError
 * if a newer version of Visage has migrated the database.
 */
export function* migrate(): TransactionScript<void> {
  yield { sql: "create table if not exists schema_version (version integer not null)" };
  const [row] = yield { sql: "select version from schema_version" };
  const version = row ? Number(row.version) : 0;
  if (version > MIGRATIONS.length)
    throw new AccountError(
      `The account database has schema version ${version}, but this version of Visage supports up to ${MIGRATIONS.length}. Use a newer version of Visage`,
    );
  if (version === MIGRATIONS.length) return;
  for (const sql of MIGRATIONS.slice(version).flat()) yield { sql };
  yield { sql: "delete from schema_version" };
  yield { sql: "insert into schema_version (version) values ($1)", values: [MIGRATIONS.length] };
}
