import { type ParseArgsConfig, parseArgs } from "node:util";
import { isMonth } from "../accounts/month-clock.ts";
import { isName, NAME_FORMAT } from "../accounts/users.ts";
import type { Expiration } from "../client/visage-client.ts";
import { PERMISSION_LIST_FORMAT, type Permission, permissionsFrom } from "../permissions.ts";
import { UsageError } from "./command.ts";

/** The option of every command that can print JSON. */
export const JSON_OPTION = { json: { type: "boolean", default: false } } as const;

type Options = NonNullable<ParseArgsConfig["options"]>;

/** The values of options. */
type Values<O extends Options> = ReturnType<typeof parseArgs<{ options: O }>>["values"];

/** The arguments by their names. */
type Given<Names> = {
  readonly [I in keyof Names]: Names[I] extends `[${string}]` ? string | undefined : string;
};

/**
 * Parses options, and one argument for each name; `[NAME]` may be left out. Returns the values of the options, then the
 * arguments. Throws UsageError.
 */
export function parseArguments<const O extends Options, const Names extends readonly string[]>(
  args: readonly string[],
  options: O,
  ...names: Names
): readonly [values: Values<O>, ...Given<Names>] {
  const { values, positionals } = parseOptions(args, options);
  const missing = names.slice(positionals.length).find((name) => !name.startsWith("["));
  if (missing !== undefined) throw new UsageError(`The argument ${missing} is missing`);
  const unexpected = positionals[names.length];
  if (unexpected !== undefined) throw new UsageError(`Unexpected argument '${unexpected}'`);
  return [values, ...(positionals as unknown as Given<Names>)];
}

/**
 * Parses options and arguments like `parseArgs` of Node. Throws UsageError with one sentence. A negative number after an
 * option is its value, so that the option's own parser can reject it.
 */
export function parseOptions<const O extends Options>(
  args: readonly string[],
  options: O,
): { readonly values: Values<O>; readonly positionals: readonly string[] } {
  try {
    return parseArgs({ args: joinNegativeNumbers(args, options), options, allowPositionals: true });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!code?.startsWith("ERR_PARSE_ARGS")) throw error;
    throw new UsageError(describeParseError(message));
  }
}

function joinNegativeNumbers(args: readonly string[], options: Options): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const option = /^--(.+)/.exec(joined.at(-1) ?? "")?.[1];
    const isValue = option !== undefined && options[option]?.type === "string" && /^-\d/.test(arg);
    if (isValue && !joined.includes("--")) joined.push(`${joined.pop()}=${arg}`);
    else joined.push(arg);
  }
  return joined;
}

/** Shortens a message of Node to one sentence. The rest explains how dashes work. */
function describeParseError(message: string): string {
  const [, option] = /^Option '(?:-\w, )?(--[\w-]+).* argument (?:missing|is ambiguous)/.exec(message) ?? [];
  if (option) return `Option '${option}' requires a value`;
  return message.split(/\.?\n|\. |\.$/)[0]!;
}

const DAY = /^\d{4}-\d\d-\d\d$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/;

/** Parses a date (midnight UTC) or a timestamp with a time zone. */
export function parseDate(text: string, option: string): Date {
  const date = new Date(text);
  const isDate = DAY.test(text) || TIMESTAMP.test(text);
  // Date accepts 30 February as 2 March.
  const hasDay = isDate && new Date(`${text.slice(0, 10)}T00:00Z`).getUTCDate() === Number(text.slice(8, 10));
  if (!hasDay || Number.isNaN(date.getTime()))
    throw new UsageError(`Option '--${option}' must be a date such as 2026-01-31 or 2026-01-31T12:00:00Z`);
  return date;
}

const DAYS = /^(\d{1,7})d$/;
const DAY_SECONDS = 24 * 60 * 60;

/** Help text on the value of `--expires`. */
export const EXPIRES_HELP = "a date such as 2027-01-31, a number of days such as 90d, or never";

/** Parses when something is deleted: a date, a number of days from now, or never. Undefined gives no time. */
export function parseExpiration(text: string | undefined): Expiration {
  if (text === undefined) return {};
  if (text === "never") return { ttlSeconds: 0 };
  const days = Number(DAYS.exec(text)?.[1]);
  if (days > 0) return { ttlSeconds: days * DAY_SECONDS };
  if (!DAY.test(text) && !TIMESTAMP.test(text))
    throw new UsageError(`Option '--expires' must be ${EXPIRES_HELP}`);
  return { expireTime: parseDate(text, "expires") };
}

/** Parses a month in the format YYYY-MM. */
export function parseMonth(text: string, option: string): string {
  if (!isMonth(text)) throw new UsageError(`Option '--${option}' must be a month such as 2026-01`);
  return text;
}

/** Parses an integer, by default a positive one. */
export function parseCount(text: string, option: string, min: 0 | 1 = 1): number {
  const count = Number(text);
  const kind = min === 0 ? "an integer from 0" : "a positive integer";
  if (!/^\d+$/.test(text) || count < min || !Number.isSafeInteger(count))
    throw new UsageError(`Option '--${option}' must be ${kind}, not '${text}'`);
  return count;
}

/** Parses a list of permissions that is separated by commas. */
export function parsePermissions(text: string, option: string): readonly Permission[] {
  const permissions = permissionsFrom(text.split(",").map((name) => name.trim()));
  if (!permissions)
    throw new UsageError(`Option '--${option}' must be ${PERMISSION_LIST_FORMAT}, not '${text}'`);
  return permissions;
}

/** Parses a positive decimal number. */
export function parseRate(text: string, option: string): number {
  const rate = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || rate <= 0 || rate > Number.MAX_SAFE_INTEGER)
    throw new UsageError(`Option '--${option}' must be a positive number, not '${text}'`);
  return rate;
}

/** Parses the name of a user or plan. */
export function parseName(text: string): string {
  if (!isName(text)) throw new UsageError(`A name must have ${NAME_FORMAT}`);
  return text;
}
