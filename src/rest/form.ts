import { unescape as percentDecode } from "node:querystring";
import type { Entry } from "./entry.ts";
import { LONG_TEXT_BYTES, MAX_FIELDS } from "./parse-limits.ts";
import { RestError } from "./rest-error.ts";
import { TextBytes } from "./text-bytes.ts";

const AMPERSAND = 0x26;
const EQUALS = 0x3d;

/**
 * Gives the entries of a query or a form. Malformed percent signs are kept as they are. Throws RestError `badRequest`
 * for too many fields; empty ones count.
 */
export function formEntries(form: string | Buffer): Entry[] {
  const bytes = typeof form === "string" ? Buffer.from(form) : form;
  const entries: Entry[] = [];
  let fields = 0;
  for (let start = 0; start < bytes.length; ) {
    if (++fields > MAX_FIELDS)
      throw new RestError("badRequest", `The request has more than ${MAX_FIELDS} fields.`);
    const found = bytes.indexOf(AMPERSAND, start);
    const end = found < 0 ? bytes.length : found;
    if (end > start) entries.push(entryOf(bytes.subarray(start, end)));
    start = end + 1;
  }
  return entries;
}

function entryOf(pair: Buffer): Entry {
  const equals = pair.indexOf(EQUALS);
  if (equals < 0) return { name: nameOf(pair), value: undefined };
  const value = pair.subarray(equals + 1);
  return {
    name: nameOf(pair.subarray(0, equals)),
    value: value.length > LONG_TEXT_BYTES ? new TextBytes(value, "form") : decode(value),
  };
}

/** No field has a long name, so that one is as good as none. */
function nameOf(bytes: Buffer): string {
  return bytes.length > LONG_TEXT_BYTES ? "" : decode(bytes);
}

function decode(bytes: Buffer): string {
  return percentDecode(bytes.toString().replaceAll("+", " "));
}
