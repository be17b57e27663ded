import type { Entry } from "./entry.ts";
import { LONG_TEXT_BYTES, MAX_FIELDS } from "./parse-limits.ts";
import { RestError } from "./rest-error.ts";
import { TextBytes, unescapeForm } from "./text-bytes.ts";

const AMPERSAND = 0x26;
const EQUALS = 0x3d;

/**
 * Parses a query or form (application/x-www-form-urlencoded). Malformed percent-encoding is kept as it is. Throws
 * RestError `badRequest` if there are too many fields; empty ones count.
 */
export function parseForm(form: string | Buffer): Entry[] {
  const bytes = typeof form === "string" ? Buffer.from(form) : form;
  const entries: Entry[] = [];
  let fields = 0;
  for (let start = 0; start < bytes.length; ) {
    if (++fields > MAX_FIELDS)
      throw new RestError("badRequest", `The request has more than ${MAX_FIELDS} fields.`);
    const found = bytes.indexOf(AMPERSAND, start);
    const end = found < 0 ? bytes.length : found;
    if (end > start) entries.push(parsePair(bytes.subarray(start, end)));
    start = end + 1;
  }
  return entries;
}

function parsePair(pair: Buffer): Entry {
  const equals = pair.indexOf(EQUALS);
  if (equals < 0) return { name: decodeName(pair), value: undefined };
  const value = pair.subarray(equals + 1);
  return {
    name: decodeName(pair.subarray(0, equals)),
    value: value.length > LONG_TEXT_BYTES ? new TextBytes(value, "form") : unescapeForm(value),
  };
}

/** No field has a long name, so its beginning suffices. */
function decodeName(bytes: Buffer): string {
  return unescapeForm(bytes.subarray(0, LONG_TEXT_BYTES));
}
