// Checks of requests about accounts, and conversion of what is stored to messages.
import { fromJson, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type CreateKeyRequest,
  type GetUsageRequest,
  type KeySchema,
  type Plan as PlanMessage,
  PlanSchema,
  type SubscriptionSchema,
  SubscriptionState,
  type UsageCountSchema,
} from "../../gen/ts/visage/v1/account_pb.ts";
import type { CreateUserKeyRequest, SumUsageRequest } from "../../gen/ts/visage/v1/admin_pb.ts";
import {
  AccountError,
  type Key,
  type Plan,
  type UsageSelection,
  type UsageSum,
  type User,
} from "../accounts/account-store.ts";
import { currentMonth, isMonth } from "../accounts/month-clock.ts";
import { GRACE_DAYS, isLive, type KeyRequest, MAX_KEY_GALLERIES } from "../accounts/user-keys.ts";
import { isName, isSubscriptionTime, NAME_FORMAT, subscriptionState } from "../accounts/users.ts";
import { PERMISSION_LIST_FORMAT, type Permission, permissionsFrom } from "../permissions.ts";
import { LIMIT_NAMES } from "../plan-limits.ts";
import { requireGalleryId } from "./gallery-messages.ts";
import { requireValid } from "./request-checks.ts";
import { ServiceError } from "./service-error.ts";

const STATES = {
  active: SubscriptionState.ACTIVE,
  "not started": SubscriptionState.NOT_STARTED,
  ended: SubscriptionState.ENDED,
  disabled: SubscriptionState.DISABLED,
};

/** Reads which key to create. Throws ServiceError `badRequest`. */
export function keyRequestFrom(request: CreateKeyRequest | CreateUserKeyRequest): KeyRequest {
  const { name, galleryIds, replaces, graceDays, expireTime } = request;
  requireValid("name", name === "" || isName(name), `must have ${NAME_FORMAT}`);
  const scopes = permissionsField("scopes", request.scopes);
  const isShort = galleryIds.length <= MAX_KEY_GALLERIES;
  requireValid("gallery_ids", isShort, `has more than ${MAX_KEY_GALLERIES} galleries`);
  for (const id of galleryIds) requireGalleryId("gallery_ids", id);
  const { default: days, max } = GRACE_DAYS;
  const isValid = (graceDays ?? days) >= 0 && (graceDays ?? days) <= max;
  requireValid("grace_days", isValid, `must be 0 to ${max}`);
  requireValid("grace_days", graceDays === undefined || replaces !== "", "needs the key to replace");
  const expiresAt = expireTime && timestampDate(expireTime);
  const isFuture = !expiresAt || (expiresAt.getTime() > Date.now() && isSubscriptionTime(expiresAt));
  requireValid("expire_time", isFuture, "must be in the future and before the year 10000");
  return {
    ...(name !== "" && { name }),
    ...(scopes.length > 0 && { scopes }),
    ...(galleryIds.length > 0 && { galleryIds }),
    ...(expiresAt && { expiresAt }),
    ...(replaces !== "" && { replaces: { fingerprint: replaces, graceDays } }),
  };
}

/** Reads a list of permissions. Throws ServiceError `badRequest`. */
export function permissionsField(field: string, names: readonly string[]): readonly Permission[] {
  const permissions = permissionsFrom(names);
  if (permissions) return permissions;
  throw new ServiceError("badRequest", `The field ${field} must be ${PERMISSION_LIST_FORMAT}.`, { field });
}

/** Months of which usage is counted by day. A user may have thousands of counts a month. */
const MAX_MONTHS_BY_DAY = 3;

/** Reads which usage is asked for. Throws ServiceError `badRequest`. */
export function usageSelectionFrom(request: GetUsageRequest | SumUsageRequest): UsageSelection {
  const { byDay, byKey } = request;
  const firstMonth = request.firstMonth || currentMonth();
  const lastMonth = request.lastMonth || currentMonth();
  requireValid("first_month", isMonth(firstMonth), "must be a month such as 2026-01");
  requireValid("last_month", isMonth(lastMonth), "must be a month such as 2026-01");
  requireValid("first_month", firstMonth <= lastMonth, "must not be after last_month");
  const isShort = !byDay || monthNumber(lastMonth) - monthNumber(firstMonth) < MAX_MONTHS_BY_DAY;
  requireValid("by_day", isShort, `needs a range of at most ${MAX_MONTHS_BY_DAY} months`);
  return { firstMonth, lastMonth, byDay, byKey };
}

function monthNumber(month: string): number {
  return 12 * Number(month.slice(0, 4)) + Number(month.slice(5));
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
  return fromJson(PlanSchema, {
    name: plan.name,
    limits: Object.fromEntries(limits),
    off: [...(plan.off ?? [])],
  });
}

/** Converts the keys that have not expired. `current` are the hashes of those that the request carries. */
export function messagesFromKeys(
  keys: readonly Key[],
  current: readonly string[],
): MessageInitShape<typeof KeySchema>[] {
  return keys.filter(isLive).map(({ hash, createdAt, expiresAt, lastUsedAt, ...key }) => ({
    fingerprint: key.fingerprint,
    name: key.name,
    scopes: [...(key.scopes ?? [])],
    galleryIds: [...(key.galleryIds ?? [])],
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
