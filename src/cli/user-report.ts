import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { type Subscription, SubscriptionState } from "../../gen/ts/visage/v1/account_pb.ts";
import type { User } from "../../gen/ts/visage/v1/admin_pb.ts";
import { formatTable } from "./format.ts";

const COLUMNS = ["name", "plan", "fingerprint", "starts", "ends", "state"];

/** What is printed of a user, as the operator or the user itself sees it. */
type ShownUser = Pick<User, "name" | "plan" | "fingerprint" | "subscription" | "certificateSubject">;

/** Formats users as a table. */
export function formatUsers(users: readonly User[]): string {
  const rows = users.map(({ name, plan, fingerprint, subscription }) => {
    const { starts_at, ends_at } = createSubscriptionReport(subscription!);
    const end = ends_at === null ? "never" : dayOf(ends_at);
    return [name, plan, fingerprint, dayOf(starts_at), end, formatState(subscription!)];
  });
  return formatTable(COLUMNS, rows, COLUMNS).join("\n");
}

/** Formats one user, with the text of its quota if that is given. */
export function formatUser(user: ShownUser, quota?: string): string {
  const { starts_at, ends_at } = createSubscriptionReport(user.subscription!);
  const lines = [
    ["name", user.name],
    ["plan", user.plan],
    ["fingerprint", user.fingerprint],
    ["starts", starts_at],
    ["ends", ends_at ?? "never"],
    ["state", formatState(user.subscription!)],
    ...(user.certificateSubject === undefined ? [] : [["certificate", user.certificateSubject]]),
    ...(quota === undefined ? [] : [["this month", quota]]),
  ];
  return lines.map(([title, value]) => `${title!.padEnd(13)}${value}`).join("\n");
}

/** Creates the JSON of a user. */
export function createUserReport({
  name,
  plan,
  fingerprint,
  subscription,
  enabled,
  certificateSubject,
}: User) {
  return {
    name,
    plan,
    fingerprint,
    ...createSubscriptionReport(subscription!),
    enabled,
    certificate_subject: certificateSubject ?? null,
  };
}

/** Creates the part of the JSON of a user that says when its subscription lasts. */
export function createSubscriptionReport({ startTime, endTime }: Subscription) {
  return { starts_at: isoTime(startTime!), ends_at: endTime ? isoTime(endTime) : null };
}

/** Formats the state of a subscription, such as `not started`. */
export function formatState({ state }: Subscription): string {
  return SubscriptionState[state].toLowerCase().replace("_", " ");
}

/** Formats a time as ISO 8601, in UTC. */
export function isoTime(time: Timestamp): string {
  return timestampDate(time).toISOString();
}

function dayOf(isoTime: string): string {
  return isoTime.slice(0, "YYYY-MM-DD".length);
}
