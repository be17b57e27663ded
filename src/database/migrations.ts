import { INITIAL_PLANS, initialLimits } from "../plan-limits.ts";
import { DatabaseError } from "./database-error.ts";
import type { TransactionScript } from "./sql-database.ts";

/**
 * The schema migrations in order. The version of a schema is the number of migrations applied to it. Released
 * migrations never change. Every statement runs on both databases: SQLite accepts the type names of PostgreSQL, and
 * stores timestamps as text and booleans as numbers.
 */
const MIGRATIONS: readonly (readonly string[])[] = [
  [
    // The limits are JSON, so that a new limit needs no migration.
    `create table plans (
      name text not null primary key,
      limits text not null
    )`,
    ...INITIAL_PLANS.map(
      (plan) =>
        `insert into plans (name, limits) values ('${plan}', '${JSON.stringify(initialLimits(plan))}')`,
    ),
    `create table users (
      id text not null primary key,
      name text not null unique,
      plan text not null references plans (name),
      starts_at timestamptz not null,
      ends_at timestamptz,
      enabled boolean not null,
      certificate_subject text unique
    )`,
    // Scopes and galleries are lists in JSON; null for all.
    `create table keys (
      hash text not null primary key,
      user_id text not null references users (id) on delete cascade,
      name text not null,
      scopes text,
      gallery_ids text,
      created_at timestamptz not null,
      expires_at timestamptz,
      last_used_at timestamptz
    )`,
    "create index keys_by_user on keys (user_id)",
    // The key that encrypts the templates of a user, encrypted by the master key with the fingerprint `master`.
    `create table data_keys (
      user_id text not null primary key references users (id) on delete cascade,
      master text not null,
      wrapped bytea not null
    )`,
    `create table usage (
      user_id text not null references users (id) on delete cascade,
      day text not null,
      key text not null,
      operation text not null,
      outcome text not null,
      count bigint not null,
      primary key (user_id, day, key, operation, outcome)
    )`,
    "create index usage_by_day on usage (day, user_id)",
    // The sums of the successes in usage, because the quota is read before requests are served.
    `create table monthly_successes (
      user_id text not null references users (id) on delete cascade,
      month text not null,
      count bigint not null,
      primary key (user_id, month)
    )`,
    `create table usage_batches (
      id text not null primary key,
      added_at timestamptz not null
    )`,
    "create index usage_batches_by_age on usage_batches (added_at)",
    // A gallery without an id is being deleted: its rows are removed in small transactions.
    `create table galleries (
      key text not null primary key,
      user_id text not null references users (id) on delete cascade,
      id text,
      alias text,
      display_name text not null,
      model text not null,
      max_distance double precision,
      people bigint not null,
      faces bigint not null,
      revision bigint not null,
      token text not null,
      created_at timestamptz not null,
      expires_at timestamptz,
      last_searched_at timestamptz,
      unique (user_id, id),
      unique (user_id, alias)
    )`,
    // Every change of a gallery draws a random token, so that a revision that is used again after a restore is noticed.
    `create table gallery_revisions (
      gallery_key text not null references galleries (key) on delete cascade,
      revision bigint not null,
      token text not null,
      primary key (gallery_key, revision)
    )`,
    `create table gallery_people (
      gallery_key text not null references galleries (key) on delete cascade,
      id text not null,
      display_name text not null,
      created_at timestamptz not null,
      expires_at timestamptz,
      primary key (gallery_key, id)
    )`,
    // One to find out before every access to a gallery whether somebody in it has expired, one to find the next of all.
    "create index gallery_people_by_expiry on gallery_people (gallery_key, expires_at) where expires_at is not null",
    "create index expiring_people on gallery_people (expires_at) where expires_at is not null",
    "create index expiring_galleries on galleries (expires_at) where expires_at is not null",
    `create table gallery_faces (
      gallery_key text not null,
      person_id text not null,
      id text not null,
      template bytea not null,
      revision bigint not null,
      created_at timestamptz not null,
      primary key (gallery_key, person_id, id),
      foreign key (gallery_key, person_id) references gallery_people (gallery_key, id) on delete cascade
    )`,
    "create index gallery_faces_by_revision on gallery_faces (gallery_key, revision)",
    `create table gallery_removals (
      gallery_key text not null references galleries (key) on delete cascade,
      revision bigint not null,
      mark text not null,
      primary key (gallery_key, revision)
    )`,
    // Without a foreign key: a row stays until the search engine has nothing of the gallery. `held_until` is in
    // milliseconds since 1970.
    `create table engine_galleries (
      gallery_key text not null primary key,
      model text not null,
      revision bigint not null,
      token text not null,
      holder text not null,
      held_until bigint not null
    )`,
  ],
];

/** The version of the current schema. */
const SCHEMA_VERSION = MIGRATIONS.length;

/**
 * Applies the missing migrations. The caller must hold a lock: only one migration may run at a time. Throws DatabaseError
 * if a newer version of Visage has migrated the database.
 */
export function* migrate(): TransactionScript<void> {
  yield { sql: "create table if not exists schema_version (version integer not null)" };
  const [row] = yield { sql: "select version from schema_version" };
  const version = row ? Number(row.version) : 0;
  if (version > SCHEMA_VERSION)
    throw new DatabaseError(
      `The account database has schema version ${version}, but this version of Visage supports up to ${SCHEMA_VERSION}. Use a newer version of Visage`,
    );
  if (version === SCHEMA_VERSION) return;
  for (const sql of MIGRATIONS.slice(version).flat()) yield { sql };
  yield { sql: "delete from schema_version" };
  yield { sql: "insert into schema_version (version) values ($1)", values: [SCHEMA_VERSION] };
}
