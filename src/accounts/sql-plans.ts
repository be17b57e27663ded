import type { Row, TransactionScript } from "../database/sql-database.ts";
import { AccountError, type Plan, type PlanChanges } from "./account-store.ts";
import { isPlanRate, nearestPlanRate, PLAN_RATES } from "./plan.ts";

/** Adds a plan, or replaces the plan of the same name. */
export function* upsertPlan({ name, burst, ...limits }: Plan): TransactionScript<void> {
  const { requestsPerSecond = null, requestsPerMonth = null, maxImageBytes = null } = limits;
  const { maxGalleries = null, maxGalleryFaces = null } = limits;
  if (requestsPerSecond !== null && !isPlanRate(requestsPerSecond))
    throw new AccountError(`The requests per second of a plan must be at least ${PLAN_RATES.min}`);
  yield {
    sql: `insert into plans (name, requests_per_second, burst, requests_per_month, max_image_bytes, max_galleries,
        max_gallery_faces)
      values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (name) do update set requests_per_second = excluded.requests_per_second,
        burst = excluded.burst, requests_per_month = excluded.requests_per_month,
        max_image_bytes = excluded.max_image_bytes, max_galleries = excluded.max_galleries,
        max_gallery_faces = excluded.max_gallery_faces`,
    values: [name, requestsPerSecond, burst, requestsPerMonth, maxImageBytes, maxGalleries, maxGalleryFaces],
  };
}

/** See AccountStore.addPlan. */
export function* insertPlan(plan: Plan): TransactionScript<void> {
  const [added] = yield {
    sql: "insert into plans (name, burst) values ($1, $2) on conflict do nothing returning name",
    values: [plan.name, plan.burst],
  };
  if (!added) throw new AccountError(`The plan "${plan.name}" already exists`, "planExists");
  yield* upsertPlan(plan);
}

/** See AccountStore.updatePlan. */
export function* updatePlan(
  name: string,
  changes: PlanChanges,
  exclusiveRowLockClause: string,
): TransactionScript<Plan> {
  yield* requirePlan(name, exclusiveRowLockClause);
  const [row] = yield { sql: "select * from plans where name = $1", values: [name] };
  const plan = { ...planFromRow(row!), ...changes };
  yield* upsertPlan(plan);
  return plan;
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

/** Throws AccountError unless the plan exists. The lock keeps it until the transaction ends. */
export function* requirePlan(name: string, lockClause: string): TransactionScript<void> {
  const [plan] = yield { sql: `select name from plans where name = $1 ${lockClause}`, values: [name] };
  if (!plan) throw new AccountError(`The plan "${name}" does not exist`, "planNotFound");
}

/** Converts a row of the table `plans`. */
export function planFromRow(row: Row): Plan {
  const requestsPerSecond = limitFromColumn(row.requests_per_second);
  return {
    name: String(row.name),
    requestsPerSecond: requestsPerSecond === undefined ? undefined : nearestPlanRate(requestsPerSecond),
    burst: Number(row.burst),
    requestsPerMonth: limitFromColumn(row.requests_per_month),
    maxImageBytes: limitFromColumn(row.max_image_bytes),
    maxGalleries: limitFromColumn(row.max_galleries),
    maxGalleryFaces: limitFromColumn(row.max_gallery_faces),
  };
}

/** The PostgreSQL driver returns bigint values as text. */
function limitFromColumn(value: unknown): number | undefined {
  return value === null ? undefined : Number(value);
}
