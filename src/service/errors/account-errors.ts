import { Code } from "@connectrpc/connect";
import { row } from "./error-row.ts";

/** Errors of accounts and keys: codes 7000 to 7999. */
export const ACCOUNT_ERRORS = {
  userNotFound: row("7001", Code.NotFound, 404, {
    text: "The user does not exist.",
    operations: ["AdminService"],
    cause: "No user has the name, id or fingerprint.",
    remedy: "ListUsers returns all users.",
  }),
  planNotFound: row("7002", Code.NotFound, 404, {
    text: "The plan does not exist.",
    operations: ["AdminService"],
    cause: "No plan has the name.",
    remedy: "ListPlans returns all plans.",
  }),
  keyNotFound: row("7003", Code.NotFound, 404, {
    text: "The user has no key with this fingerprint.",
    operations: ["AccountService", "AdminService"],
    cause: "The user has no key with the fingerprint, or it has expired.",
    remedy: "GetAccount returns the fingerprints of the keys.",
  }),
  userExists: row("7004", Code.AlreadyExists, 409, {
    text: "A user of this name exists already.",
    operations: ["AdminService"],
    cause: "The name is taken.",
    remedy: "Choose another name, or change the existing user.",
  }),
  planExists: row("7005", Code.AlreadyExists, 409, {
    text: "A plan of this name exists already.",
    operations: ["AdminService"],
    cause: "The name is taken.",
    remedy: "Choose another name, or change the existing plan.",
  }),
  certificateTaken: row("7006", Code.AlreadyExists, 409, {
    text: "Another user has this certificate subject.",
    operations: ["AdminService"],
    cause: "The common name of the certificate belongs to another user.",
    remedy: "Remove it from the other user first.",
  }),
  planInUse: row("7007", Code.FailedPrecondition, 422, {
    text: "The plan still has users.",
    operations: ["AdminService"],
    cause: "The plan still has users.",
    remedy: "Give these users another plan first.",
  }),
  tooManyKeys: row("7008", Code.FailedPrecondition, 422, {
    text: "The user has 20 keys already and one must be deleted or expire first.",
    operations: ["AccountService", "AdminService"],
    cause: "A user has at most 20 live keys.",
    remedy: "Delete a key that is no longer used, then create the new one.",
    accounts: { title: "There are 20 keys already. Delete one of them first." },
  }),
  keyInUse: row("7009", Code.FailedPrecondition, 422, {
    text: "The key of the request itself cannot be deleted.",
    operations: ["AccountService"],
    cause: "The request would delete the key that it was sent with.",
    remedy: "Send the request with another key of the user.",
  }),
  rightsExceeded: row("7010", Code.PermissionDenied, 403, {
    text: "The key can do more than the key of the request or is valid for longer.",
    operations: ["AccountService"],
    cause:
      "A key can create, replace and delete only keys that have at most its own scopes and galleries, and create none that is valid for longer.",
    remedy: "Use a key with more rights, or ask for fewer.",
    accounts: { title: "Your API key cannot do this to a key that can do more or is valid for longer." },
  }),
};
