import { UsageError } from "./command.ts";

const DAY = /^\d{4}-\d\d-\d\d$/;
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/;

/** The moment that an option's text names: a day, which begins at midnight UTC, or a moment with its zone. */
export function dateFromText(text: string, option: string): Date {
  const date = new Date(text);
  const isDate = DAY.test(text) || MOMENT.test(text);
  // The 30th of February would be taken for the 2nd of March.
  const hasDay = isDate && new Date(`${text.slice(0, 10)}T00:00Z`).getUTCDate() === Number(text.slice(8, 10));
  if (!hasDay || Number.isNaN(date.getTime()))
    throw new UsageError(`Option '--${option}' must be a date such as 2026-01-31 or 2026-01-31T12:00:00Z`);
  return date;
}

/** The month that an option's text names, YYYY-MM. */
export function monthFromText(text: string, option: string): string {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(text))
    throw new UsageError(`Option '--${option}' must be a month such as 2026-01`);
  return text;
}

/** The whole number above 0 that an option's text says. */
export function countFromText(text: string, option: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || !Number.isSafeInteger(count))
    throw new UsageError(`Option '--${option}' must be a whole number above 0, not '${text}'`);
  return count;
}

/** The number above 0 that an option's text says, with or without decimals. */
export function rateFromText(text: string, option: string): number {
  const rate = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || rate <= 0 || rate > Number.MAX_SAFE_INTEGER)
    throw new UsageError(`Option '--${option}' must be a number above 0, not '${text}'`);
  return rate;
}

/** The arguments that are no options, of which there must be one for each name. */
export function takeArguments<Names extends readonly string[]>(
  given: readonly string[],
  ...names: Names
): { readonly [I in keyof Names]: string } {
  if (given.length > names.length) throw new UsageError(`Unexpected argument '${given[names.length]}'`);
  if (given.length < names.length) throw new UsageError(`No ${names[given.length]} is given`);
  return given as { readonly [I in keyof Names]: string };
}

/** A name that people give and tables show. */
export function nameFromText(text: string): string {
  if (!/^\P{C}{1,100}$/u.test(text) || text.trim() !== text)
    throw new UsageError("A name must have 1 to 100 printable characters, with no space around them");
  return text;
}
