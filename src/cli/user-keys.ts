import type { CreateKeyResponse, Key } from "../../gen/ts/visage/v1/account_pb.ts";
import { fingerprintOf, hashKey } from "../accounts/key.ts";
import { GRACE_DAYS } from "../accounts/user-keys.ts";
import { ADMIN_OPTIONS, withUser } from "./account-command.ts";
import { JSON_OPTION, parseOptions, requirePositionals } from "./arguments.ts";
import { type CommandContext, print, UsageError } from "./command.ts";
import { formatTable } from "./format.ts";
import { isoTime } from "./user-report.ts";

/** The part of `visage users --help` on keys. */
export const KEYS_HELP = {
  usage: `       visage users keys USER [--json]
       visage users rotate USER [--grace DAYS] [--json]
       visage users revoke USER FINGERPRINT`,
  commands: `  keys       print the keys of a user: fingerprint, creation, expiry and last use
  rotate     add a key and print it once; the old key expires after the grace
  revoke     remove the key with this fingerprint, as "keys" prints it`,
};

/** Help text on the option of a rotation. */
export const GRACE_HELP = `  --grace DAYS   how long the old key stays valid; default: ${GRACE_DAYS.default}; 0 ends it at once`;

/** The option of a rotation. */
export const GRACE_OPTION = { grace: { type: "string", default: String(GRACE_DAYS.default) } } as const;

const KEYS_OPTIONS = { ...ADMIN_OPTIONS, ...JSON_OPTION } as const;
const ROTATE_OPTIONS = { ...KEYS_OPTIONS, ...GRACE_OPTION } as const;
const COLUMNS = ["fingerprint", "created", "expires", "last used"];

/** Prints the keys of a user. */
export async function keys(args: readonly string[], context: CommandContext): Promise<void> {
  const { values, positionals } = parseOptions({ args, options: KEYS_OPTIONS, allowPositionals: true });
  const [text] = requirePositionals(positionals, "USER");
  const found = await withUser(context, values, text, async ({ keys }) => keys);
  if (values.json) print(context, JSON.stringify(found.map(createKeyReport)));
  else print(context, found.length > 0 ? formatKeys(found) : "The user has no keys.");
}

/** Adds a key and lets the others expire. */
export async function rotate(args: readonly string[], context: CommandContext): Promise<void> {
  const { values, positionals } = parseOptions({ args, options: ROTATE_OPTIONS, allowPositionals: true });
  const [text] = requirePositionals(positionals, "USER");
  const graceDays = parseGraceDays(values.grace);
  await withUser(context, values, text, async ({ admin, user: { userId, name } }) =>
    printCreatedKey(context, name, await admin.createUserKey({ user: userId, graceDays }), values.json),
  );
}

/** Removes a key. */
export async function revoke(args: readonly string[], context: CommandContext): Promise<void> {
  const { values, positionals } = parseOptions({ args, options: ADMIN_OPTIONS, allowPositionals: true });
  const [text, keyText] = requirePositionals(positionals, "USER", "FINGERPRINT");
  await withUser(context, values, text, async ({ admin, user: { userId, name }, keys }) => {
    // The key itself is accepted, too. The message does not repeat it.
    const accepted = [keyText, fingerprintOf(hashKey(keyText))];
    const fingerprint = keys.find((key) => accepted.includes(key.fingerprint))?.fingerprint;
    if (fingerprint === undefined)
      throw new Error(`${name} has no key with this fingerprint; "visage users keys" lists the keys`);
    await admin.deleteUserKey({ user: userId, fingerprint });
    const note = keys.length === 1 ? `\n${name} has no other key. Add one with "visage users rotate".` : "";
    print(context, `Revoked the key ${fingerprint} of ${name}.${note}`);
  });
}

/** Prints a key that was created for a user, with all its keys. */
export function printCreatedKey(
  context: CommandContext,
  name: string,
  { key, keys: all }: Pick<CreateKeyResponse, "key" | "keys">,
  isJson: boolean,
): void {
  const heading = `The new key of ${name}, shown only once and never stored:\n\n  ${key}`;
  const report = { key, keys: all.map(createKeyReport) };
  print(context, isJson ? JSON.stringify(report) : `${heading}\n\n${formatKeys(all)}`);
}

/** Creates the JSON of a key. */
export function createKeyReport({ fingerprint, createTime, expireTime, lastUseTime }: Key) {
  return {
    fingerprint,
    created_at: isoTime(createTime!),
    expires_at: expireTime ? isoTime(expireTime) : null,
    last_used_at: lastUseTime ? isoTime(lastUseTime) : null,
  };
}

/** Formats keys as a table, with times to the minute in UTC, and marks the one of the request. */
export function formatKeys(all: readonly Key[]): string {
  const minuteOf = (time: string | null) => (time ? `${time.slice(0, "YYYY-MM-DDTHH:MM".length)}Z` : "never");
  const rows = all.map((key) => {
    const { fingerprint, created_at, expires_at, last_used_at } = createKeyReport(key);
    const times = [created_at, expires_at, last_used_at].map(minuteOf);
    return [key.current ? `${fingerprint} *` : fingerprint, ...times];
  });
  return formatTable(COLUMNS, rows, COLUMNS).join("\n");
}

/** Parses how long the other keys stay valid after a rotation. */
export function parseGraceDays(text: string): number {
  if (!/^\d{1,4}$/.test(text) || Number(text) > GRACE_DAYS.max)
    throw new UsageError(
      `Option '--grace' must be a number of days from 0 to ${GRACE_DAYS.max}, not '${text}'`,
    );
  return Number(text);
}
