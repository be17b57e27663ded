import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { CreateKeyResponse, Key } from "../../gen/ts/visage/v1/account_pb.ts";
import { fingerprintOf, hashKey } from "../accounts/key.ts";
import { GRACE_DAYS, MAX_KEY_GALLERIES } from "../accounts/user-keys.ts";
import { ADMIN_OPTIONS, withUser } from "./account-command.ts";
import { JSON_OPTION, parseArguments, parseCount, parseName, parsePermissions } from "./arguments.ts";
import { type CommandContext, print, UsageError } from "./command.ts";
import { formatTable } from "./format.ts";
import { isoTime } from "./user-report.ts";

const DAY_MS = 86_400_000;

/** The part of `visage users --help` on keys. */
export const KEYS_HELP = {
  usage: `       visage users keys USER [--json]
       visage users add-key USER [--name NAME] [--scopes LIST] [--gallery ID]... [--days N]
                        [--json]
       visage users rotate USER [FINGERPRINT] [--grace DAYS] [--json]
       visage users revoke USER FINGERPRINT`,
  commands: `  keys       print the keys of a user: fingerprint, name, scopes, galleries, creation, expiry and
             last use
  add-key    add a key and print it once
  rotate     replace a key by a new one with the same name, scopes, galleries and expiry, and print
             it once; the old key expires after the grace. FINGERPRINT may be left out if the user
             has one key
  revoke     remove the key with this fingerprint, as "keys" prints it`,
};

/** Help text on the option of a rotation. */
export const GRACE_HELP = `  --grace DAYS   how long the old key stays valid; default: ${GRACE_DAYS.default}; 0 ends it at once`;

/** Help text on the options of a new key. */
export const NEW_KEY_HELP = `  --scopes LIST  what a new key may be used for; default: everything
  --gallery ID   id or alias of a gallery for which a new key may be used; may be given up to
                 ${MAX_KEY_GALLERIES} times; default: all galleries`;

/** The option of a rotation. */
export const GRACE_OPTION = { grace: { type: "string", default: String(GRACE_DAYS.default) } } as const;

/** The options of a new key. */
export const NEW_KEY_OPTIONS = {
  name: { type: "string" },
  scopes: { type: "string" },
  gallery: { type: "string", multiple: true },
  days: { type: "string" },
} as const;

const KEYS_OPTIONS = { ...ADMIN_OPTIONS, ...JSON_OPTION } as const;
const ADD_OPTIONS = { ...KEYS_OPTIONS, ...NEW_KEY_OPTIONS } as const;
const ROTATE_OPTIONS = { ...KEYS_OPTIONS, ...GRACE_OPTION } as const;
const COLUMNS = ["fingerprint", "name", "scopes", "galleries", "created", "expires", "last used"];

/** Prints the keys of a user. */
export async function keys(args: readonly string[], context: CommandContext): Promise<void> {
  const [values, text] = parseArguments(args, KEYS_OPTIONS, "USER");
  const found = await withUser(context, values, text, async ({ keys }) => keys);
  if (values.json) print(context, JSON.stringify(found.map(createKeyReport)));
  else print(context, found.length > 0 ? formatKeys(found) : "The user has no keys.");
}

/** Adds a key. */
export async function addKey(args: readonly string[], context: CommandContext): Promise<void> {
  const [values, text] = parseArguments(args, ADD_OPTIONS, "USER");
  const request = parseNewKey(values);
  await withUser(context, values, text, async ({ admin, user: { userId, name } }) =>
    printCreatedKey(context, name, await admin.createUserKey({ ...request, user: userId }), values.json),
  );
}

/** Replaces a key and lets it expire. */
export async function rotate(args: readonly string[], context: CommandContext): Promise<void> {
  const [values, text, fingerprint] = parseArguments(args, ROTATE_OPTIONS, "USER", "[FINGERPRINT]");
  const graceDays = parseGraceDays(values.grace);
  await withUser(context, values, text, async ({ admin, user: { userId: user, name }, keys }) => {
    if (fingerprint === undefined && keys.length > 1)
      throw new Error(
        `${name} has several keys; name one by its fingerprint, as "visage users keys" prints it`,
      );
    const replaces = fingerprint ?? keys[0]?.fingerprint;
    // Without a key, there is nothing to replace.
    const request = replaces === undefined ? { user } : { user, replaces, graceDays };
    printCreatedKey(context, name, await admin.createUserKey(request), values.json);
  });
}

/** Removes a key. */
export async function revoke(args: readonly string[], context: CommandContext): Promise<void> {
  const [values, text, keyText] = parseArguments(args, ADMIN_OPTIONS, "USER", "FINGERPRINT");
  await withUser(context, values, text, async ({ admin, user: { userId, name }, keys }) => {
    // The key itself is accepted, too. The message does not repeat it.
    const accepted = [keyText, fingerprintOf(hashKey(keyText))];
    const fingerprint = keys.find((key) => accepted.includes(key.fingerprint))?.fingerprint;
    if (fingerprint === undefined)
      throw new Error(`${name} has no key with this fingerprint; "visage users keys" lists the keys`);
    await admin.deleteUserKey({ user: userId, fingerprint });
    const note = keys.length === 1 ? `\n${name} has no other key. Add one with "visage users add-key".` : "";
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
export function createKeyReport(key: Key) {
  const { fingerprint, name, scopes, galleryIds, createTime, expireTime, lastUseTime } = key;
  return {
    fingerprint,
    name,
    scopes: scopes.length > 0 ? scopes : null,
    galleries: galleryIds.length > 0 ? galleryIds : null,
    created_at: isoTime(createTime!),
    expires_at: expireTime ? isoTime(expireTime) : null,
    last_used_at: lastUseTime ? isoTime(lastUseTime) : null,
  };
}

/** Formats keys as a table, with times to the minute in UTC, and marks the one of the request. */
export function formatKeys(all: readonly Key[]): string {
  const minuteOf = (time: string | null) => (time ? `${time.slice(0, "YYYY-MM-DDTHH:MM".length)}Z` : "never");
  const rows = all.map((key) => {
    const { fingerprint, name, scopes, galleries, ...report } = createKeyReport(key);
    const times = [report.created_at, report.expires_at, report.last_used_at].map(minuteOf);
    const limits = [scopes, galleries].map((list) => list?.join(",") ?? "all");
    return [key.current ? `${fingerprint} *` : fingerprint, name || "-", ...limits, ...times];
  });
  return formatTable(COLUMNS, rows, COLUMNS).join("\n");
}

/** Parses the options of a new key. */
export function parseNewKey(values: {
  readonly name?: string | undefined;
  readonly scopes?: string | undefined;
  readonly gallery?: readonly string[] | undefined;
  readonly days?: string | undefined;
}) {
  const { name = "", scopes, gallery = [], days } = values;
  const expiresMs = days === undefined ? undefined : Date.now() + parseCount(days, "days") * DAY_MS;
  return {
    name: name && parseName(name),
    scopes: scopes === undefined ? [] : [...parsePermissions(scopes, "scopes")],
    galleryIds: [...gallery],
    ...(expiresMs !== undefined && { expireTime: timestampFromMs(expiresMs) }),
  };
}

/** Parses how long the replaced key stays valid after a rotation. */
export function parseGraceDays(text: string): number {
  if (!/^\d{1,4}$/.test(text) || Number(text) > GRACE_DAYS.max)
    throw new UsageError(
      `Option '--grace' must be a number of days from 0 to ${GRACE_DAYS.max}, not '${text}'`,
    );
  return Number(text);
}
