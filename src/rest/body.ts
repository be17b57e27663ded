import type { Entry } from "./entry.ts";
import { formEntries } from "./form.ts";
import { boundaryOf, isText, multipartEntries } from "./multipart.ts";
import { RestError } from "./rest-error.ts";

/**
 * Gives the entries of a body: of multipart, a form or a JSON object. Which of them it is, its first bytes
 * tell; the content type is wrong too often, and only helps where they leave it open.
 */
export function bodyEntries(body: Buffer, contentType: string): Iterable<Entry> {
  const boundary = boundaryOf(body, contentType);
  if (boundary !== undefined) return multipartEntries(body, boundary);
  if (!isText(body)) {
    throw new RestError("unsupportedType", "The body must be multipart/form-data, a form or a JSON object.");
  }
  const text = body
    .toString()
    .replace(/^\uFEFF/, "")
    .trim();
  if (text === "") return [];
  const isForm = !/^[{["]/.test(text) && (!/json/i.test(contentType) || /^[^\s=]{1,200}=/.test(text));
  return isForm ? formEntries(text) : jsonEntries(text);
}

function jsonEntries(text: string): Entry[] {
  const json = parseJson(text);
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    throw new RestError("badRequest", "The JSON body must be an object.");
  }
  return Object.entries(json).map(([name, value]) => ({ name, value }));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The parser's own words quote the body, which may be somebody's photograph.
    throw new RestError("badRequest", "The body is not valid JSON.", { cause });
  }
}
