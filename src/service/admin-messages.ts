// Checks of requests of the operator, and conversion of what is stored to messages.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type {
  CreatePlanRequest,
  CreateUserRequest,
  UpdatePlanRequest,
  UpdateUserRequest,
  UserSchema,
} from "../../gen/ts/visage/v1/admin_pb.ts";
import type { PlanRules, User, UserChanges, UserWithUsage } from "../accounts/account-store.ts";
import {
  DEFAULT_PLAN,
  extendSubscription,
  isName,
  isSubscriptionPeriod,
  isSubscriptionTime,
  MAX_EXTENSION_DAYS,
  NAME_FORMAT,
  type NewUser,
} from "../accounts/users.ts";
import { fieldOfLimit, findLimitFault, LIMIT_NAMES, type LimitName, PLAN_LIMITS } from "../plan-limits.ts";
import { messageFromSubscription, permissionsField } from "./account-messages.ts";
import { missingError, requireValid } from "./request-checks.ts";

const DEFAULT_PAGE_SIZE = 100;
const MAX_PAGE_SIZE = 1_000;
const MAX_QUERY_CHARACTERS = 100;
/** Instead of permissions: nothing is switched off. */
const NONE = "none";

/** Throws ServiceError `badRequest` unless a field has a name. */
export function requireNameField(field: string, name: string): void {
  if (name === "") throw missingError(field);
  requireValid(field, isName(name), `must have ${NAME_FORMAT}`);
}

/** Reads which page of users is asked for. Throws ServiceError `badRequest`. */
export function userPageFrom(request: {
  readonly query: string;
  readonly pageSize: number;
  readonly pageToken: string;
}): { query: string; after: string; size: number } {
  const { query, pageSize, pageToken } = request;
  const isShort = query.length <= MAX_QUERY_CHARACTERS && !query.includes("\0");
  requireValid("query", isShort, `must have at most ${MAX_QUERY_CHARACTERS} printable characters`);
  requireValid("page_size", pageSize >= 0 && pageSize <= MAX_PAGE_SIZE, `must be 0 to ${MAX_PAGE_SIZE}`);
  const after = Buffer.from(pageToken, "base64url").toString();
  const isToken = pageToken === "" || (isName(after) && pageTokenFrom(after) === pageToken);
  requireValid("page_token", isToken, "is not the token of a page");
  return { query, after, size: pageSize || DEFAULT_PAGE_SIZE };
}

/** Takes a page from users of which one more than its size was asked for, and makes the token of the next page. */
export function pageFrom(users: readonly UserWithUsage[], size: number) {
  const page = users.slice(0, size);
  return { page, nextPageToken: users.length > size ? pageTokenFrom(page.at(-1)!.user.name) : "" };
}

/** The token of the page after a user. Encoded, so that clients do not rely on its content. */
function pageTokenFrom(name: string): string {
  return Buffer.from(name).toString("base64url");
}

/** Reads a user to create. Throws ServiceError `badRequest`. */
export function newUserFrom(request: CreateUserRequest): NewUser {
  const { name, plan, startTime, endTime, certificateSubject } = request;
  requireNameField("name", name);
  if (plan !== "") requireNameField("plan", plan);
  if (certificateSubject !== "") requireNameField("certificate_subject", certificateSubject);
  const startsAt = startTime ? dateFrom("start_time", startTime) : new Date();
  const endsAt = endTime && dateFrom("end_time", endTime);
  requireValid("end_time", isSubscriptionPeriod(startsAt, endsAt), "must be after start_time");
  return {
    name,
    plan: plan || DEFAULT_PLAN,
    startsAt,
    endsAt,
    certificateSubject: certificateSubject || undefined,
  };
}

/** Reads the changes of a user. Throws ServiceError `badRequest`. */
export function userChangesFrom(request: UpdateUserRequest, user: User): UserChanges {
  const { plan, enabled, certificateSubject } = request;
  if (plan !== undefined) requireNameField("plan", plan);
  if (certificateSubject) requireNameField("certificate_subject", certificateSubject);
  return {
    ...(plan !== undefined && { plan }),
    ...(enabled !== undefined && { enabled }),
    ...(certificateSubject !== undefined && { certificateSubject: certificateSubject || undefined }),
    ...endFrom(request, user),
  };
}

function endFrom({ endTime, extendDays, withoutEnd }: UpdateUserRequest, user: User): UserChanges {
  const given = [endTime !== undefined, extendDays !== undefined, withoutEnd].filter(Boolean);
  requireValid("end_time", given.length <= 1, "cannot be set together with extend_days or without_end");
  if (withoutEnd) return { endsAt: undefined };
  if (endTime) return { endsAt: dateFrom("end_time", endTime) };
  if (extendDays === undefined) return {};
  const isValid = extendDays >= 1 && extendDays <= MAX_EXTENSION_DAYS;
  requireValid("extend_days", isValid, `must be 1 to ${MAX_EXTENSION_DAYS}`);
  const endsAt = extendSubscription(user, extendDays);
  requireValid("extend_days", isSubscriptionTime(endsAt), "leads beyond the year 9999");
  return { endsAt };
}

function dateFrom(field: string, timestamp: Timestamp): Date {
  const date = timestampDate(timestamp);
  requireValid(field, isSubscriptionTime(date), "must be a time in the years 1 to 9999");
  return date;
}

/** Reads the rules of a plan to create. Throws ServiceError `badRequest`. */
export function planRulesFrom(request: CreatePlanRequest | UpdatePlanRequest): PlanRules {
  const given = LIMIT_NAMES.filter((name) => request.limits?.[name] !== undefined);
  const isCleared = request.off.length === 1 && request.off[0] === NONE;
  return {
    ...Object.fromEntries(given.map((name) => [name, limitFrom(name, Number(request.limits![name]))])),
    ...(request.off.length > 0 && { off: isCleared ? [] : permissionsField("off", request.off) }),
  };
}

/** Reads the changes of a plan. Throws ServiceError `badRequest`. */
export function planChangesFrom(request: UpdatePlanRequest): PlanRules {
  const removed = request.unlimited.map((field) => {
    const name = LIMIT_NAMES.find((known) => fieldOfLimit(known) === field);
    const isValid = name && !PLAN_LIMITS[name].isRequired && request.limits?.[name] === undefined;
    requireValid("unlimited", isValid === true, "must have names of limits that have no value");
    return [name, undefined];
  });
  return { ...planRulesFrom(request), ...Object.fromEntries(removed) };
}

function limitFrom(name: LimitName, value: number): number {
  const fault = findLimitFault(name, value);
  requireValid(`limits.${fieldOfLimit(name)}`, fault === undefined, fault ?? "");
  return value;
}

/** Converts a user. */
export function messageFromUser({ user, usedThisMonth }: UserWithUsage): MessageInitShape<typeof UserSchema> {
  const { id, fingerprint, name, plan, enabled, certificateSubject } = user;
  return {
    userId: id,
    fingerprint,
    name,
    plan,
    subscription: messageFromSubscription(user),
    enabled,
    ...(certificateSubject !== undefined && { certificateSubject }),
    usedThisMonth: BigInt(usedThisMonth),
  };
}
