// Checks of requests about accounts, and conversion of what is stored to messages.
import { fromJson, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type KeySchema,
  type Plan as PlanMessage,
  PlanSchema,
  type SubscriptionSchema,
  SubscriptionState,
  type UsageCountSchema,
} from "../../gen/ts/visage/v1/account_pb.ts";
import { AccountError, type Key, type Plan, type UsageSum, type User } from "../accounts/account-store.ts";
import { currentMonth, isMonth } from "../accounts/month-clock.ts";
import { GRACE_DAYS, isLive } from "../accounts/user-keys.ts";
import { subscriptionState } from "../accounts/users.ts";
import { LIMIT_NAMES } from "../plan-limits.ts";
import { requireValid } from "./request-checks.ts";
import { ServiceError } from "./service-error.ts";

const STATES = {
  active: SubscriptionState.ACTIVE,
  "not started": SubscriptionState.NOT_STARTED,
  ended: SubscriptionState.ENDED,
  disabled: SubscriptionState.DISABLED,
};

/** Throws ServiceError `badRequest` unless the grace of a rotation is valid or missing. */
export function requireGrace(graceDays: number | undefined): void {
  const { default: days, max } = GRACE_DAYS;
  const isValid = (graceDays ?? days) >= 0 && (graceDays ?? days) <= max;
  requireValid("grace_days", isValid, `must be 0 to ${max}`);
}

/** Reads which months are asked for. Throws ServiceError `badRequest`. */
export function monthsFrom(request: { readonly firstMonth: string; readonly lastMonth: string }) {
  const firstMonth = request.firstMonth || currentMonth();
  const lastMonth = request.lastMonth || currentMonth();
  requireValid("first_month", isMonth(firstMonth), "must be a month such as 2026-01");
  requireValid("last_month", isMonth(lastMonth), "must be a month such as 2026-01");
  requireValid("first_month", firstMonth <= lastMonth, "must not be after last_month");
  return { firstMonth, lastMonth };
}

/** Converts a subscription. */
export function messageFromSubscription(user: User): MessageInitShape<typeof SubscriptionSchema> {
  const { startsAt, endsAt } = user;
  return {
    state: STATES[subscriptionState(user)],
    startTime: timestampFromDate(startsAt),
    ...(endsAt && { endTime: timestampFromDate(endsAt) }),
  };
}

/** Converts a plan: the names of its limits are those of the fields. */
export function messageFromPlan(plan: Plan): PlanMessage {
  const limits = LIMIT_NAMES.flatMap((name) => {
    const limit = plan[name];
    return limit === undefined ? [] : [[name, limit] as const];
  });
  return fromJson(PlanSchema, { name: plan.name, ...Object.fromEntries(limits) });
}

/** Converts the keys that have not expired. `current` are the hashes of those that the request carries. */
export function messagesFromKeys(
  keys: readonly Key[],
  current: readonly string[],
): MessageInitShape<typeof KeySchema>[] {
  return keys.filter(isLive).map(({ hash, fingerprint, createdAt, expiresAt, lastUsedAt }) => ({
    fingerprint,
    createTime: timestampFromDate(createdAt),
    ...(expiresAt && { expireTime: timestampFromDate(expiresAt) }),
    ...(lastUsedAt && { lastUseTime: timestampFromDate(lastUsedAt) }),
    current: current.includes(hash),
  }));
}

/** Converts usage. */
export function messageFromUsage(sum: UsageSum): MessageInitShape<typeof UsageCountSchema> {
  return { ...sum, count: BigInt(sum.count) };
}

/** Runs work on the store. An error that is neither of these means that the store cannot be reached. */
export async function orAccountsUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AccountError || error instanceof ServiceError) throw error;
    throw new ServiceError("accountsUnavailable", undefined, { cause: error });
  }
}
