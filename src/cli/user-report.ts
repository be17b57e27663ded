import type { Account, UsageCount, User } from "../accounts/account-store.ts";
import { quotaOf } from "./quota.ts";
import { alignRows } from "./table.ts";

const COLUMNS = ["name", "plan", "fingerprint", "starts", "ends", "state"];

/** Users as lines for people. */
export function tableOf(users: readonly User[]): string {
  const rows = users.map((user) => [
    user.name,
    user.plan,
    user.fingerprint,
    dayOf(user.startsAt),
    user.endsAt ? dayOf(user.endsAt) : "never",
    stateOf(user),
  ]);
  return alignRows(COLUMNS, rows, COLUMNS).join("\n");
}

/** One user as lines for people, with its quota where the account is known. */
export function textOf(user: User, account?: Account): string {
  const lines = [
    ["name", user.name],
    ["plan", user.plan],
    ["fingerprint", user.fingerprint],
    ["starts", user.startsAt.toISOString()],
    ["ends", user.endsAt?.toISOString() ?? "never"],
    ["state", stateOf(user)],
    ...(account ? [["this month", quotaOf(account)]] : []),
  ];
  return lines.map(([title, value]) => `${title!.padEnd(13)}${value}`).join("\n");
}

/** One user as JSON. */
export function userReportOf({ name, plan, fingerprint, startsAt, endsAt, enabled }: User) {
  return {
    name,
    plan,
    fingerprint,
    starts_at: startsAt.toISOString(),
    ends_at: endsAt?.toISOString() ?? null,
    enabled,
  };
}

/** Everything that is stored about a user, as JSON. */
export function exportOf(user: User, usage: readonly UsageCount[]) {
  return {
    user: { ...userReportOf(user), id_hash: user.idHash },
    usage: usage.map(({ month, operation, outcome, count }) => ({ month, operation, outcome, count })),
  };
}

/** Whether the service would admit the user now, and if not, why. */
function stateOf({ startsAt, endsAt, enabled }: User): string {
  const now = new Date();
  if (!enabled) return "disabled";
  if (startsAt > now) return "not begun";
  return endsAt && endsAt <= now ? "ended" : "active";
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}
