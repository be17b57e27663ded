import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import { AccountError, type AccountStore, type User } from "../accounts/account-store.ts";
import {
  createUserId,
  fingerprintFromHash,
  hashUserId,
  isUserId,
  USER_ID_FORMAT,
} from "../accounts/user-id.ts";
import { currentMonth, findUser, STORE_HELP, withStore } from "./accounts.ts";
import { print, runAction, UsageError } from "./command.ts";
import { countFromText, dateFromText, nameFromText, takeArguments } from "./options.ts";
import { exportOf, tableOf, textOf, userReportOf } from "./user-report.ts";

const DEFAULT_PLAN = "trial";
const DAY_MS = 24 * 3_600_000;
/** The last that dates are written with four digits in. */
const LAST_YEAR = 9999;

/** What `visage users --help` prints. */
export const help = `Usage: visage users add --name NAME [--plan PLAN] [--id ID] [--start DATE] [--end DATE] [--json]
       visage users list [--json]
       visage users show USER [--json|--export]
       visage users set-plan USER PLAN
       visage users renew USER --until DATE|never | --days N
       visage users disable|enable USER
       visage users remove USER [--yes]

USER is the id of a user, its fingerprint (the first characters of the id's digest, as in the logs)
or its name.

  add        add a user and print its id, which is shown this once and not stored
  list       print all users
  show       print one user, its plan and what it has used this month
  set-plan   put a user on another plan
  renew      let a subscription last until a date, or so many days longer: from its end, or from now
             where that is past or it has none
  disable    refuse a user until it is enabled again
  remove     remove a user and all that is stored about it; asks first on a terminal

  --name NAME    any name that no other user has
  --plan PLAN    ${DEFAULT_PLAN} unless given; "visage plans list" prints all
  --id ID        take over an id that programs use already, instead of making one:
                 ${USER_ID_FORMAT}
  --start DATE   when the subscription begins, now unless given
  --end DATE     when it ends, never unless given
  --json         print JSON instead
  --export       print everything that is stored about the user, as JSON
  --yes          remove without asking

A DATE is a day such as 2026-01-31, which begins at midnight UTC, or a moment such as
2026-01-31T12:00:00Z.

${STORE_HELP}`;

/** Adds, lists, changes or removes users. */
export function run(args: readonly string[]): Promise<void> {
  const disable = (rest: readonly string[]) => setEnabled(rest, false);
  const enable = (rest: readonly string[]) => setEnabled(rest, true);
  return runAction({ add, list, show, "set-plan": setPlan, renew, disable, enable, remove }, args);
}

const JSON_OPTION = { json: { type: "boolean", default: false } } as const;

const ADD_OPTIONS = {
  ...JSON_OPTION,
  name: { type: "string" },
  plan: { type: "string", default: DEFAULT_PLAN },
  id: { type: "string" },
  start: { type: "string" },
  end: { type: "string" },
} as const;

const SHOW_OPTIONS = { ...JSON_OPTION, export: { type: "boolean", default: false } } as const;
const RENEW_OPTIONS = {
  until: { type: "string" },
  days: { type: "string" },
} as const;
const REMOVE_OPTIONS = { yes: { type: "boolean", default: false } } as const;

async function add(args: readonly string[]): Promise<void> {
  const {
    name,
    plan,
    id = createUserId(),
    start,
    end,
    json,
  } = parseArgs({ args, options: ADD_OPTIONS }).values;
  if (name === undefined) throw new UsageError("Option '--name' is needed");
  if (!isUserId(id)) throw new UsageError(`Option '--id' must be ${USER_ID_FORMAT}`);
  const startsAt = start === undefined ? new Date() : dateFromText(start, "start");
  const endsAt = end === undefined ? undefined : dateFromText(end, "end");
  if (endsAt && endsAt <= startsAt) throw new UsageError("The subscription must end after it starts");
  const idHash = hashUserId(id);
  const fingerprint = fingerprintFromHash(idHash);
  const user: User = { idHash, fingerprint, name: nameFromText(name), plan, startsAt, endsAt, enabled: true };
  await withStore((store) => store.addUser(user));
  if (json) print(JSON.stringify({ id, ...userReportOf(user) }));
  else print(`${textOf(user)}\n\nThis is the id, shown once and not stored:\n\n  ${id}\n`);
}

async function list(args: readonly string[]): Promise<void> {
  const { json } = parseArgs({ args, options: JSON_OPTION }).values;
  const users = await withStore((store) => store.listUsers());
  if (json) print(JSON.stringify(users.map(userReportOf)));
  else print(users.length > 0 ? tableOf(users) : "There are no users.");
}

async function show(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options: SHOW_OPTIONS, allowPositionals: true });
  const [text] = takeArguments(positionals, "USER");
  await withStore(async (store) => {
    const { idHash } = await findUser(store, text);
    const account = (await store.findAccount(idHash, currentMonth()))!;
    const { user, plan, usedThisMonth } = account;
    const quota = { used_this_month: usedThisMonth, requests_per_month: plan.requestsPerMonth ?? null };
    if (values.export) print(JSON.stringify(exportOf(user, await store.listUsage({ idHash })), undefined, 2));
    else if (values.json) print(JSON.stringify({ ...userReportOf(user), ...quota }));
    else print(textOf(user, account));
  });
}

async function setPlan(args: readonly string[]): Promise<void> {
  const { positionals } = parseArgs({ args, options: {}, allowPositionals: true });
  const [text, plan] = takeArguments(positionals, "USER", "PLAN");
  await updateUser(text, () => ({ plan }));
}

async function renew(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options: RENEW_OPTIONS, allowPositionals: true });
  const [text] = takeArguments(positionals, "USER");
  const { until, days } = values;
  if ((until === undefined) === (days === undefined))
    throw new UsageError("Either '--until' or '--days' must be given");
  const end = until === undefined || until === "never" ? undefined : dateFromText(until, "until");
  const more = days === undefined ? undefined : countFromText(days, "days");
  await updateUser(text, (user) => ({ endsAt: more === undefined ? end : laterEnd(user, more) }));
}

async function setEnabled(args: readonly string[], enabled: boolean): Promise<void> {
  const { positionals } = parseArgs({ args, options: {}, allowPositionals: true });
  const [text] = takeArguments(positionals, "USER");
  await updateUser(text, () => ({ enabled }));
}

async function remove(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options: REMOVE_OPTIONS, allowPositionals: true });
  const [text] = takeArguments(positionals, "USER");
  await withStore(async (store) => {
    const { idHash, name, fingerprint } = await findUser(store, text);
    if (!values.yes && !(await confirm(`Remove ${name} (${fingerprint}) and all its usage?`))) return;
    await store.removeUser(idHash);
    print(`Removed ${name} (${fingerprint}) and all its usage.`);
  });
}

/** Changes a user and prints what it is now. */
async function updateUser(
  text: string,
  change: (user: User) => Parameters<AccountStore["updateUser"]>[1],
): Promise<void> {
  const user = await withStore(async (store) => {
    const found = await findUser(store, text);
    return store.updateUser(found.idHash, change(found));
  });
  print(textOf(user));
}

function laterEnd({ endsAt }: User, days: number): Date {
  const end = new Date(Math.max(Date.now(), endsAt?.getTime() ?? 0) + days * DAY_MS);
  if (!(end.getUTCFullYear() <= LAST_YEAR))
    throw new AccountError(`A subscription cannot last beyond the year ${LAST_YEAR}`);
  return end;
}

/** Asks on a terminal; a script that calls has decided already. */
async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return true;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closing = once(terminal, "close").then(() => "no");
  const answer = await Promise.race([terminal.question(`${question} [y/N] `), closing]);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}
