import { type LimitName, PLAN_LIMITS } from "../../plan-limits.ts";
import type { Plan, Subscription } from "./messages.ts";

const UTC = { timeZone: "UTC" } as const;
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", ...UTC });
const DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", ...UTC });
const TIME = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", ...UTC });
const MONTH = new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric", ...UTC });
const COUNT = new Intl.NumberFormat("en-US");

/** Writes a day without its year: `1 December`. */
export function formatDay(time: string): string {
  return DAY.format(new Date(time));
}

/** Writes a date: `1 December 2026`. */
export function formatDate(time: string): string {
  return DATE.format(new Date(time));
}

/** Writes a time to the minute: `1 December 2026, 09:30 UTC`. */
export function formatTime(time: string): string {
  return `${formatDate(time)}, ${TIME.format(new Date(time))} UTC`;
}

/** Writes a month (YYYY-MM): `December 2026`. */
export function formatMonth(month: string): string {
  return MONTH.format(new Date(`${month}-01T00:00:00Z`));
}

/** Writes a count with separators: `1,234`. */
export function formatCount(count: number | string): string {
  return COUNT.format(Number(count));
}

/** Writes a limit of a plan; `no limit` if it does not apply. */
export function formatLimit({ limits }: Plan, name: LimitName): string {
  const isBytes = PLAN_LIMITS[name].kind === "bytes";
  const limit = name === "burst" && limits.requestsPerSecond === undefined ? undefined : limits[name];
  if (limit === undefined) return isBytes ? "service limit" : "no limit";
  return isBytes ? formatBytes(Number(limit)) : formatCount(limit);
}

/** Writes a size in bytes: `10 MiB`. */
function formatBytes(bytes: number): string {
  return bytes >= 1024 ** 2
    ? `${formatCount(Math.round((10 * bytes) / 1024 ** 2) / 10)} MiB`
    : `${formatCount(bytes)} bytes`;
}

/** Tells the state of a subscription in one sentence. */
export function describeSubscription({ state, startTime, endTime }: Subscription): string {
  switch (state) {
    case "SUBSCRIPTION_STATE_DISABLED":
      return "Disabled by the operator.";
    case "SUBSCRIPTION_STATE_NOT_STARTED":
      return `Starts on ${formatDate(startTime)}.`;
    case "SUBSCRIPTION_STATE_ENDED":
      return `Ended on ${formatDate(endTime!)}.`;
    default:
      return endTime === undefined ? "Active, no end date." : `Active until ${formatDate(endTime)}.`;
  }
}

/** Returns the last months as YYYY-MM, the current one first. */
export function lastMonths(count: number, now = new Date()): string[] {
  return Array.from({ length: count }, (_, i) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - i)).toISOString().slice(0, "YYYY-MM".length),
  );
}
