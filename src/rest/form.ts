import { unescape as percentDecode } from "node:querystring";
import type { Entry } from "./entry.ts";

/**
 * Gives the entries of a query or a form. Broken percent signs are kept as they are.
 *
 * Lazily: a body of nothing but `&` must not become millions of objects.
 */
export function* formEntries(text: string): Generator<Entry> {
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf("&", start);
    const end = found < 0 ? text.length : found;
    if (end > start) yield entryOf(text.slice(start, end));
    start = end + 1;
  }
}

function entryOf(pair: string): Entry {
  const equals = pair.indexOf("=");
  return equals < 0
    ? { name: decode(pair), value: undefined }
    : { name: decode(pair.slice(0, equals)), value: decode(pair.slice(equals + 1)) };
}

function decode(text: string): string {
  return percentDecode(text.replaceAll("+", " "));
}
