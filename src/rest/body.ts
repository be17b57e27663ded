import type { Entry } from "./entry.ts";
import { formEntries } from "./form.ts";
import { readJsonObject } from "./json-message.ts";
import { findBoundary, isText, multipartEntries } from "./multipart.ts";
import { RestError } from "./rest-error.ts";

/**
 * Gives the entries of a body: of multipart, a form or a JSON object. Which of them it is, its first bytes
 * tell; the content type is wrong too often, and only helps where they leave it open.
 *
 * The entries are views of the body, and reading them may overwrite it.
 */
export async function bodyEntries(body: Buffer, contentType: string): Promise<readonly Entry[]> {
  const boundary = await findBoundary(body, contentType);
  if (boundary) return multipartEntries(body, boundary);
  if (!isText(body)) {
    throw new RestError("badRequest", "The body must be multipart/form-data, a form or a JSON object.");
  }
  const text = trim(body);
  if (text.length === 0) return [];
  const start = text.toString("utf8", 0, EDGE_BYTES);
  const isForm = !/^[{["]/.test(start) && (!/json/i.test(contentType) || /^[^\s=]{1,200}=/.test(start));
  return isForm ? formEntries(text) : jsonEntries(text);
}

async function jsonEntries(text: Buffer): Promise<Entry[]> {
  return (await readJsonObject(text)).map(([name, value]) => ({ name, value }));
}

/** Bytes at either end of a body that are looked at for whitespace. */
const EDGE_BYTES = 4096;

/** Removes whitespace and a byte order mark from both ends. */
function trim(body: Buffer): Buffer {
  const start = body.toString("utf8", 0, EDGE_BYTES);
  const leading = Buffer.byteLength(start) - Buffer.byteLength(start.trimStart());
  const rest = body.subarray(leading);
  const end = rest.toString("utf8", Math.max(0, rest.length - EDGE_BYTES));
  return rest.subarray(0, rest.length - (Buffer.byteLength(end) - Buffer.byteLength(end.trimEnd())));
}
