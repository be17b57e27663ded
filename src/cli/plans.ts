import { AccountError, type Plan, type PlanChanges } from "../accounts/account-store.ts";
import { createPlan, isPlanRate, PLAN_RATES } from "../accounts/plan.ts";
import { STORE_HELP, withStore } from "./account-command.ts";
import { parseCount, parseName, parseOptions, parseRate, requirePositionals } from "./arguments.ts";
import { type CommandContext, print, runSubcommand, UsageError } from "./command.ts";
import { formatTable } from "./format.ts";

/** The text of a limit that does not apply. */
const UNLIMITED = "unlimited";

/** Output of `visage plans --help`. */
export const help = `Usage: visage plans list [--json]
       visage plans set NAME [--per-second N] [--burst N] [--per-month N] [--max-image-bytes N]
                             [--galleries N] [--gallery-faces N] [--create] [--json]
       visage plans remove NAME

A plan defines the limits of its users. The initial plans are trial, basic, pro and unlimited.

  list     print all plans
  set      change the given limits of a plan
  remove   remove a plan without users

  --per-second N        requests per second, such as 0.5 or 10; at least ${PLAN_RATES.min}
  --burst N             requests that may exceed the rate at once
  --per-month N         successful requests per calendar month (UTC)
  --max-image-bytes N   size limit of an encoded image, if less than VISAGE_MAX_IMAGE_BYTES
  --galleries N         galleries of a user
  --gallery-faces N     faces in one gallery
  --create              add the plan if it does not exist; a new plan has only the given limits,
                        and a burst of two seconds of its rate
  --json                print JSON

N may be "${UNLIMITED}", except for --burst.

${STORE_HELP}`;

/** Lists or changes plans. */
export function run(args: readonly string[], context: CommandContext): Promise<number> {
  return runSubcommand({ list, set, remove }, args, context);
}

const LIST_OPTIONS = { json: { type: "boolean", default: false } } as const;

const SET_OPTIONS = {
  "per-second": { type: "string" },
  burst: { type: "string" },
  "per-month": { type: "string" },
  "max-image-bytes": { type: "string" },
  galleries: { type: "string" },
  "gallery-faces": { type: "string" },
  create: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
} as const;

async function list(args: readonly string[], context: CommandContext): Promise<void> {
  const { json } = parseOptions({ args, options: LIST_OPTIONS }).values;
  const plans = await withStore(context, (store) => store.listPlans());
  print(context, json ? JSON.stringify(plans.map(createPlanReport)) : formatPlans(plans));
}

async function set(args: readonly string[], context: CommandContext): Promise<void> {
  const { values, positionals } = parseOptions({ args, options: SET_OPTIONS, allowPositionals: true });
  const name = parseName(requirePositionals(positionals, "NAME")[0]);
  const limits = parseLimits(values);
  const plan = await withStore(context, async (store) => {
    const plans = await store.listPlans();
    if (plans.some((known) => known.name === name)) return store.updatePlan(name, limits);
    if (!values.create) throw new AccountError(unknownPlanMessage(name, plans), "planNotFound");
    const created = createPlan(name, limits);
    await store.addPlan(created);
    return created;
  });
  print(context, values.json ? JSON.stringify(createPlanReport(plan)) : formatPlans([plan]));
}

async function remove(args: readonly string[], context: CommandContext): Promise<void> {
  const { positionals } = parseOptions({ args, options: {}, allowPositionals: true });
  const [name] = requirePositionals(positionals, "NAME");
  await withStore(context, (store) => store.removePlan(name));
  print(context, `Removed the plan ${name}.`);
}

function unknownPlanMessage(name: string, plans: readonly Plan[]): string {
  const names = plans.map((plan) => plan.name).join(", ");
  return `The plan "${name}" does not exist; add it by "--create", or use one of ${names}`;
}

type LimitOption = "per-second" | "burst" | "per-month" | "max-image-bytes" | "galleries" | "gallery-faces";

/** Parses the given limits. A limit that is not given is missing. */
function parseLimits(values: Readonly<Partial<Record<LimitOption, string>>>): PlanChanges {
  const { burst } = values;
  const limit = (option: keyof typeof values, key: keyof Plan, parse: typeof parseCount) => {
    const text = values[option];
    return text === undefined ? {} : { [key]: text === UNLIMITED ? undefined : parse(text, option) };
  };
  return {
    ...limit("per-second", "requestsPerSecond", parsePlanRate),
    ...(burst !== undefined && { burst: parseCount(burst, "burst") }),
    ...limit("per-month", "requestsPerMonth", parseCount),
    ...limit("max-image-bytes", "maxImageBytes", parseCount),
    ...limit("galleries", "maxGalleries", parseCount),
    ...limit("gallery-faces", "maxGalleryFaces", parseCount),
  };
}

function parsePlanRate(text: string, option: string): number {
  const rate = parseRate(text, option);
  if (!isPlanRate(rate)) throw new UsageError(`Option '--${option}' must be at least ${PLAN_RATES.min}`);
  return rate;
}

function formatPlans(plans: readonly Plan[]): string {
  const header = [
    "plan",
    "per second",
    "burst",
    "per month",
    "max image bytes",
    "galleries",
    "faces per gallery",
  ];
  const rows = plans.map((plan) => [
    plan.name,
    formatLimit(plan.requestsPerSecond),
    plan.requestsPerSecond === undefined ? "-" : `${plan.burst}`,
    formatLimit(plan.requestsPerMonth),
    formatLimit(plan.maxImageBytes),
    formatLimit(plan.maxGalleries),
    formatLimit(plan.maxGalleryFaces),
  ]);
  return formatTable(header, rows, ["plan"]).join("\n");
}

function formatLimit(limit: number | undefined): string {
  return limit === undefined ? UNLIMITED : `${limit}`;
}

function createPlanReport(plan: Plan) {
  return {
    name: plan.name,
    requests_per_second: plan.requestsPerSecond ?? null,
    burst: plan.burst,
    requests_per_month: plan.requestsPerMonth ?? null,
    max_image_bytes: plan.maxImageBytes ?? null,
    max_galleries: plan.maxGalleries ?? null,
    max_gallery_faces: plan.maxGalleryFaces ?? null,
  };
}
