import type { Row, TransactionScript } from "../database/sql-database.ts";
import { AccountError, type Plan, type PlanRules } from "./account-store.ts";

/** See AccountStore.addPlan. */
export function* insertPlan({ name, ...limits }: Plan): TransactionScript<void> {
  const [added] = yield {
    sql: "insert into plans (name, limits) values ($1, $2) on conflict do nothing returning name",
    values: [name, JSON.stringify(limits)],
  };
  if (!added) throw new AccountError(`The plan "${name}" already exists`, "planExists");
}

/** See AccountStore.updatePlan. */
export function* updatePlan(
  name: string,
  changes: PlanRules,
  exclusiveRowLockClause: string,
): TransactionScript<Plan> {
  const { name: _, ...limits } = planFromRow(yield* requirePlan(name, exclusiveRowLockClause));
  const values = [name, JSON.stringify({ ...limits, ...changes })];
  const [row] = yield { sql: "update plans set limits = $2 where name = $1 returning *", values };
  return planFromRow(row!);
}

/** See AccountStore.removePlan. */
export function* deletePlan(name: string, exclusiveRowLockClause: string): TransactionScript<void> {
  // The lock keeps others from adding a user between the count and the deletion.
  yield* requirePlan(name, exclusiveRowLockClause);
  const [row] = yield { sql: "select count(*) as count from users where plan = $1", values: [name] };
  const count = Number(row!.count);
  if (count > 0)
    throw new AccountError(
      `The plan "${name}" still has ${count === 1 ? "1 user" : `${count} users`}`,
      "planInUse",
    );
  yield { sql: "delete from plans where name = $1", values: [name] };
}

/** Returns the row of a plan. Throws AccountError if it does not exist. The lock keeps it until the transaction ends. */
export function* requirePlan(name: string, lockClause: string): TransactionScript<Row> {
  const [plan] = yield { sql: `select * from plans where name = $1 ${lockClause}`, values: [name] };
  if (!plan) throw new AccountError(`The plan "${name}" does not exist`, "planNotFound");
  return plan;
}

/** Converts a row of the table `plans`, whose column `limits` has the limits as JSON. */
export function planFromRow(row: Row): Plan {
  const limits = JSON.parse(String(row.limits)) as Omit<Plan, "name">;
  return { name: String(row.name), ...limits };
}
