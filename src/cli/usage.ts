import { type Account, SUCCESS_OUTCOME, type UsageSum } from "../accounts/account-store.ts";
import { currentMonth } from "../accounts/month-clock.ts";
import { findUserByKeyOrName } from "../accounts/users.ts";
import { STORE_HELP, withStore } from "./account-command.ts";
import { parseMonth, parseOptions, requirePositionals } from "./arguments.ts";
import { type CommandContext, EXIT_CODES, print } from "./command.ts";
import { formatQuota, formatTable } from "./format.ts";

/** Output of `visage usage --help`. */
export const help = `Usage: visage usage [USER] [--month YYYY-MM] [--json]

Prints the number of requests by operation and outcome, of all users or of one user, given by
name, fingerprint or key. Only the outcome "${SUCCESS_OUTCOME}" counts against the monthly quota.

  --month YYYY-MM   the month (UTC); default: the current month
  --json            print JSON

${STORE_HELP}`;

const OPTIONS = {
  month: { type: "string" },
  json: { type: "boolean", default: false },
} as const;

/** Number of requests of all selected users with one operation and outcome. */
type Total = Omit<UsageSum, "month">;

const COLUMNS = ["operation", "outcome", "count"];
/** Width of the output if it is not a terminal. */
const DEFAULT_COLUMNS = 80;
const MAX_BAR_CHARACTERS = 40;
const MIN_BAR_CHARACTERS = 8;
/** Block characters of zero to seven eighths. */
const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** Prints the usage of a month. */
export async function run(args: readonly string[], context: CommandContext): Promise<number> {
  const { values, positionals } = parseOptions({ args, options: OPTIONS, allowPositionals: true });
  const [text] = positionals.length > 0 ? requirePositionals(positionals, "USER") : [];
  const month = values.month === undefined ? currentMonth() : parseMonth(values.month, "month");
  const { account, sums } = await withStore(context, async (store) => {
    const user = text === undefined ? undefined : await findUserByKeyOrName(store, text);
    return {
      account: user && (await store.findAccount({ userId: user.id }, month)),
      sums: await store.sumUsage({ userId: user?.id, firstMonth: month, lastMonth: month }),
    };
  });
  const totals = sums.map(({ operation, outcome, count }) => ({ operation, outcome, count }));
  const report = values.json
    ? JSON.stringify(createReport(month, totals, account))
    : formatUsage(month, totals, account, context.stdout.columns ?? DEFAULT_COLUMNS);
  print(context, report);
  return EXIT_CODES.ok;
}

function createReport(month: string, usage: readonly Total[], account: Account | undefined) {
  return {
    month,
    ...(account && {
      user: { name: account.user.name, fingerprint: account.user.fingerprint },
      plan: account.plan.name,
      used: account.usedThisMonth,
      requests_per_month: account.plan.requestsPerMonth ?? null,
    }),
    usage,
  };
}

function formatUsage(
  month: string,
  totals: readonly Total[],
  account: Account | undefined,
  terminalColumns: number,
): string {
  const heading = account ? `${month}  ${account.user.name}  ${formatQuota(account)}` : `${month}  all users`;
  if (totals.length === 0) return `${heading}\n  no usage`;
  const rows = totals.map(({ operation, outcome, count }) => [operation, outcome, `${count}`]);
  const [columns, ...lines] = formatTable(COLUMNS, rows, ["operation", "outcome"]);
  const maxCount = Math.max(...totals.map(({ count }) => count));
  // Shorten the bars on a narrow terminal, because wrapped lines make the chart unreadable.
  const available = terminalColumns - columns!.length - 5;
  const width = Math.max(MIN_BAR_CHARACTERS, Math.min(MAX_BAR_CHARACTERS, available));
  const chart = lines.map((line, i) => `  ${line}  ${formatBar(totals[i]!.count / maxCount, width)}`);
  return [heading, `  ${columns}`, ...chart].join("\n");
}

/** Formats a fraction (0 to 1) as a bar of up to `width` characters. A fraction above 0 is always visible. */
function formatBar(fraction: number, width: number): string {
  const eighths = fraction > 0 ? Math.max(1, Math.round(8 * width * fraction)) : 0;
  return "█".repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8];
}
