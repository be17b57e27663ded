import { optionalDateFromColumn, type SqlDatabase } from "../database/sql-database.ts";
import type { AccountStore, UserSelector } from "./account-store.ts";
import { FINGERPRINT_LENGTH } from "./key.ts";
import { addKey, deleteKey, keyFromRow, rightsFromRow, selectKeys } from "./sql-keys.ts";
import { deletePlan, insertPlan, planFromRow, updatePlan } from "./sql-plans.ts";
import { insertUsage, sumUsage, usageFromRow } from "./sql-usage.ts";
import { deleteUser, insertUser, searchUsers, updateUser, userFromRow } from "./sql-users.ts";

/** Creates an account store on a database whose schema is up to date. */
export function createSqlStore(database: SqlDatabase): AccountStore {
  return {
    async findAccount(selector, month) {
      const { sql, value } = accountQueryFrom(selector);
      const [row] = await database.query({ sql, values: [value, month] });
      if (!row) return undefined;
      const keyExpiresAt = optionalDateFromColumn(row.expires_at);
      // An expired key is unknown.
      if (keyExpiresAt && keyExpiresAt.getTime() <= Date.now()) return undefined;
      const user = userFromRow(row);
      const plan = planFromRow({ ...row, name: user.plan });
      const keyNames = row.key_name ? [String(row.key_name)] : [];
      const rights = rightsFromRow(row);
      return { user, plan, usedThisMonth: Number(row.used), keyExpiresAt, keyNames, rights };
    },

    addUsage: (batchId, counts, keyUses = []) =>
      database.runTransaction(insertUsage(batchId, counts, keyUses, database)),

    async listUsage({ userId = null } = {}) {
      const rows = await database.query({
        sql: `select * from usage where user_id = coalesce($1, user_id)
          order by user_id, day, key, operation, outcome`,
        values: [userId],
      });
      return rows.map(usageFromRow);
    },

    sumUsage: (selection) => sumUsage(database, selection),

    async listUsers() {
      const rows = await database.query({ sql: "select * from users order by name" });
      return rows.map(userFromRow);
    },

    searchUsers: (search) => searchUsers(database, search),

    async findUsers(text) {
      const rows = await database.query({
        // Each part uses an index. `g` comes after every hexadecimal digit.
        sql: `select * from users where id in (select id from users where id = $1
            union select id from users where name = $1
            union select user_id from keys where hash = $1
            union select id from users where id >= $1 and id < $1 || 'g'
              and substr(id, 1, ${FINGERPRINT_LENGTH}) = $1)
          order by name`,
        values: [text],
      });
      return rows.map(userFromRow);
    },

    addUser: (user, keyHash) => database.runTransaction(insertUser(user, keyHash, database.rowLockClause)),

    updateUser: (userId, changes) =>
      database.runTransaction(
        updateUser(userId, typeof changes === "function" ? changes : () => changes, database),
      ),

    async removeUser(userId) {
      if (await deleteUser(database, userId)) database.startErasure("rows");
    },

    waitForErasure: (maxMs) => database.waitForErasure(maxMs),

    async listKeys(userId) {
      return (await database.query(selectKeys(userId))).map(keyFromRow);
    },

    addKey: (userId, key, addition = {}) =>
      database.runTransaction(addKey(userId, key, addition, database.exclusiveRowLockClause)),

    removeKey: (keyHash, requiredHashes = []) =>
      database.runTransaction(deleteKey(keyHash, requiredHashes, database.exclusiveRowLockClause)),

    async listPlans() {
      const rows = await database.query({ sql: "select * from plans order by name" });
      return rows.map(planFromRow);
    },

    async countUsersByPlan() {
      const rows = await database.query({ sql: "select plan, count(*) as count from users group by plan" });
      return new Map(rows.map((row) => [String(row.plan), Number(row.count)]));
    },

    addPlan: (plan) => database.runTransaction(insertPlan(plan)),

    updatePlan: (name, changes) =>
      database.runTransaction(updatePlan(name, changes, database.exclusiveRowLockClause)),

    removePlan: (name) => database.runTransaction(deletePlan(name, database.exclusiveRowLockClause)),

    close: () => database.close(),
  };
}

/** The query of an account: $1 is the value and $2 the month. */
function accountQueryFrom(selector: UserSelector): { sql: string; value: string } {
  if ("keyHash" in selector) {
    const tables = "keys join users on users.id = keys.user_id";
    return {
      sql: accountSql(
        "keys.expires_at, keys.scopes, keys.gallery_ids, keys.name as key_name",
        tables,
        "keys.hash",
      ),
      value: selector.keyHash,
    };
  }
  if ("certificateSubject" in selector)
    return { sql: accountSql(NO_KEY, "users", "certificate_subject"), value: selector.certificateSubject };
  return { sql: accountSql(NO_KEY, "users", "users.id"), value: selector.userId };
}

const NO_KEY = "null as expires_at, null as scopes, null as gallery_ids, null as key_name";

function accountSql(keyColumns: string, tables: string, column: string): string {
  return `select users.*, plans.limits, ${keyColumns},
      (select count from monthly_successes where user_id = users.id and month = $2) as used
    from ${tables} join plans on plans.name = users.plan where ${column} = $1`;
}
