import { fromJson } from "@bufbuild/protobuf";
import type { Plan } from "../../gen/ts/visage/v1/account_pb.ts";
import { CreatePlanRequestSchema, UpdatePlanRequestSchema } from "../../gen/ts/visage/v1/admin_pb.ts";
import {
  fieldOfLimit,
  findLimitFault,
  INITIAL_PLANS,
  LIMIT_NAMES,
  type LimitName,
  PLAN_LIMITS,
} from "../plan-limits.ts";
import { ADMIN_HELP, ADMIN_OPTIONS, type Administration, administrate } from "./account-command.ts";
import {
  JSON_OPTION,
  parseArguments,
  parseCount,
  parseName,
  parsePermissions,
  parseRate,
} from "./arguments.ts";
import { type CommandContext, print, runSubcommand, UsageError } from "./command.ts";
import { formatTable } from "./format.ts";
import { PERMISSIONS_HELP } from "./permissions-help.ts";

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
       visage plans set NAME [--LIMIT N]... [--off LIST] [--create] [--json]
       visage plans remove NAME

A plan defines what its users may do. The initial plans are ${INITIAL_PLANS.join(", ")}.

  list     print all plans
  set      change the given limits of a plan, and what is switched off
  remove   remove a plan without users

${LIMITS_HELP}
  --off LIST            what is switched off; "none" switches everything on
  --create              add the plan if it does not exist; a new plan has only the given limits,
                        and a burst of two seconds of its rate
  --json                print JSON

N may be "${UNLIMITED}", except for --burst.

${PERMISSIONS_HELP}

${ADMIN_HELP}`;

/** Lists or changes plans. */
export function run(args: readonly string[], context: CommandContext): Promise<number> {
  return runSubcommand({ list, set, remove }, args, context);
}

const LIST_OPTIONS = { ...ADMIN_OPTIONS, ...JSON_OPTION } as const;

const LIMIT_OPTIONS = Object.fromEntries(
  LIMIT_NAMES.map((name) => [PLAN_LIMITS[name].option, { type: "string" }] as const),
);
const SET_OPTIONS = {
  off: { type: "string" },
  create: { type: "boolean", default: false },
  ...LIST_OPTIONS,
} as const;

async function list(args: readonly string[], context: CommandContext): Promise<void> {
  const [values] = parseArguments(args, LIST_OPTIONS);
  const plans = await administrate(context, values, listPlans);
  print(context, values.json ? JSON.stringify(plans.map(createPlanReport)) : formatPlans(plans));
}

async function set(args: readonly string[], context: CommandContext): Promise<void> {
  const [values, nameText] = parseArguments(args, { ...LIMIT_OPTIONS, ...SET_OPTIONS }, "NAME");
  const name = parseName(nameText);
  const limits = parseLimits(values);
  const off = values.off === undefined ? [] : parseOff(values.off);
  const plan = await administrate(context, values, async (administration) => {
    const { admin } = administration;
    const names = (await listPlans(administration)).map((plan) => plan.name);
    const given = { name, limits: limits.values, off: [...off] };
    if (names.includes(name)) {
      const changes = { ...given, unlimited: [...limits.unlimited] };
      return (await admin.updatePlan(fromJson(UpdatePlanRequestSchema, changes))).plan!;
    }
    if (!values.create) throw new Error(unknownPlanMessage(name, names));
    return (await admin.createPlan(fromJson(CreatePlanRequestSchema, given))).plan!;
  });
  print(context, values.json ? JSON.stringify(createPlanReport(plan)) : formatPlans([plan]));
}

async function remove(args: readonly string[], context: CommandContext): Promise<void> {
  const [values, name] = parseArguments(args, ADMIN_OPTIONS, "NAME");
  await administrate(context, values, ({ admin }) => admin.deletePlan({ name }));
  print(context, `Removed the plan ${name}.`);
}

async function listPlans({ admin }: Administration): Promise<Plan[]> {
  return (await admin.listPlans({})).plans.map(({ plan }) => plan!);
}

function unknownPlanMessage(name: string, names: readonly string[]): string {
  return `The plan "${name}" does not exist; add it by "--create", or use one of ${names.join(", ")}`;
}

/** Parses the given limits: their values, and the fields of those that are removed. */
function parseLimits(options: Readonly<Record<string, unknown>>) {
  const textOf = (name: LimitName) => String(options[PLAN_LIMITS[name].option]);
  const given = LIMIT_NAMES.filter((name) => PLAN_LIMITS[name].option in options);
  const removed = given.filter((name) => textOf(name) === UNLIMITED && !PLAN_LIMITS[name].isRequired);
  const kept = given.filter((name) => !removed.includes(name));
  return {
    values: Object.fromEntries(kept.map((name) => [name, parseLimit(name, textOf(name))])),
    unlimited: removed.map(fieldOfLimit),
  };
}

function parseOff(text: string): readonly string[] {
  return text === "none" ? [text] : parsePermissions(text, "off");
}

function parseLimit(name: LimitName, text: string): number {
  const { option, kind, mayBeZero } = PLAN_LIMITS[name];
  const value = kind === "rate" ? parseRate(text, option) : parseCount(text, option, mayBeZero ? 0 : 1);
  const fault = findLimitFault(name, value);
  if (fault !== undefined) throw new UsageError(`Option '--${option}' ${fault}`);
  return value;
}

/** Formats plans as a table. */
export function formatPlans(plans: readonly Plan[]): string {
  const header = ["plan", ...LIMIT_NAMES.map((name) => PLAN_LIMITS[name].option.replaceAll("-", " ")), "off"];
  const rows = plans.map((plan) => [
    plan.name,
    ...LIMIT_NAMES.map((name) => formatLimit(plan, name)),
    plan.off.join(",") || "-",
  ]);
  return formatTable(header, rows, ["plan", "off"]).join("\n");
}

function formatLimit(plan: Plan, name: LimitName): string {
  if (name === "burst" && plan.limits?.requestsPerSecond === undefined) return "-";
  return String(plan.limits?.[name] ?? UNLIMITED);
}

/** Creates the JSON of a plan. */
export function createPlanReport(plan: Plan) {
  const limits = LIMIT_NAMES.map((name) => [fieldOfLimit(name), reportLimit(plan, name)]);
  return { name: plan.name, ...Object.fromEntries(limits), off: plan.off };
}

/** Returns a limit of a plan for JSON. */
export function reportLimit(plan: Plan, name: LimitName): number | null {
  const limit = plan.limits?.[name];
  return limit === undefined ? null : Number(limit);
}
