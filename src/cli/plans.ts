import { AccountError, type Plan } from "../accounts/account-store.ts";
import { createPlan } from "../accounts/plan.ts";
import {
  fieldOfLimit,
  findLimitFault,
  INITIAL_PLANS,
  LIMIT_NAMES,
  type LimitName,
  PLAN_LIMITS,
  type PlanLimits,
} from "../plan-limits.ts";
import { STORE_HELP, withStore } from "./account-command.ts";
import { parseCount, parseName, parseOptions, parseRate, requirePositionals } from "./arguments.ts";
import { type CommandContext, print, runSubcommand, UsageError } from "./command.ts";
import { formatTable } from "./format.ts";

/** The text of a limit that does not apply. */
const UNLIMITED = "unlimited";

/** The column of the options' descriptions in the help. */
const HELP_COLUMN = 24;

const LIMITS_HELP = LIMIT_NAMES.map((name) => {
  const { option, meaning } = PLAN_LIMITS[name];
  return `${`  --${option} N`.padEnd(HELP_COLUMN)}${meaning}`;
}).join("\n");

/** Output of `visage plans --help`. */
export const help = `Usage: visage plans list [--json]
       visage plans set NAME [--LIMIT N]... [--create] [--json]
       visage plans remove NAME

A plan defines the limits of its users. The initial plans are ${INITIAL_PLANS.join(", ")}.

  list     print all plans
  set      change the given limits of a plan
  remove   remove a plan without users

${LIMITS_HELP}
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

const LIMIT_OPTIONS = Object.fromEntries(
  LIMIT_NAMES.map((name) => [PLAN_LIMITS[name].option, { type: "string" }] as const),
);
const SET_OPTIONS = { create: { type: "boolean", default: false }, ...LIST_OPTIONS } as const;

async function list(args: readonly string[], context: CommandContext): Promise<void> {
  const { json } = parseOptions({ args, options: LIST_OPTIONS }).values;
  const plans = await withStore(context, (store) => store.listPlans());
  print(context, json ? JSON.stringify(plans.map(createPlanReport)) : formatPlans(plans));
}

async function set(args: readonly string[], context: CommandContext): Promise<void> {
  const { values, positionals } = parseOptions({
    args,
    options: { ...LIMIT_OPTIONS, ...SET_OPTIONS },
    allowPositionals: true,
  });
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

/** Parses the given limits. A limit that is not given is missing. */
function parseLimits(values: Readonly<Record<string, unknown>>): PlanLimits {
  const given = LIMIT_NAMES.filter((name) => PLAN_LIMITS[name].option in values);
  return Object.fromEntries(
    given.map((name) => [name, parseLimit(name, String(values[PLAN_LIMITS[name].option]))]),
  );
}

function parseLimit(name: LimitName, text: string): number | undefined {
  const { option, kind, isRequired } = PLAN_LIMITS[name];
  if (text === UNLIMITED && !isRequired) return undefined;
  const value = kind === "rate" ? parseRate(text, option) : parseCount(text, option);
  const fault = findLimitFault(name, value);
  if (fault !== undefined) throw new UsageError(`Option '--${option}' ${fault}`);
  return value;
}

function formatPlans(plans: readonly Plan[]): string {
  const header = ["plan", ...LIMIT_NAMES.map((name) => PLAN_LIMITS[name].option.replaceAll("-", " "))];
  const rows = plans.map((plan) => [plan.name, ...LIMIT_NAMES.map((name) => formatLimit(plan, name))]);
  return formatTable(header, rows, ["plan"]).join("\n");
}

function formatLimit(plan: Plan, name: LimitName): string {
  if (name === "burst" && plan.requestsPerSecond === undefined) return "-";
  return String(plan[name] ?? UNLIMITED);
}

function createPlanReport(plan: Plan) {
  const limits = LIMIT_NAMES.map((name) => [fieldOfLimit(name), plan[name] ?? null]);
  return { name: plan.name, ...Object.fromEntries(limits) };
}
