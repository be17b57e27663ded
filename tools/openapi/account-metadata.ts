import type { JsonObject } from "@bufbuild/protobuf";
import { MAX_KEY_GALLERIES } from "../../src/accounts/user-keys.ts";
import type { ServiceMetadata } from "./api-metadata.ts";
import { typedMetadata } from "./typed-metadata.ts";

/** Creates the metadata of visage.v1.AccountService. */
export function accountMetadata(): ServiceMetadata {
  return {
    ...typedMetadata(),
    formats: {},
    fields: {
      ...SHARED_FIELDS,
      ...monthsOf("GetUsage"),
      ...newKeyOf("CreateKeyRequest"),
      "visage.v1.DeleteKeyRequest.fingerprint": FINGERPRINT,
    },
    required: [
      ...SHARED_REQUIRED,
      "visage.v1.Quota.reset_time",
      ...["plan", "subscription", "quota"].map((field) => `visage.v1.GetAccountResponse.${field}`),
    ],
    optional: [],
    responsePrefix: "V1Account",
    streamErrorStatuses: [],
  };
}

/** Creates the metadata of visage.v1.AdminService, which only the operator may call. */
export function adminMetadata(): ServiceMetadata {
  return {
    ...accountMetadata(),
    fields: {
      ...SHARED_FIELDS,
      ...monthsOf("SumUsage"),
      ...newKeyOf("CreateUserKeyRequest"),
      "visage.v1.DeleteUserKeyRequest.fingerprint": FINGERPRINT,
      "visage.v1.ListUsersRequest.query": { maxLength: 100 },
      "visage.v1.ListUsersRequest.page_size": { minimum: 0, maximum: 1000 },
      "visage.v1.ListUsersResponse.total_size": COUNT,
      "visage.v1.CreateUserRequest.name": NAME,
      "visage.v1.CreatePlanRequest.name": NAME,
      "visage.v1.UpdateUserRequest.extend_days": { minimum: 1, maximum: 3650 },
      "visage.v1.PlanSummary.user_count": COUNT,
    },
    required: [
      ...SHARED_REQUIRED,
      "visage.v1.User.subscription",
      "visage.v1.PlanSummary.plan",
      ...["Get", "Create", "Update"].map((verb) => `visage.v1.${verb}UserResponse.user`),
      ...["Create", "Update"].map((verb) => `visage.v1.${verb}PlanResponse.plan`),
    ],
    responsePrefix: "V1Admin",
    security: ["admin_key"],
  };
}

const COUNT = { minimum: 0 };
const NAME = { minLength: 1, maxLength: 100 };
const GRACE_DAYS = { minimum: 0, maximum: 3650 };
const FINGERPRINT = { pattern: "^[0-9a-f]{10}$" };
const DAY = { pattern: "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$" };
const MONTH = { pattern: "^[0-9]{4}-(0[1-9]|1[0-2])$" };

const SHARED_FIELDS: Readonly<Record<string, JsonObject>> = {
  "visage.v1.Key.fingerprint": FINGERPRINT,
  "visage.v1.UsageCount.month": MONTH,
  "visage.v1.UsageCount.day": DAY,
};

const SHARED_REQUIRED: readonly string[] = [
  "visage.v1.Plan.limits",
  "visage.v1.Key.create_time",
  "visage.v1.Subscription.start_time",
];

/** Creates the keywords of the fields of a key to create. */
function newKeyOf(request: string): Record<string, JsonObject> {
  return {
    [`visage.v1.${request}.grace_days`]: GRACE_DAYS,
    [`visage.v1.${request}.name`]: { maxLength: 100 },
    [`visage.v1.${request}.gallery_ids`]: { maxItems: MAX_KEY_GALLERIES },
  };
}

/** Creates the keywords of the months of a request. Empty text means the current month. */
function monthsOf(method: string): Record<string, JsonObject> {
  const month = { pattern: "^([0-9]{4}-(0[1-9]|1[0-2]))?$" };
  return Object.fromEntries(
    ["first_month", "last_month"].map((field) => [`visage.v1.${method}Request.${field}`, month]),
  );
}
