import { DatabaseError } from "./database-error.ts";
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
  // The column id_hash of users and usage now holds the id of a user. The id of an older user is the hash of its only
  // key. The column keeps its name, so that replicas of the previous version work during a rolling update.
  [
    `create table keys (
      hash text not null primary key,
      user_id text not null references users (id_hash) on delete cascade,
      created_at timestamptz not null,
      expires_at timestamptz,
      last_used_at timestamptz
    )`,
    "create index keys_by_user on keys (user_id)",
    "insert into keys (hash, user_id, created_at) select id_hash, id_hash, starts_at from users",
    // Last, because from here on PostgreSQL blocks the queries of running replicas until the migration ends.
    "alter table users add column certificate_subject text",
    `create unique index users_by_certificate_subject on users (certificate_subject)
      where certificate_subject is not null`,
  ],
  // A gallery without an id is being deleted: its rows are removed in small transactions.
  [
    `create table galleries (
      key text not null primary key,
      user_id text not null references users (id_hash) on delete cascade,
      id text,
      display_name text not null,
      model text not null,
      max_distance double precision,
      people bigint not null,
      faces bigint not null,
      revision bigint not null,
      created_at timestamptz not null,
      unique (user_id, id)
    )`,
    `create table gallery_people (
      gallery_key text not null references galleries (key) on delete cascade,
      id text not null,
      display_name text not null,
      created_at timestamptz not null,
      primary key (gallery_key, id)
    )`,
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
      person_id text not null,
      face_id text,
      primary key (gallery_key, revision)
    )`,
    "alter table plans add column max_galleries bigint",
    "alter table plans add column max_gallery_faces bigint",
    `update plans set max_galleries = 3, max_gallery_faces = 1000 where name = 'trial'`,
    `update plans set max_galleries = 20, max_gallery_faces = 10000 where name = 'basic'`,
    `update plans set max_galleries = 200, max_gallery_faces = 1000000 where name = 'pro'`,
  ],
  // Every change of a gallery draws a random token, so that a revision that is used again after a restore is noticed.
  // The default is for galleries of older versions, and of their replicas during a rolling update.
  [
    `create table gallery_revisions (
      gallery_key text not null references galleries (key) on delete cascade,
      revision bigint not null,
      token text not null,
      primary key (gallery_key, revision)
    )`,
    "alter table galleries add column token text not null default ''",
  ],
  ["alter table galleries add column last_searched_at timestamptz"],
];

/**
 * Applies the missing migrations. The caller must hold a lock: only one migration may run at a time. Throws DatabaseError
 * if a newer version of Visage has migrated the database.
 */
export function* migrate(): TransactionScript<void> {
  yield { sql: "create table if not exists schema_version (version integer not null)" };
  const [row] = yield { sql: "select version from schema_version" };
  const version = row ? Number(row.version) : 0;
  if (version > MIGRATIONS.length)
    throw new DatabaseError(
      `The account database has schema version ${version}, but this version of Visage supports up to ${MIGRATIONS.length}. Use a newer version of Visage`,
    );
  if (version === MIGRATIONS.length) return;
  for (const sql of MIGRATIONS.slice(version).flat()) yield { sql };
  yield { sql: "delete from schema_version" };
  yield { sql: "insert into schema_version (version) values ($1)", values: [MIGRATIONS.length] };
}
