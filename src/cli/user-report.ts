import type { Account, Key, UsageCount, User } from "../accounts/account-store.ts";
import { subscriptionState } from "../accounts/users.ts";
import { formatQuota, formatTable } from "./format.ts";
import { createKeyReport } from "./user-keys.ts";

const COLUMNS = ["name", "plan", "fingerprint", "starts", "ends", "state"];

/** Formats users as a table. */
export function formatUsers(users: readonly User[]): string {
  const rows = users.map((user) => [
    user.name,
    user.plan,
    user.fingerprint,
    formatDate(user.startsAt),
    user.endsAt ? formatDate(user.endsAt) : "never",
    subscriptionState(user),
  ]);
  return formatTable(COLUMNS, rows, COLUMNS).join("\n");
}

/** Formats one user, with its quota if the account is given. */
export function formatUser(user: User, account?: Account): string {
  const lines = [
    ["name", user.name],
    ["plan", user.plan],
    ["fingerprint", user.fingerprint],
    ["starts", user.startsAt.toISOString()],
    ["ends", user.endsAt?.toISOString() ?? "never"],
    ["state", subscriptionState(user)],
    ...(user.certificateSubject === undefined ? [] : [["certificate", user.certificateSubject]]),
    ...(account ? [["this month", formatQuota(account)]] : []),
  ];
  return lines.map(([title, value]) => `${title!.padEnd(13)}${value}`).join("\n");
}

/** Creates the JSON of a user. */
export function createUserReport(user: User) {
  const { name, plan, fingerprint, startsAt, endsAt, enabled, certificateSubject } = user;
  return {
    name,
    plan,
    fingerprint,
    starts_at: startsAt.toISOString(),
    ends_at: endsAt?.toISOString() ?? null,
    enabled,
    certificate_subject: certificateSubject ?? null,
  };
}

/** Creates the JSON of everything that is stored about a user. */
export function createUserExport(user: User, keys: readonly Key[], usage: readonly UsageCount[]) {
  return {
    user: { ...createUserReport(user), id: user.id },
    keys: keys.map((key) => ({ ...createKeyReport(key), hash: key.hash })),
    usage: usage.map(({ month, operation, outcome, count }) => ({ month, operation, outcome, count })),
  };
}

function formatDate(date: Date): string {
  return date.toISOString().slice(0, 10);
}
