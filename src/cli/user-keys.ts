import { AccountError, type AccountStore, type Key, type User } from "../accounts/account-store.ts";
import { hashKey } from "../accounts/key.ts";
import { GRACE_DAYS, isLive, rotateUserKey } from "../accounts/user-keys.ts";
import { withUser } from "./account-command.ts";
import { parseOptions, requirePositionals } from "./arguments.ts";
import { type CommandContext, print, UsageError } from "./command.ts";
import { formatTable } from "./format.ts";

/** The part of `visage users --help` on keys. */
export const KEYS_HELP = {
  usage: `       visage users keys USER [--json]
       visage users rotate USER [--grace DAYS] [--json]
       visage users revoke USER FINGERPRINT`,
  commands: `  keys       print the keys of a user: fingerprint, creation, expiry and last use
  rotate     add a key and print it once; the old key expires after the grace
  revoke     remove the key with this fingerprint, as "keys" prints it`,
  options: `  --grace DAYS   how long the old key stays valid; default: ${GRACE_DAYS.default}; 0 ends it at once`,
};

const JSON_OPTION = { json: { type: "boolean", default: false } } as const;
const ROTATE_OPTIONS = {
  ...JSON_OPTION,
  grace: { type: "string", default: String(GRACE_DAYS.default) },
} as const;
const COLUMNS = ["fingerprint", "created", "expires", "last used"];

/** Prints the keys of a user. */
export async function keys(args: readonly string[], context: CommandContext): Promise<void> {
  const { values, positionals } = parseOptions({ args, options: JSON_OPTION, allowPositionals: true });
  const [text] = requirePositionals(positionals, "USER");
  const found = await withUser(context, text, (store, { id }) => store.listKeys(id));
  if (values.json) print(context, JSON.stringify(found.map(createKeyReport)));
  else print(context, found.length > 0 ? formatKeys(found) : "The user has no keys.");
}

/** Adds a key and lets the others expire. */
export async function rotate(args: readonly string[], context: CommandContext): Promise<void> {
  const { values, positionals } = parseOptions({ args, options: ROTATE_OPTIONS, allowPositionals: true });
  const [text] = requirePositionals(positionals, "USER");
  const graceDays = parseGraceDays(values.grace);
  await withUser(context, text, async (store, { id, name }) => {
    const { key, keys: all } = await rotateUserKey(store, id, graceDays);
    const heading = `The new key of ${name}, shown only once and never stored:\n\n  ${key}`;
    const report = { key, keys: all.map(createKeyReport) };
    print(context, values.json ? JSON.stringify(report) : `${heading}\n\n${formatKeys(all)}`);
  });
}

/** Removes a key. */
export async function revoke(args: readonly string[], context: CommandContext): Promise<void> {
  const { positionals } = parseOptions({ args, options: {}, allowPositionals: true });
  const [text, fingerprint] = requirePositionals(positionals, "USER", "FINGERPRINT");
  await withUser(context, text, async (store, user) => {
    const key = await findKey(store, user, fingerprint);
    await store.removeKey(key.hash);
    const left = (await store.listKeys(user.id)).filter(isLive).length;
    const note = left === 0 ? `\n${user.name} has no other key. Add one with "visage users rotate".` : "";
    print(context, `Revoked the key ${key.fingerprint} of ${user.name}.${note}`);
  });
}

/** Creates the JSON of a key. */
export function createKeyReport({ fingerprint, createdAt, expiresAt, lastUsedAt }: Key) {
  return {
    fingerprint,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt?.toISOString() ?? null,
    last_used_at: lastUsedAt?.toISOString() ?? null,
  };
}

function formatKeys(all: readonly Key[]): string {
  const rows = all.map((key) => [
    key.fingerprint,
    formatTime(key.createdAt),
    key.expiresAt ? `${formatTime(key.expiresAt)}${isLive(key) ? "" : " (expired)"}` : "never",
    key.lastUsedAt ? formatTime(key.lastUsedAt) : "never",
  ]);
  return formatTable(COLUMNS, rows, COLUMNS).join("\n");
}

/** Formats a time to the minute, in UTC. */
function formatTime(date: Date): string {
  return `${date.toISOString().slice(0, "YYYY-MM-DDTHH:MM".length)}Z`;
}

/** Finds a key of a user by its fingerprint, or by the key itself. */
async function findKey(store: AccountStore, user: User, text: string): Promise<Key> {
  const hash = hashKey(text);
  const found = (await store.listKeys(user.id)).find((key) => key.fingerprint === text || key.hash === hash);
  // The message does not repeat the text, because it may be a key.
  if (!found)
    throw new AccountError(
      `${user.name} has no key with this fingerprint; "visage users keys" lists the keys`,
    );
  return found;
}

function parseGraceDays(text: string): number {
  if (!/^\d{1,4}$/.test(text) || Number(text) > GRACE_DAYS.max)
    throw new UsageError(
      `Option '--grace' must be a number of days from 0 to ${GRACE_DAYS.max}, not '${text}'`,
    );
  return Number(text);
}
