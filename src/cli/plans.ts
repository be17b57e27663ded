import { parseArgs } from "node:util";
import type { Plan } from "../accounts/account-store.ts";
import { STORE_HELP, withStore } from "./account-command.ts";
import { parseCount, parseName, parseRate, requirePositionals } from "./arguments.ts";
import { print, runSubcommand } from "./command.ts";
import { formatTable } from "./format.ts";

/** Output of `visage plans --help`. */
export const help = `Usage: visage plans list [--json]
       visage plans set NAME [--per-second N|none] [--burst N] [--per-month N|none]
                             [--max-image-bytes N|none] [--json]

A plan defines the limits of its users. The initial plans are trial, basic, pro and unlimited.

  list   print all plans
  set    change or add a plan; options that are not given stay unchanged. A new plan has only the
         given limits, and a burst of two seconds of its rate

  --per-second N        requests per second, such as 0.5 or 10
  --burst N             requests that may exceed the rate at once
  --per-month N         successful requests per calendar month (UTC)
  --max-image-bytes N   size limit of an encoded image, if less than VISAGE_MAX_IMAGE_BYTES
  --json                print JSON

${STORE_HELP}`;

/** Lists or changes plans. */
export function run(args: readonly string[]): Promise<void> {
  return runSubcommand({ list, set }, args);
}

/** Default burst of a new plan, in seconds of its rate. */
const DEFAULT_BURST_SECONDS = 2;

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
  print(json ? JSON.stringify(plans.map(createPlanReport)) : formatPlans(plans));
}

async function set(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options: SET_OPTIONS, allowPositionals: true });
  const name = parseName(requirePositionals(positionals, "NAME")[0]);
  const plan = await withStore(async (store) => {
    const before = (await store.listPlans()).find((known) => known.name === name);
    const after = applyOptions(name, values, before);
    await store.setPlan(after);
    return after;
  });
  print(values.json ? JSON.stringify(createPlanReport(plan)) : formatPlans([plan]));
}

type Limit = "per-second" | "per-month" | "max-image-bytes";

function applyOptions(
  name: string,
  values: Readonly<Partial<Record<Limit | "burst", string>>>,
  before: Plan | undefined,
): Plan {
  const limit = (option: Limit, parse: typeof parseCount, known: number | undefined) => {
    const text = values[option];
    if (text === undefined) return known;
    return text === "none" ? undefined : parse(text, option);
  };
  const requestsPerSecond = limit("per-second", parseRate, before?.requestsPerSecond);
  const burst = before?.burst ?? Math.max(1, Math.ceil(DEFAULT_BURST_SECONDS * (requestsPerSecond ?? 0)));
  return {
    name,
    requestsPerSecond,
    burst: values.burst === undefined ? burst : parseCount(values.burst, "burst"),
    requestsPerMonth: limit("per-month", parseCount, before?.requestsPerMonth),
    maxImageBytes: limit("max-image-bytes", parseCount, before?.maxImageBytes),
  };
}

function formatPlans(plans: readonly Plan[]): string {
  const rows = plans.map(({ name, requestsPerSecond, burst, requestsPerMonth, maxImageBytes }) => [
    name,
    ...[requestsPerSecond, burst, requestsPerMonth, maxImageBytes].map((limit) => `${limit ?? "none"}`),
  ]);
  return formatTable(["plan", "per second", "burst", "per month", "max image bytes"], rows, ["plan"]).join(
    "\n",
  );
}

function createPlanReport({ name, requestsPerSecond, burst, requestsPerMonth, maxImageBytes }: Plan) {
  return {
    name,
    requests_per_second: requestsPerSecond ?? null,
    burst,
    requests_per_month: requestsPerMonth ?? null,
    max_image_bytes: maxImageBytes ?? null,
  };
}
