import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { deleteHiddenGalleries, hideGalleries } from "../database/delete-galleries.ts";
import { DELETION_BATCH } from "../database/delete-in-batches.ts";
import {
  dateFromColumn,
  optionalDateFromColumn,
  type Row,
  type SqlDatabase,
  type Statement,
  type TransactionScript,
} from "../database/sql-database.ts";
import {
  AccountError,
  type User,
  type UserChange,
  type UserSearch,
  type UserWithUsage,
} from "./account-store.ts";
import { FINGERPRINT_LENGTH, fingerprintOf } from "./key.ts";
import { insertKey } from "./sql-keys.ts";
import { requirePlan } from "./sql-plans.ts";

const FIRST_KEY_NAME = "first key";

/** See AccountStore.addUser. */
export function* insertUser(user: User, keyHash: string, rowLockClause: string): TransactionScript<void> {
  const { id, name, plan, startsAt, endsAt, enabled, certificateSubject = null } = user;
  yield* requirePlan(plan, rowLockClause);
  yield* requireFreeSubject(certificateSubject, id);
  const [added] = yield {
    sql: `insert into users (id, name, plan, starts_at, ends_at, enabled, certificate_subject)
      values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing returning id`,
    values: [
      id,
      name,
      plan,
      startsAt.toISOString(),
      endsAt?.toISOString() ?? null,
      Number(enabled),
      certificateSubject,
    ],
  };
  if (!added) throw new AccountError(`A user named "${name}" already exists`, "userExists");
  yield* insertKey(id, { hash: keyHash, name: FIRST_KEY_NAME, expiresAt: undefined });
}

/** See AccountStore.updateUser. */
export function* updateUser(
  userId: string,
  change: UserChange,
  { rowLockClause, exclusiveRowLockClause }: Pick<SqlDatabase, "rowLockClause" | "exclusiveRowLockClause">,
): TransactionScript<User> {
  const [stored] = yield {
    sql: `select * from users where id = $1 ${exclusiveRowLockClause}`,
    values: [userId],
  };
  if (!stored) throw new AccountError("The user does not exist", "userNotFound");
  const changes = change(userFromRow(stored));
  const { plan, startsAt, endsAt, enabled, certificateSubject } = changes;
  if (plan !== undefined) yield* requirePlan(plan, rowLockClause);
  yield* requireFreeSubject(certificateSubject ?? null, userId);
  const [row] = yield {
    sql: `update users set plan = coalesce($2, plan), starts_at = coalesce($3, starts_at),
        ends_at = case when $4 then $5 else ends_at end, enabled = coalesce($6, enabled),
        certificate_subject = case when $7 then $8 else certificate_subject end
      where id = $1 returning *`,
    values: [
      userId,
      plan ?? null,
      startsAt?.toISOString() ?? null,
      Number("endsAt" in changes),
      endsAt?.toISOString() ?? null,
      enabled === undefined ? null : Number(enabled),
      Number("certificateSubject" in changes),
      certificateSubject ?? null,
    ],
  };
  return userFromRow(row!);
}

/**
 * Deletes a user with everything that it has. Galleries and usage are deleted first, in transactions of their own.
 * Returns whether there was anything to erase.
 */
export async function deleteUser(database: SqlDatabase, userId: string): Promise<boolean> {
  const [gallery] = await database.query(findGallery(userId));
  await hideGalleries(database, userId);
  await deleteHiddenGalleries(database, userId);
  const deleteUsage = () =>
    database.runTransaction(deleteUsageBatch(userId, database.exclusiveRowLockClause));
  while ((await deleteUsage()) === DELETION_BATCH);
  const hadMore = await database.runTransaction(deleteUserRow(userId));
  return gallery !== undefined || hadMore;
}

/** Deletes a part of the usage of a user. Returns the number of deleted rows. */
function* deleteUsageBatch(userId: string, exclusiveRowLockClause: string): TransactionScript<number> {
  // Batches of counts lock the user before they lock its usage.
  yield { sql: `select id from users where id = $1 ${exclusiveRowLockClause}`, values: [userId] };
  const deleted = yield {
    sql: `delete from usage where (user_id, day, key, operation, outcome) in
      (select user_id, day, key, operation, outcome from usage where user_id = $1 limit ${DELETION_BATCH})
      returning 1 as one`,
    values: [userId],
  };
  return deleted.length;
}

/** Deletes a user with its data key, and galleries that were created meanwhile. Returns whether there were any. */
function* deleteUserRow(userId: string): TransactionScript<boolean> {
  const [gallery] = yield findGallery(userId);
  const [dataKey] = yield {
    sql: "delete from data_keys where user_id = $1 returning 1 as one",
    values: [userId],
  };
  yield { sql: "delete from users where id = $1", values: [userId] };
  return gallery !== undefined || dataKey !== undefined;
}

function findGallery(userId: string): Statement {
  return { sql: "select key from galleries where user_id = $1 limit 1", values: [userId] };
}

/** Users whose name contains $1, or whose fingerprint or plan equals $2. $1 is a pattern of LIKE. */
const SEARCH = `(lower(name) like $1 escape '!' or $2 in (substr(id, 1, ${FINGERPRINT_LENGTH}), lower(plan)))`;

/** Users that a search reads at once. SQLite does that on the event loop: 100,000 block it for 0.2 s. */
const USERS_AT_ONCE = 10_000;

/** See AccountStore.searchUsers. */
export async function searchUsers(
  database: Pick<SqlDatabase, "query">,
  { query, after, size, month }: UserSearch,
): Promise<{ readonly users: UserWithUsage[]; readonly total: number }> {
  const pattern = searchValues(query);
  const users: UserWithUsage[] = [];
  let total = 0;
  for (let from = "", isLast = false; !isLast; ) {
    const [end] = await database.query({
      sql: `select name from users where name > $1 order by name limit 1 offset ${USERS_AT_ONCE}`,
      values: [from],
    });
    const last = end ? [String(end.name)] : [];
    const [count] = await database.query({
      sql: `select count(*) as count from users where ${SEARCH} and name > $3 ${end ? "and name <= $4" : ""}`,
      values: [...pattern, from, ...last],
    });
    total += Number(count!.count);
    const rows = await database.query({
      sql: `select users.*,
          (select count from monthly_successes where user_id = users.id and month = $3) as used
        from users where ${SEARCH} and name > $4 and name > $5 ${end ? "and name <= $7" : ""}
        order by name limit $6`,
      values: [...pattern, month, from, after, size - users.length, ...last],
    });
    users.push(...rows.map(userWithUsageFromRow));
    from = String(end?.name);
    isLast = end === undefined;
    await yieldToEventLoop();
  }
  return { users, total };
}

function searchValues(query: string): [string, string] {
  // SQLite converts only ASCII letters to lower case.
  const lower = query.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  return [`%${lower.replaceAll(/[!%_]/g, "!$&")}%`, lower];
}

function userWithUsageFromRow(row: Row): UserWithUsage {
  return { user: userFromRow(row), usedThisMonth: Number(row.used) };
}

/** Throws AccountError if another user has the subject. */
function* requireFreeSubject(subject: string | null, userId: string): TransactionScript<void> {
  const [other] = yield {
    sql: "select name from users where certificate_subject = $1 and id <> $2",
    values: [subject, userId],
  };
  if (other)
    throw new AccountError(
      `The certificate subject "${subject}" belongs to the user "${other.name}"`,
      "certificateTaken",
    );
}

/** Converts a row of the table `users`. */
export function userFromRow(row: Row): User {
  const id = String(row.id);
  return {
    id,
    fingerprint: fingerprintOf(id),
    name: String(row.name),
    plan: String(row.plan),
    startsAt: dateFromColumn(row.starts_at),
    endsAt: optionalDateFromColumn(row.ends_at),
    enabled: Boolean(row.enabled),
    certificateSubject: row.certificate_subject === null ? undefined : String(row.certificate_subject),
  };
}
