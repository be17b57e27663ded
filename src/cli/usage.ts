import type { GetUsageRequest, Plan, UsageCount } from "../../gen/ts/visage/v1/account_pb.ts";
import { SUCCESS_OUTCOME } from "../accounts/account-store.ts";
import { currentMonth } from "../accounts/month-clock.ts";
import { ADMIN_HELP, ADMIN_OPTIONS, administrate, getPlan, withUser } from "./account-command.ts";
import { JSON_OPTION, parseArguments, parseMonth } from "./arguments.ts";
import { type CommandContext, EXIT_CODES, print, UsageError } from "./command.ts";
import { formatQuota, formatTable } from "./format.ts";
import { reportLimit } from "./plans.ts";

/** Help text on the options of commands that print usage. */
export const USAGE_HELP = `  --month YYYY-MM
                 the month (UTC); default: the current month
  --by-day       count each day separately
  --by-key       count each key of the user separately`;

/** Output of `visage usage --help`. */
export const help = `Usage: visage usage [USER] [--month YYYY-MM] [--by-day] [--by-key] [--json]

Prints the number of requests by operation and outcome, of all users or of one user, given by
name, fingerprint or, with a database, key. Only the outcome "${SUCCESS_OUTCOME}" counts against the
monthly quota.

${USAGE_HELP}
  --json         print JSON

${ADMIN_HELP}`;

/** The options of commands that print usage. */
export const USAGE_OPTIONS = {
  ...JSON_OPTION,
  month: { type: "string" },
  "by-day": { type: "boolean", default: false },
  "by-key": { type: "boolean", default: false },
} as const;

const OPTIONS = { ...ADMIN_OPTIONS, ...USAGE_OPTIONS } as const;

/** The usage of a month: of the owner, or of all users. */
interface Usage {
  readonly counts: readonly UsageCount[];
  readonly owner?: { readonly name: string; readonly fingerprint: string; readonly plan: Plan };
}

/** What to count: a month, and whether by day and key. */
type UsageRequest = Pick<GetUsageRequest, "firstMonth" | "lastMonth" | "byDay" | "byKey">;

/** The text columns of a table of usage. Days and keys are missing unless the request asks for them. */
const COLUMNS = ["day", "key", "operation", "outcome"] as const;
/** Width of the output if it is not a terminal. */
const DEFAULT_COLUMNS = 80;
const MAX_BAR_CHARACTERS = 40;
const MIN_BAR_CHARACTERS = 8;
/** Block characters of zero to seven eighths. */
const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** Prints the usage of a month. */
export async function run(args: readonly string[], context: CommandContext): Promise<number> {
  const [values, text] = parseArguments(args, OPTIONS, "[USER]");
  if (text === undefined && values["by-key"]) throw new UsageError("Option '--by-key' needs a user");
  await printUsage(context, values, async (request) => {
    if (text === undefined) return administrate(context, values, ({ admin }) => admin.sumUsage(request));
    return withUser(context, values, text, async (administration) => {
      const { admin, user } = administration;
      const { counts } = await admin.sumUsage({ ...request, user: user.userId });
      return { counts, owner: { ...user, plan: await getPlan(administration, user.plan) } };
    });
  });
  return EXIT_CODES.ok;
}

/** The values of these options. */
interface UsageValues {
  readonly json: boolean;
  readonly month?: string | undefined;
  readonly "by-day": boolean;
  readonly "by-key": boolean;
}

/** Prints the usage of the month that an option names, by default the current one. */
export async function printUsage(
  context: CommandContext,
  { json, month: text, "by-day": byDay, "by-key": byKey }: UsageValues,
  read: (request: UsageRequest) => Promise<Usage>,
): Promise<void> {
  const month = text === undefined ? currentMonth() : parseMonth(text, "month");
  const { counts, owner } = await read({ firstMonth: month, lastMonth: month, byDay, byKey });
  const successes = counts.filter(({ outcome }) => outcome === SUCCESS_OUTCOME);
  const used = successes.reduce((sum, { count }) => sum + Number(count), 0);
  const heading = owner ? `${owner.name}  ${formatQuota(owner.plan, used)}` : "all users";
  const report = {
    month,
    ...(owner && {
      user: { name: owner.name, fingerprint: owner.fingerprint },
      plan: owner.plan.name,
      used,
      requests_per_month: reportLimit(owner.plan, "requestsPerMonth"),
    }),
    usage: counts.map(({ day, key, operation, outcome, count }) => ({
      ...{ day, key, operation, outcome, count: Number(count) },
    })),
  };
  const chart = () => formatUsage(counts, context.stdout.columns ?? DEFAULT_COLUMNS);
  print(context, json ? JSON.stringify(report) : `${month}  ${heading}\n${chart()}`);
}

function formatUsage(counts: readonly UsageCount[], terminalColumns: number): string {
  if (counts.length === 0) return "  no usage";
  const names = COLUMNS.filter((name) => counts[0]![name] !== undefined);
  const rows = counts.map((one) => [...names.map((name) => one[name] || "certificate"), `${one.count}`]);
  const [columns, ...lines] = formatTable([...names, "count"], rows, names);
  const maxCount = counts.reduce((max, { count }) => Math.max(max, Number(count)), 0);
  // Shorten the bars on a narrow terminal, because wrapped lines make the chart unreadable.
  const available = terminalColumns - columns!.length - 5;
  const width = Math.max(MIN_BAR_CHARACTERS, Math.min(MAX_BAR_CHARACTERS, available));
  const bars = counts.map(({ count }) => formatBar(Number(count) / maxCount, width));
  return [`  ${columns}`, ...lines.map((line, i) => `  ${line}  ${bars[i]}`)].join("\n");
}

/** Formats a fraction (0 to 1) as a bar of up to `width` characters. A fraction above 0 is always visible. */
function formatBar(fraction: number, width: number): string {
  const eighths = fraction > 0 ? Math.max(1, Math.round(8 * width * fraction)) : 0;
  return "█".repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8];
}
