import { AccountError, type AccountStore, type User, type UserChange } from "../accounts/account-store.ts";
import { isKey, KEY_FORMAT } from "../accounts/key.ts";
import { currentMonth } from "../accounts/month-clock.ts";
import {
  createUser,
  DEFAULT_PLAN,
  extendSubscription,
  isSubscriptionPeriod,
  isSubscriptionTime,
  MAX_EXTENSION_DAYS,
  MAX_SUBSCRIPTION_YEAR,
} from "../accounts/users.ts";
import { STORE_HELP, withStore, withUser } from "./account-command.ts";
import { parseCount, parseDate, parseName, parseOptions, requirePositionals } from "./arguments.ts";
import { type CommandContext, print, runSubcommand, UsageError } from "./command.ts";
import { confirm } from "./confirm.ts";
import { KEYS_HELP, keys, revoke, rotate } from "./user-keys.ts";
import { createUserExport, createUserReport, formatUser, formatUsers } from "./user-report.ts";

/** Output of `visage users --help`. */
export const help = `Usage: visage users add --name NAME [--plan PLAN] [--key KEY] [--start DATE] [--end DATE]
                        [--certificate-subject NAME] [--init] [--json]
       visage users list [--json]
       visage users show USER [--json|--export]
       visage users set-plan USER PLAN
       visage users renew USER --until DATE|never | --days N
       visage users disable|enable USER
${KEYS_HELP.usage}
       visage users set-certificate USER NAME|none
       visage users remove USER [--yes]

USER is the name of a user, its fingerprint (the first characters of its internal id, as in the
logs) or one of its keys.

  add        add a user and print its key, which is shown only once and never stored
  list       print all users
  show       print a user with its plan and its usage of this month
  set-plan   change the plan of a user
  renew      extend a subscription to a date, or by a number of days from its end; from now if it
             has ended or has no end
  disable    reject the requests of a user until it is enabled again
${KEYS_HELP.commands}
  set-certificate
             let client certificates with this common name identify the user; see
             VISAGE_TLS_CLIENT_CA
  remove     remove a user, its keys, usage and galleries; asks for confirmation on a
             terminal

  --name NAME    a unique name
  --plan PLAN    default: ${DEFAULT_PLAN}; "visage plans list" prints all plans
  --key KEY      use an existing key instead of a generated one:
                 ${KEY_FORMAT}
  --start DATE   start of the subscription; default: now
  --end DATE     end of the subscription; default: never
  --certificate-subject NAME
                 common name in the client certificates of the user
${KEYS_HELP.options}
  --init         create the account database if it does not exist; no other account command does
  --json         print JSON
  --export       print everything that is stored about the user, as JSON
  --yes          remove without confirmation

DATE is a date such as 2026-01-31 (midnight UTC) or a timestamp such as 2026-01-31T12:00:00Z.

${STORE_HELP}`;

/** Adds, lists, changes or removes users. */
export function run(args: readonly string[], context: CommandContext): Promise<number> {
  const subcommands = {
    add,
    list,
    show,
    "set-plan": setPlan,
    renew,
    disable: () => setEnabled(args.slice(1), context, false),
    enable: () => setEnabled(args.slice(1), context, true),
    keys,
    rotate,
    revoke,
    "set-certificate": setCertificate,
    remove,
  };
  return runSubcommand(subcommands, args, context);
}

const JSON_OPTION = { json: { type: "boolean", default: false } } as const;

const ADD_OPTIONS = {
  ...JSON_OPTION,
  name: { type: "string" },
  plan: { type: "string", default: DEFAULT_PLAN },
  key: { type: "string" },
  "certificate-subject": { type: "string" },
  start: { type: "string" },
  end: { type: "string" },
  init: { type: "boolean", default: false },
} as const;

const SHOW_OPTIONS = { ...JSON_OPTION, export: { type: "boolean", default: false } } as const;
const RENEW_OPTIONS = {
  until: { type: "string" },
  days: { type: "string" },
} as const;
const REMOVE_OPTIONS = { yes: { type: "boolean", default: false } } as const;

async function add(args: readonly string[], context: CommandContext): Promise<void> {
  const { values } = parseOptions({ args, options: ADD_OPTIONS });
  const { name, plan, key: givenKey, start, end, init, json, "certificate-subject": subject } = values;
  if (name === undefined) throw new UsageError("Option '--name' is required");
  if (givenKey !== undefined && !isKey(givenKey))
    throw new UsageError(`Option '--key' must be ${KEY_FORMAT}`);
  const startsAt = start === undefined ? new Date() : parseDate(start, "start");
  const endsAt = end === undefined ? undefined : parseDate(end, "end");
  if (!isSubscriptionPeriod(startsAt, endsAt))
    throw new UsageError("The subscription must end after it starts");
  const newUser = {
    key: givenKey,
    name: parseName(name),
    plan,
    startsAt,
    endsAt,
    certificateSubject: subject === undefined ? undefined : parseName(subject),
  };
  const { user, key } = await withStore(context, (store) => createUser(store, newUser), { mustExist: !init });
  if (json) print(context, JSON.stringify({ key, ...createUserReport(user) }));
  else print(context, `${formatUser(user)}\n\nThe key, shown only once and never stored:\n\n  ${key}\n`);
}

async function list(args: readonly string[], context: CommandContext): Promise<void> {
  const { json } = parseOptions({ args, options: JSON_OPTION }).values;
  const users = await withStore(context, (store) => store.listUsers());
  if (json) print(context, JSON.stringify(users.map(createUserReport)));
  else print(context, users.length > 0 ? formatUsers(users) : "There are no users.");
}

async function show(args: readonly string[], context: CommandContext): Promise<void> {
  const { values, positionals } = parseOptions({ args, options: SHOW_OPTIONS, allowPositionals: true });
  const [text] = requirePositionals(positionals, "USER");
  await withUser(context, text, async (store, { id: userId }) => {
    const account = (await store.findAccount({ userId }, currentMonth()))!;
    const { user, plan, usedThisMonth } = account;
    const quota = { used_this_month: usedThisMonth, requests_per_month: plan.requestsPerMonth ?? null };
    if (values.export) {
      const keys = await store.listKeys(userId);
      const exported = createUserExport(user, keys, await store.listUsage({ userId }));
      print(context, JSON.stringify(exported, undefined, 2));
    } else if (values.json) print(context, JSON.stringify({ ...createUserReport(user), ...quota }));
    else print(context, formatUser(user, account));
  });
}

async function setPlan(args: readonly string[], context: CommandContext): Promise<void> {
  const { positionals } = parseOptions({ args, options: {}, allowPositionals: true });
  const [text, plan] = requirePositionals(positionals, "USER", "PLAN");
  await updateUser(context, text, () => ({ plan }));
}

async function renew(args: readonly string[], context: CommandContext): Promise<void> {
  const { values, positionals } = parseOptions({ args, options: RENEW_OPTIONS, allowPositionals: true });
  const [text] = requirePositionals(positionals, "USER");
  const { until, days } = values;
  if ((until === undefined) === (days === undefined))
    throw new UsageError("Either '--until' or '--days' is required");
  const end = until === undefined || until === "never" ? undefined : parseDate(until, "until");
  const extraDays = days === undefined ? undefined : parseExtension(days);
  await updateUser(context, text, (user) => ({
    endsAt: extraDays === undefined ? end : requireTime(extendSubscription(user, extraDays)),
  }));
}

async function setEnabled(args: readonly string[], context: CommandContext, enabled: boolean): Promise<void> {
  const { positionals } = parseOptions({ args, options: {}, allowPositionals: true });
  const [text] = requirePositionals(positionals, "USER");
  await updateUser(context, text, () => ({ enabled }));
}

async function setCertificate(args: readonly string[], context: CommandContext): Promise<void> {
  const { positionals } = parseOptions({ args, options: {}, allowPositionals: true });
  const [text, subject] = requirePositionals(positionals, "USER", "NAME");
  const certificateSubject = subject === "none" ? undefined : parseName(subject);
  await updateUser(context, text, () => ({ certificateSubject }));
}

async function remove(args: readonly string[], context: CommandContext): Promise<void> {
  const { values, positionals } = parseOptions({ args, options: REMOVE_OPTIONS, allowPositionals: true });
  const [text] = requirePositionals(positionals, "USER");
  const onErasureDelay = (cause: unknown) =>
    context.stderr.write(
      `The faces of the user are deleted, but not yet erased from the file (${(cause as Error).message}) Waiting. If you stop this command, the next start of the service erases them.\n`,
    );
  const work = async (store: AccountStore, { id, name, fingerprint }: User) => {
    const isAsked = !values.yes && context.stdin.isTTY;
    if (isAsked && !(await confirm(context, `Remove ${name} (${fingerprint}) and all its usage?`))) return;
    await store.removeUser(id);
    print(context, `Removed ${name} (${fingerprint}) and all its usage.`);
    await store.waitForErasure(Number.POSITIVE_INFINITY);
  };
  await withUser(context, text, work, { mustExist: true, onErasureDelay });
}

/** Updates a user and prints the result. */
async function updateUser(context: CommandContext, text: string, change: UserChange): Promise<void> {
  const user = await withUser(context, text, (store, { id }) => store.updateUser(id, change));
  print(context, formatUser(user));
}

function requireTime(end: Date): Date {
  if (!isSubscriptionTime(end))
    throw new AccountError(`A subscription cannot last beyond the year ${MAX_SUBSCRIPTION_YEAR}`);
  return end;
}

function parseExtension(text: string): number {
  const days = parseCount(text, "days");
  if (days > MAX_EXTENSION_DAYS) throw new UsageError(`Option '--days' must be 1 to ${MAX_EXTENSION_DAYS}`);
  return days;
}
