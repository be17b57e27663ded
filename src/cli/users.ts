import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  CreateUserRequestSchema,
  type UpdateUserRequestSchema,
  type User,
} from "../../gen/ts/visage/v1/admin_pb.ts";
import { isKey, KEY_FORMAT } from "../accounts/key.ts";
import { DEFAULT_PLAN, isSubscriptionPeriod, MAX_EXTENSION_DAYS } from "../accounts/users.ts";
import {
  ADMIN_HELP,
  ADMIN_OPTIONS,
  type Administration,
  type AdminValues,
  administrate,
  getPlan,
  requireStore,
  type UserAdministration,
  withUser,
} from "./account-command.ts";
import { JSON_OPTION, parseArguments, parseCount, parseDate, parseName } from "./arguments.ts";
import { type CommandContext, print, runSubcommand, UsageError } from "./command.ts";
import { confirm } from "./confirm.ts";
import { formatQuota } from "./format.ts";
import { PERMISSIONS_HELP } from "./permissions-help.ts";
import { reportLimit } from "./plans.ts";
import { writeUserExport } from "./user-export.ts";
import { addKey, GRACE_HELP, KEYS_HELP, keys, NEW_KEY_HELP, revoke, rotate } from "./user-keys.ts";
import { createUserReport, formatUser, formatUsers } from "./user-report.ts";

/** Output of `visage users --help`. */
export const help = `Usage: visage users add --name NAME [--plan PLAN] [--key KEY] [--start DATE] [--end DATE]
                        [--certificate-subject NAME] [--init] [--json]
       visage users list [--json]
       visage users show USER [--json|--export [--output FILE] [--force]]
       visage users set-plan USER PLAN
       visage users renew USER --until DATE|never | --days N
       visage users disable|enable USER
${KEYS_HELP.usage}
       visage users set-certificate USER NAME|none
       visage users remove USER [--yes]

USER is the name of a user, its fingerprint (the first characters of its internal id, as in the
logs) or, with a database, one of its keys.

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

  --name NAME    a unique name; for "add-key", what the key is for
  --plan PLAN    default: ${DEFAULT_PLAN}; "visage plans list" prints all plans
  --key KEY      use an existing key instead of a generated one:
                 ${KEY_FORMAT}
  --start DATE   start of the subscription; default: now
  --end DATE     end of the subscription; default: never
  --certificate-subject NAME
                 common name in the client certificates of the user
${GRACE_HELP}
${NEW_KEY_HELP}
  --days N       for "add-key", in how many days the new key expires; default: never
  --init         create the account database if it does not exist; no other account command does
  --json         print JSON
  --export       print everything that is stored about the user, as JSON: keys (without their
                 hashes), usage, galleries, people and faces with their templates. This is
                 biometric data
  --output FILE  write the export to a file that only you can read
  --force        replace FILE if it exists
  --yes          remove without confirmation

DATE is a date such as 2026-01-31 (midnight UTC) or a timestamp such as 2026-01-31T12:00:00Z.

${PERMISSIONS_HELP}

${ADMIN_HELP}`;

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
    "add-key": addKey,
    rotate,
    revoke,
    "set-certificate": setCertificate,
    remove,
  };
  return runSubcommand(subcommands, args, context);
}

/** Users in one call. */
const PAGE_SIZE = 1_000;

const LIST_OPTIONS = { ...ADMIN_OPTIONS, ...JSON_OPTION } as const;
const ADD_OPTIONS = {
  ...LIST_OPTIONS,
  name: { type: "string" },
  plan: { type: "string", default: DEFAULT_PLAN },
  key: { type: "string" },
  "certificate-subject": { type: "string" },
  start: { type: "string" },
  end: { type: "string" },
  init: { type: "boolean", default: false },
} as const;

const SHOW_OPTIONS = {
  ...LIST_OPTIONS,
  export: { type: "boolean", default: false },
  output: { type: "string" },
  force: { type: "boolean", default: false },
} as const;
const RENEW_OPTIONS = { ...ADMIN_OPTIONS, until: { type: "string" }, days: { type: "string" } } as const;
const REMOVE_OPTIONS = { ...ADMIN_OPTIONS, yes: { type: "boolean", default: false } } as const;

async function add(args: readonly string[], context: CommandContext): Promise<void> {
  const [values] = parseArguments(args, ADD_OPTIONS);
  const { name, plan, key: givenKey, start, end, init, json, "certificate-subject": subject } = values;
  if (name === undefined) throw new UsageError("Option '--name' is required");
  if (givenKey !== undefined && !isKey(givenKey))
    throw new UsageError(`Option '--key' must be ${KEY_FORMAT}`);
  const startsAt = start === undefined ? new Date() : parseDate(start, "start");
  const endsAt = end === undefined ? undefined : parseDate(end, "end");
  if (!isSubscriptionPeriod(startsAt, endsAt))
    throw new UsageError("The subscription must end after it starts");
  const request = create(CreateUserRequestSchema, {
    name: parseName(name),
    plan,
    startTime: timestampFromDate(startsAt),
    ...(endsAt && { endTime: timestampFromDate(endsAt) }),
    ...(subject !== undefined && { certificateSubject: parseName(subject) }),
  });
  const add = async (administration: Administration) => {
    if (init) requireStore(administration, "init");
    if (givenKey !== undefined) requireStore(administration, "key");
    return administration.admin.createUser(request);
  };
  const { user, key } = await administrate(context, values, add, { mustExist: !init, userKey: givenKey });
  if (json) print(context, JSON.stringify({ key, ...createUserReport(user!) }));
  else print(context, `${formatUser(user!)}\n\nThe key, shown only once and never stored:\n\n  ${key}\n`);
}

async function list(args: readonly string[], context: CommandContext): Promise<void> {
  const [values] = parseArguments(args, LIST_OPTIONS);
  const users = await administrate(context, values, listUsers);
  if (values.json) print(context, JSON.stringify(users.map(createUserReport)));
  else print(context, users.length > 0 ? formatUsers(users) : "There are no users.");
}

async function listUsers({ admin }: Administration): Promise<User[]> {
  const users: User[] = [];
  let pageToken = "";
  do {
    const page = await admin.listUsers({ pageSize: PAGE_SIZE, pageToken });
    users.push(...page.users);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return users;
}

async function show(args: readonly string[], context: CommandContext): Promise<void> {
  const [values, text] = parseArguments(args, SHOW_OPTIONS, "USER");
  const { output, force } = values;
  if (output !== undefined && !values.export) throw new UsageError("Option '--output' requires '--export'");
  if (force && output === undefined) throw new UsageError("Option '--force' requires '--output'");
  await withUser(context, values, text, async (administration) => {
    const { user } = administration;
    if (values.export) {
      const accounts = requireStore(administration, "export");
      return writeUserExport(user, accounts, values, context);
    }
    const plan = await getPlan(administration, user.plan);
    const used = Number(user.usedThisMonth);
    const quota = { used_this_month: used, requests_per_month: reportLimit(plan, "requestsPerMonth") };
    const report = { ...createUserReport(user), ...quota };
    print(context, values.json ? JSON.stringify(report) : formatUser(user, formatQuota(plan, used)));
  });
}

async function setPlan(args: readonly string[], context: CommandContext): Promise<void> {
  const [values, text, plan] = parseArguments(args, ADMIN_OPTIONS, "USER", "PLAN");
  await updateUser(context, values, text, { plan });
}

async function renew(args: readonly string[], context: CommandContext): Promise<void> {
  const [values, text] = parseArguments(args, RENEW_OPTIONS, "USER");
  const { until, days } = values;
  if ((until === undefined) === (days === undefined))
    throw new UsageError("Either '--until' or '--days' is required");
  if (days !== undefined) await updateUser(context, values, text, { extendDays: parseExtension(days) });
  else if (until === "never") await updateUser(context, values, text, { withoutEnd: true });
  else await updateUser(context, values, text, { endTime: timestampFromDate(parseDate(until!, "until")) });
}

async function setEnabled(args: readonly string[], context: CommandContext, enabled: boolean): Promise<void> {
  const [values, text] = parseArguments(args, ADMIN_OPTIONS, "USER");
  await updateUser(context, values, text, { enabled });
}

async function setCertificate(args: readonly string[], context: CommandContext): Promise<void> {
  const [values, text, subject] = parseArguments(args, ADMIN_OPTIONS, "USER", "NAME");
  const certificateSubject = subject === "none" ? "" : parseName(subject);
  await updateUser(context, values, text, { certificateSubject });
}

async function remove(args: readonly string[], context: CommandContext): Promise<void> {
  const [values, text] = parseArguments(args, REMOVE_OPTIONS, "USER");
  const onErasureDelay = (cause: unknown) =>
    context.stderr.write(
      `The faces of the user are deleted, but not yet erased from the file (${(cause as Error).message}) Waiting. If you stop this command, the next start of the service erases them.\n`,
    );
  const work = async ({ admin, store, user: { userId, name, fingerprint } }: UserAdministration) => {
    const isAsked = !values.yes && context.stdin.isTTY;
    if (isAsked && !(await confirm(context, `Remove ${name} (${fingerprint}) and all its usage?`))) return;
    await admin.deleteUser({ user: userId });
    print(context, `Removed ${name} (${fingerprint}) and all its usage.`);
    await store?.waitForErasure(Number.POSITIVE_INFINITY);
  };
  await withUser(context, values, text, work, { mustExist: true, onErasureDelay });
}

/** Updates a user and prints the result. */
async function updateUser(
  context: CommandContext,
  values: AdminValues,
  text: string,
  changes: MessageInitShape<typeof UpdateUserRequestSchema>,
): Promise<void> {
  const updated = await withUser(context, values, text, ({ admin, user: { userId } }) =>
    admin.updateUser({ ...changes, user: userId }),
  );
  print(context, formatUser(updated.user!));
}

function parseExtension(text: string): number {
  const days = parseCount(text, "days");
  if (days > MAX_EXTENSION_DAYS) throw new UsageError(`Option '--days' must be 1 to ${MAX_EXTENSION_DAYS}`);
  return days;
}
