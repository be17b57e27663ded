import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { stepEnd } from "../bytes/base64.ts";
import { LONG_TEXT_BYTES, MAX_JSON_BYTES, MAX_JSON_DEPTH, MAX_JSON_VALUES } from "./parse-limits.ts";
import { invalidJsonError, RestError } from "./rest-error.ts";
import { TextBytes } from "./text-bytes.ts";

/** A JSON text without its long strings. */
export interface ScannedJson {
  /** The JSON with a placeholder for each long string. `JSON.parse` validates it later. */
  readonly text: string;
  /** The long strings by their placeholders. */
  readonly longStrings: ReadonlyMap<string, TextBytes>;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Long strings may be values of the outermost object, and of objects in it: `{"source":{"image":{"content":"..."}}}`. */
const MAX_LONG_STRING_DEPTH = 3;

/**
 * Checks a JSON text against the limits of parse-limits.ts and extracts its long strings, so that only a small text is
 * left for `JSON.parse`.
 *
 * Throws RestError `badRequest`.
 */
export async function scanJson(bytes: Buffer): Promise<ScannedJson> {
  const longStrings = new Map<string, TextBytes>();
  let text = "";
  let copied = 0;
  let longBytes = 0;
  let values = 0;
  let depth = 0;
  /** The last byte that is not whitespace. */
  let previous = 0;

  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    checkSize(at - longBytes);
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) continue;
    const isClosing = byte === CLOSE_LIST || byte === CLOSE_OBJECT;
    // A member of an object counts at its name.
    if (isItemStart(previous) && !isClosing && ++values > MAX_JSON_VALUES)
      throw new RestError("badRequest", `The JSON body has more than ${MAX_JSON_VALUES} values.`);

    if (byte === QUOTE) {
      const start = at + 1;
      at = await findStringEnd(bytes, start);
      const isLong = at - start > LONG_TEXT_BYTES && previous === COLON && depth <= MAX_LONG_STRING_DEPTH;
      if (isLong) {
        const placeholder = createPlaceholder(longStrings.size);
        longStrings.set(placeholder, new TextBytes(bytes.subarray(start, at), "json"));
        text += bytes.toString("utf8", copied, start) + placeholder;
        copied = at;
        longBytes += at - start;
      }
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      if (++depth > MAX_JSON_DEPTH)
        throw new RestError("badRequest", `The JSON body is nested more than ${MAX_JSON_DEPTH} levels deep.`);
    } else if (isClosing) depth--;
    previous = byte;
  }
  checkSize(bytes.length - 1 - longBytes);
  return { text: text + bytes.toString("utf8", copied), longStrings };
}

/** Checks the index of a byte, counted without long strings. */
function checkSize(index: number): void {
  if (index >= MAX_JSON_BYTES)
    throw new RestError(
      "badRequest",
      `The JSON body has more than ${MAX_JSON_BYTES} bytes beside its images.`,
    );
}

/** Whether a value or a member of an object follows this byte. */
function isItemStart(previous: number): boolean {
  return previous === 0 || previous === COMMA || previous === OPEN_LIST || previous === OPEN_OBJECT;
}

/** Finds the quote that closes a string. Throws if there is none, and at a control character. */
async function findStringEnd(bytes: Buffer, start: number): Promise<number> {
  for (let at = start; at < bytes.length; await setImmediate()) {
    const end = Math.min(stepEnd(at), bytes.length);
    at = scanString(bytes, at, end);
    if (at < end) return at;
  }
  throw invalidJsonError();
}

/** Returns the index of the closing quote, or `end` or one more. Not asynchronous, so that the loop is compiled well. */
function scanString(bytes: Buffer, start: number, end: number): number {
  let at = start;
  for (; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === QUOTE) break;
    if (byte === BACKSLASH) at++;
    else if (byte < 0x20) throw invalidJsonError();
  }
  return at;
}

const PLACEHOLDER_PREFIX = randomBytes(18);
/** The size of a placeholder when it is decoded as Base64. */
export const PLACEHOLDER_BYTES = PLACEHOLDER_PREFIX.length + 3;

/**
 * Makes a string that no request contains by chance. It is valid Base64, so that it can also replace the bytes of an
 * image. A caller who guesses it can only refer to another string of the same request.
 */
function createPlaceholder(index: number): string {
  const bytes = Buffer.alloc(PLACEHOLDER_BYTES);
  PLACEHOLDER_PREFIX.copy(bytes);
  bytes.writeUIntBE(index, PLACEHOLDER_PREFIX.length, 3);
  return bytes.toString("base64");
}
