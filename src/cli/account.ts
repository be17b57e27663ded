import type { GetAccountResponse } from "../../gen/ts/visage/v1/account_pb.ts";
import { JSON_OPTION, parseArguments } from "./arguments.ts";
import { type CommandContext, print, runSubcommand } from "./command.ts";
import { formatQuota } from "./format.ts";
import { PERMISSIONS_HELP } from "./permissions-help.ts";
import { createPlanReport, formatPlans } from "./plans.ts";
import { SERVER_OPTIONS } from "./server-options.ts";
import { SERVER_HELP, withClient } from "./service-client.ts";
import { printUsage, USAGE_HELP, USAGE_OPTIONS } from "./usage.ts";
import {
  createKeyReport,
  formatKeys,
  GRACE_HELP,
  GRACE_OPTION,
  NEW_KEY_HELP,
  NEW_KEY_OPTIONS,
  parseGraceDays,
  parseNewKey,
  printCreatedKey,
} from "./user-keys.ts";
import { createSubscriptionReport, formatState, formatUser } from "./user-report.ts";

/** Output of `visage account --help`. */
export const help = `Usage: visage account show [--json]
       visage account usage [--month YYYY-MM] [--by-day] [--by-key] [--json]
       visage account add-key [--name NAME] [--scopes LIST] [--gallery ID]... [--days N] [--json]
       visage account rotate [FINGERPRINT] [--grace DAYS] [--json]
       visage account revoke FINGERPRINT

Shows and changes the account in a running service to which the key belongs.

  show     print the plan, the subscription, the quota of this month and the keys; * marks the key
           that the command itself uses
  usage    print the number of requests of a month by operation and outcome
  add-key  add a key and print it once
  rotate   replace the key that the command uses, or another one, by a new one with the same name,
           scopes, galleries and expiry, and print it once; the old key expires after the grace
  revoke   remove the key with this fingerprint, as "show" prints it, unless * marks it

${USAGE_HELP}
${GRACE_HELP}
  --name NAME    what a new key is for
${NEW_KEY_HELP}
  --days N       in how many days a new key expires; default: as the key that the command uses
  --json         print JSON
${SERVER_HELP}
${PERMISSIONS_HELP}
`;

/** Shows and changes the account of the caller. */
export function run(args: readonly string[], context: CommandContext): Promise<number> {
  return runSubcommand({ show, usage, "add-key": addKey, rotate, revoke }, args, context);
}

const SHOW_OPTIONS = { ...SERVER_OPTIONS, ...JSON_OPTION } as const;
const MONTH_OPTIONS = { ...SERVER_OPTIONS, ...USAGE_OPTIONS } as const;
const ADD_OPTIONS = { ...SHOW_OPTIONS, ...NEW_KEY_OPTIONS } as const;
const ROTATE_OPTIONS = { ...SHOW_OPTIONS, ...GRACE_OPTION } as const;

async function show(args: readonly string[], context: CommandContext): Promise<void> {
  const [values] = parseArguments(args, SHOW_OPTIONS);
  const found = await withClient(context, values, {}, ({ account }) => account.getAccount());
  print(context, values.json ? JSON.stringify(createAccountReport(found)) : formatAccount(found));
}

async function usage(args: readonly string[], context: CommandContext): Promise<void> {
  const [values] = parseArguments(args, MONTH_OPTIONS);
  await printUsage(context, values, (request) =>
    withClient(context, values, {}, async ({ account }) => {
      const { name, fingerprint, plan } = await account.getAccount();
      const { counts } = await account.getUsage(request);
      return { counts, owner: { name, fingerprint, plan: plan! } };
    }),
  );
}

async function addKey(args: readonly string[], context: CommandContext): Promise<void> {
  const [values] = parseArguments(args, ADD_OPTIONS);
  const request = parseNewKey(values);
  await withClient(context, values, {}, async ({ account }) => {
    const { name } = await account.getAccount();
    printCreatedKey(context, name, await account.createKey(request), values.json);
  });
}

async function rotate(args: readonly string[], context: CommandContext): Promise<void> {
  const [values, fingerprint] = parseArguments(args, ROTATE_OPTIONS, "[FINGERPRINT]");
  const graceDays = parseGraceDays(values.grace);
  await withClient(context, values, {}, async ({ account }) => {
    const { name, keys } = await account.getAccount();
    const replaces = fingerprint ?? keys.find(({ current }) => current)?.fingerprint ?? "";
    printCreatedKey(context, name, await account.createKey({ replaces, graceDays }), values.json);
  });
}

async function revoke(args: readonly string[], context: CommandContext): Promise<void> {
  const [values, fingerprint] = parseArguments(args, SERVER_OPTIONS, "FINGERPRINT");
  await withClient(context, values, {}, ({ account }) => account.deleteKey({ fingerprint }));
  print(context, `Revoked the key ${fingerprint}.`);
}

function formatAccount(account: GetAccountResponse): string {
  const { plan, quota, keys } = account;
  const user = formatUser({ ...account, plan: plan!.name }, formatQuota(plan!, Number(quota!.used)));
  return [user, formatPlans([plan!]), formatKeys(keys)].join("\n\n");
}

function createAccountReport({ name, fingerprint, plan, subscription, quota, keys }: GetAccountResponse) {
  const { name: planName, ...limits } = createPlanReport(plan!);
  return {
    name,
    plan: planName,
    fingerprint,
    ...createSubscriptionReport(subscription!),
    state: formatState(subscription!),
    used_this_month: Number(quota!.used),
    limits,
    keys: keys.map((key) => ({ ...createKeyReport(key), current: key.current })),
  };
}
