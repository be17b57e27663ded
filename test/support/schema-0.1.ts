/** The account database of version 0.1 with two users, as statements for both databases. */
export const STATEMENTS_0_1: readonly string[] = [
  "create table schema_version (version integer not null)",
  "insert into schema_version (version) values (1)",
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
  // The hashes of the ids "id-of-ann" and "id-of-bob".
  `insert into users (id_hash, name, plan, starts_at, ends_at, enabled) values
    ('adfd97959e0523e203f3d69dd0c63f85a8679ad55f12ed58819a21185e896ab9', 'ann', 'basic', '2026-01-02T03:04:05.678Z', null, true),
    ('035e6f9f8233cb275010d1237ed578821541ad0027c7732ab5d14fca58627cdc', 'bob', 'pro', '2026-01-02T03:04:05.678Z', '2027-01-01T00:00:00.000Z', false)`,
  `insert into usage (id_hash, month, operation, outcome, count) values
    ('adfd97959e0523e203f3d69dd0c63f85a8679ad55f12ed58819a21185e896ab9', '2026-03', 'match_faces', 'ok', 40),
    ('adfd97959e0523e203f3d69dd0c63f85a8679ad55f12ed58819a21185e896ab9', '2026-03', 'get_face_vec', 'ok', 2),
    ('adfd97959e0523e203f3d69dd0c63f85a8679ad55f12ed58819a21185e896ab9', '2026-02', 'match_faces', 'NO_FACE', 5)`,
];

/** The statement by which version 0.1 reads an account. */
export function readAccountIn01(idHash: string): string {
  return `select users.*, requests_per_second, burst, requests_per_month, max_image_bytes,
      (select sum(count) from usage where id_hash = '${idHash}' and month = '2026-03' and outcome = 'ok') as used
    from users join plans on plans.name = users.plan where id_hash = '${idHash}'`;
}

/** The statement by which version 0.1 counts three more requests. */
export function addUsageIn01(idHash: string): string {
  return `with counts as (
      select value ->> 'idHash' as id_hash, value ->> 'month' as month, value ->> 'operation' as operation,
        value ->> 'outcome' as outcome, cast(value ->> 'count' as bigint) as count
      from json_each('{"0":{"idHash":"${idHash}","month":"2026-03","operation":"match_faces","outcome":"ok","count":3}}')
    ), known as (
      select id_hash from users where id_hash in (select id_hash from counts) order by id_hash
    )
    insert into usage (id_hash, month, operation, outcome, count)
    select id_hash, month, operation, outcome, sum(count) from counts join known using (id_hash)
    group by id_hash, month, operation, outcome order by id_hash, month, operation, outcome
    on conflict (id_hash, month, operation, outcome) do update set count = usage.count + excluded.count`;
}
