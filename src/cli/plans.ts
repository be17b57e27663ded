import { parseArgs } from "node:util";
import type { Plan } from "../accounts/account-store.ts";
import { STORE_HELP, withStore } from "./accounts.ts";
import { print, runAction } from "./command.ts";
import { countFromText, nameFromText, rateFromText, takeArguments } from "./options.ts";
import { alignRows } from "./table.ts";

/** What `visage plans --help` prints. */
export const help = `Usage: visage plans list [--json]
       visage plans set NAME [--per-second N|none] [--burst N] [--per-month N|none]
                             [--max-image-bytes N|none] [--json]

A plan says what its users may do. At first there are trial, basic, pro and unlimited.

  list   print all plans
  set    change a plan, or add one: what is not given stays as it is. A new plan has no limits
         but those given, and a burst of two seconds

  --per-second N        requests a second, such as 0.5 or 10
  --burst N             requests that may come at once before the rate holds
  --per-month N         successful requests in a calendar month, in UTC
  --max-image-bytes N   largest encoded image, where it is less than VISAGE_MAX_IMAGE_BYTES
  --json                print JSON instead

${STORE_HELP}`;

/** Lists or changes plans. */
export function run(args: readonly string[]): Promise<void> {
  return runAction({ list, set }, args);
}

/** What may come at once on a new plan, in seconds of its rate. */
const BURST_SECONDS = 2;

const LIST_OPTIONS = { json: { type: "boolean", default: false } } as const;

const SET_OPTIONS = {
  "per-second": { type: "string" },
  burst: { type: "string" },
  "per-month": { type: "string" },
  "max-image-bytes": { type: "string" },
  json: { type: "boolean", default: false },
} as const;

async function list(args: readonly string[]): Promise<void> {
  const { json } = parseArgs({ args, options: LIST_OPTIONS }).values;
  const plans = await withStore((store) => store.listPlans());
  print(json ? JSON.stringify(plans.map(planReportOf)) : tableOf(plans));
}

async function set(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options: SET_OPTIONS, allowPositionals: true });
  const name = nameFromText(takeArguments(positionals, "NAME")[0]);
  const plan = await withStore(async (store) => {
    const before = (await store.listPlans()).find((known) => known.name === name);
    const after = planFrom(name, values, before);
    await store.setPlan(after);
    return after;
  });
  print(values.json ? JSON.stringify(planReportOf(plan)) : tableOf([plan]));
}

type Limit = "per-second" | "per-month" | "max-image-bytes";

function planFrom(
  name: string,
  values: Readonly<Partial<Record<Limit | "burst", string>>>,
  before: Plan | undefined,
): Plan {
  const limit = (option: Limit, parse: typeof countFromText, known: number | undefined) => {
    const text = values[option];
    if (text === undefined) return known;
    return text === "none" ? undefined : parse(text, option);
  };
  const requestsPerSecond = limit("per-second", rateFromText, before?.requestsPerSecond);
  const burst = before?.burst ?? Math.max(1, Math.ceil(BURST_SECONDS * (requestsPerSecond ?? 0)));
  return {
    name,
    requestsPerSecond,
    burst: values.burst === undefined ? burst : countFromText(values.burst, "burst"),
    requestsPerMonth: limit("per-month", countFromText, before?.requestsPerMonth),
    maxImageBytes: limit("max-image-bytes", countFromText, before?.maxImageBytes),
  };
}

function tableOf(plans: readonly Plan[]): string {
  const rows = plans.map(({ name, requestsPerSecond, burst, requestsPerMonth, maxImageBytes }) => [
    name,
    ...[requestsPerSecond, burst, requestsPerMonth, maxImageBytes].map((limit) => `${limit ?? "none"}`),
  ]);
  return alignRows(["plan", "per second", "burst", "per month", "max image bytes"], rows, ["plan"]).join(
    "\n",
  );
}

function planReportOf({ name, requestsPerSecond, burst, requestsPerMonth, maxImageBytes }: Plan) {
  return {
    name,
    requests_per_second: requestsPerSecond ?? null,
    burst,
    requests_per_month: requestsPerMonth ?? null,
    max_image_bytes: maxImageBytes ?? null,
  };
}
