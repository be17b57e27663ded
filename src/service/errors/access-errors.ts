import { Code } from "@connectrpc/connect";
import {
  EVERY_SERVICE,
  FACE_SERVICES,
  LIMIT_OVER,
  MISSING_DETAILS,
  OUTDATED_PAGE,
  RETRY_LATER,
  row,
  USER_SERVICES,
} from "./error-row.ts";

/** Errors of users, limits and paths: codes 4000 to 4999. */
export const ACCESS_ERRORS = {
  noUserId: row("4001", Code.Unauthenticated, 401, {
    text: "The request has no key in the header user_id or x-api-key or as a Bearer token.",
    firstGenerationText: MISSING_DETAILS,
    operations: USER_SERVICES,
    cause: "No header has a key. Some proxies drop headers with an underscore, such as `user_id`.",
    remedy: "Send `Authorization: Bearer KEY`.",
    playground: { title: "Enter an API key.", text: "The button for it is at the top of the page." },
    galleries: { title: "Enter your API key." },
    accounts: { title: "Enter your API key." },
  }),
  unknownUser: row("4002", Code.Unauthenticated, 401, {
    text: "The key in the header user_id or x-api-key or in the Bearer token is unknown or expired or disabled.",
    firstGenerationText: MISSING_DETAILS,
    operations: USER_SERVICES,
    cause:
      "The key is mistyped, expired or revoked, the user is disabled, or two headers have keys of different users.",
    remedy: "Check the key, or ask the operator for a new one.",
    playground: {
      title: "This API key is not accepted.",
      text: "Check it for typing errors, or ask the operator of this service.",
    },
    galleries: {
      title: "This API key is not accepted.",
      text: "Check it for typing errors, or ask the operator of this service.",
    },
    accounts: {
      title:
        "This API key is unknown, expired or disabled. Check it for typing errors, or ask the operator of this service.",
    },
  }),
  noSubscription: row("4003", Code.PermissionDenied, 402, {
    text: "The user has no active subscription.",
    firstGenerationText: "Plan expired Please recharge to continue",
    operations: FACE_SERVICES,
    cause: "The user's subscription has ended.",
    remedy: "Ask the operator to renew it.",
    playground: {
      title: "You have no active subscription.",
      text: "Ask the operator of this service to renew it.",
    },
    galleries: { text: "Ask the operator of this service to renew it." },
  }),
  quotaSpent: row("4004", Code.ResourceExhausted, 429, {
    text: "The monthly quota of requests is used up.",
    quota: "requests per month",
    firstGenerationText: LIMIT_OVER,
    operations: FACE_SERVICES,
    cause: "The user has made all requests that the plan allows in this month.",
    remedy:
      "Wait for the next month, or ask the operator for a larger plan. `RateLimit-Reset` says in how many seconds the month ends.",
    playground: { text: "Wait for the next month, or ask the operator for a larger plan." },
    galleries: { text: "Wait for the next month, or ask the operator for a larger plan." },
  }),
  tooManyRequests: row("4005", Code.ResourceExhausted, 429, {
    text: "Too many requests were sent in a short time.",
    retryable: true,
    quota: "requests per second",
    firstGenerationText: LIMIT_OVER,
    operations: EVERY_SERVICE,
    cause:
      "The user sends more requests per second than the plan allows, or an address had too many failed logins.",
    remedy: RETRY_LATER,
    playground: { text: "Wait a moment before the next request." },
    galleries: { text: "Wait a moment, then try again." },
  }),
  tooManyInFlight: row("4006", Code.ResourceExhausted, 429, {
    text: "Too many requests of this user are in progress.",
    retryable: true,
    quota: "requests in flight",
    firstGenerationText: LIMIT_OVER,
    operations: USER_SERVICES,
    cause:
      "The user has too many requests in progress, or the rest of the monthly quota is reserved by them.",
    remedy: `Send fewer at the same time. ${RETRY_LATER}`,
    playground: {
      title: "You have too many requests in progress.",
      text: "Wait until your other requests have finished.",
    },
    galleries: { text: "Wait until your other requests have finished." },
  }),
  noAdminKey: row("4007", Code.Unauthenticated, 401, {
    text: "The request has no valid admin key as a Bearer token.",
    firstGenerationText: MISSING_DETAILS,
    operations: ["AdminService"],
    cause:
      "The header `Authorization: Bearer` has no admin key, or a wrong one. A key of a user is not enough.",
    remedy: "Send the value of VISAGE_ADMIN_KEY.",
    accounts: { title: "This is not the admin key of this service." },
  }),
  crossOrigin: row("4008", Code.PermissionDenied, 403, {
    text: "The request comes from a page of another origin.",
    firstGenerationText: MISSING_DETAILS,
    operations: ["AdminService"],
    cause: "A web page of another origin called an operation of the operator.",
    remedy: "Call it from a program, or from a page of the service itself.",
  }),
  purposeDisabled: row("4009", Code.PermissionDenied, 403, {
    text: "The purpose of the request is switched off by the service or by the plan.",
    operations: USER_SERVICES,
    cause:
      "The operator has switched off what the request needs, for the whole service (`VISAGE_OFF`) or for the plan of the user. `permission` in the metadata names it, and `by` says where.",
    remedy: "Leave it out, or ask the operator.",
    playground: {
      title: "This is switched off.",
      text: "The operator of this service has switched it off.",
    },
    galleries: { title: "This is switched off.", text: "The operator of this service has switched it off." },
    accounts: { title: "The operator of this service has switched this off." },
  }),
  scopeMissing: row("4010", Code.PermissionDenied, 403, {
    text: "The key of the request lacks a scope that the request needs.",
    operations: USER_SERVICES,
    cause:
      "The key is limited to scopes or galleries. `permission` in the metadata names the scope that is missing.",
    remedy: "Use a key with that scope. Whoever has a key with the scope `account` can create one.",
    playground: { title: "This API key is not for this.", text: "Use one with more scopes." },
    galleries: { title: "This API key is not for this.", text: "Use one with more scopes." },
    accounts: { title: "This API key is not for accounts. Use one that has the scope account." },
  }),
  noSuchPath: row("4040", Code.Unimplemented, 404, {
    text: "This path does not exist.",
    firstGenerationText: MISSING_DETAILS,
    operations: [],
    cause: "No operation has this path, or the proxy in front of the service changes paths.",
    remedy: "Compare the path with this reference.",
    playground: OUTDATED_PAGE,
    accounts: { title: "This service has no admin key. Set VISAGE_ADMIN_KEY and restart it." },
  }),
  wrongMethod: row("4050", Code.Unimplemented, 405, {
    text: "This path does not support the method.",
    firstGenerationText: MISSING_DETAILS,
    operations: [],
    cause: "The path exists, but not with this HTTP method.",
    remedy: "Use the method that `Allow` in the response names.",
    playground: OUTDATED_PAGE,
  }),
};
