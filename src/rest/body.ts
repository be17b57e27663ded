import type { Entry } from "./entry.ts";
import { parseForm } from "./form.ts";
import { parseJsonObject } from "./json-message.ts";
import { findBoundary, isText, parseMultipart } from "./multipart.ts";
import { RestError } from "./rest-error.ts";

/**
 * Parses a body: multipart, a form or a JSON object. The first bytes decide which; the content type is wrong too often
 * and only decides where the bytes leave it open. Throws RestError `badRequest`.
 *
 * The entries are views of the body, and decoding them may overwrite it.
 */
export async function parseBody(body: Buffer, contentType: string): Promise<readonly Entry[]> {
  const boundary = await findBoundary(body, contentType);
  if (boundary) return parseMultipart(body, boundary);
  if (!isText(body)) {
    throw new RestError("badRequest", "The body must be multipart/form-data, a form or a JSON object.");
  }
  const text = trim(body);
  if (text.length === 0) return [];
  const start = text.toString("utf8", 0, TRIM_BYTES);
  const isForm = !/^[{["]/.test(start) && (!/json/i.test(contentType) || /^[^\s=]{1,200}=/.test(start));
  return isForm ? parseForm(text) : parseJsonEntries(text);
}

async function parseJsonEntries(text: Buffer): Promise<Entry[]> {
  return (await parseJsonObject(text)).map(([name, value]) => ({ name, value }));
}

/** How far from either end whitespace is trimmed. */
const TRIM_BYTES = 4096;

/** Removes whitespace and a byte order mark from both ends. */
function trim(body: Buffer): Buffer {
  const start = body.toString("utf8", 0, TRIM_BYTES);
  const leading = Buffer.byteLength(start) - Buffer.byteLength(start.trimStart());
  const rest = body.subarray(leading);
  const end = rest.toString("utf8", Math.max(0, rest.length - TRIM_BYTES));
  return rest.subarray(0, rest.length - (Buffer.byteLength(end) - Buffer.byteLength(end.trimEnd())));
}
