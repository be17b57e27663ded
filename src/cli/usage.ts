import { parseArgs } from "node:util";
import { type Account, SUCCESS_OUTCOME, type UsageCount } from "../accounts/account-store.ts";
import { currentMonth, findUser, STORE_HELP, withStore } from "./accounts.ts";
import { barOf } from "./bar.ts";
import { print } from "./command.ts";
import { monthFromText, takeArguments } from "./options.ts";
import { quotaOf } from "./quota.ts";
import { alignRows } from "./table.ts";

/** What `visage usage --help` prints. */
export const help = `Usage: visage usage [USER] [--month YYYY-MM] [--json]

Prints how often each operation ended in which way, for all users or one, who is named by id,
fingerprint or name. Only the outcome "${SUCCESS_OUTCOME}" counts against the month of a plan.

  --month YYYY-MM   the month, in UTC; the present one unless given
  --json            print JSON instead

${STORE_HELP}`;

const OPTIONS = {
  month: { type: "string" },
  json: { type: "boolean", default: false },
} as const;

/** What was counted under one operation and outcome. */
type Total = Pick<UsageCount, "operation" | "outcome" | "count">;

const COLUMNS = ["operation", "outcome", "count"];
const MOST_BAR_CHARACTERS = 40;
const LEAST_BAR_CHARACTERS = 8;

/** Prints the usage of a month. */
export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  const [text] = positionals.length > 0 ? takeArguments(positionals, "USER") : [];
  const month = values.month === undefined ? currentMonth() : monthFromText(values.month, "month");
  const { account, counts } = await withStore(async (store) => {
    const user = text === undefined ? undefined : await findUser(store, text);
    return {
      account: user && (await store.findAccount(user.idHash, month)),
      counts: await store.listUsage({ month, ...(user && { idHash: user.idHash }) }),
    };
  });
  const totals = totalsOf(counts);
  print(values.json ? JSON.stringify(reportOf(month, totals, account)) : textOf(month, totals, account));
}

/** Counts of all users together, the operations in the order of their names, the largest count of each first. */
function totalsOf(counts: readonly UsageCount[]): Total[] {
  const totals = new Map<string, Total>();
  for (const { operation, outcome, count } of counts) {
    const key = `${operation} ${outcome}`;
    totals.set(key, { operation, outcome, count: count + (totals.get(key)?.count ?? 0) });
  }
  return [...totals.values()].sort(
    (a, b) =>
      a.operation.localeCompare(b.operation) || b.count - a.count || a.outcome.localeCompare(b.outcome),
  );
}

function reportOf(month: string, usage: readonly Total[], account: Account | undefined) {
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

function textOf(month: string, totals: readonly Total[], account: Account | undefined): string {
  const heading = account ? `${month}  ${account.user.name}  ${quotaOf(account)}` : `${month}  all users`;
  if (totals.length === 0) return `${heading}\n  nothing was used`;
  const rows = totals.map(({ operation, outcome, count }) => [operation, outcome, `${count}`]);
  const [columns, ...lines] = alignRows(COLUMNS, rows, ["operation", "outcome"]);
  const most = Math.max(...totals.map(({ count }) => count));
  // A line that wraps is no chart, so that on a narrow terminal it is the bars that give way.
  const room = (process.stdout.columns ?? 80) - columns!.length - 5;
  const width = Math.max(LEAST_BAR_CHARACTERS, Math.min(MOST_BAR_CHARACTERS, room));
  const charted = lines.map((line, i) => `  ${line}  ${barOf(totals[i]!.count / most, width)}`);
  return [heading, `  ${columns}`, ...charted].join("\n");
}
