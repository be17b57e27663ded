import { randomBytes } from "node:crypto";
import { STEP_BYTES, TimeSlice } from "../bytes/time-slice.ts";
import { LONG_TEXT_BYTES, MAX_JSON_BYTES, MAX_JSON_DEPTH, MAX_JSON_VALUES } from "./parse-limits.ts";
import { RestError } from "./rest-error.ts";
import { hexValue, TextBytes } from "./text-bytes.ts";

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
const LETTER_U = 0x75;

/** Long strings may be values of the outermost object, and of objects in it: `{"source":{"image":{"content":"..."}}}`. */
const MAX_LONG_STRING_DEPTH = 3;

/**
 * Checks a JSON text against the limits of parse-limits.ts and extracts its long strings, so that only a small text is
 * left for `JSON.parse`. Validates the long strings.
 *
 * Throws RestError `badRequest`.
 */
export async function scanJson(bytes: Buffer): Promise<ScannedJson> {
  const slice = new TimeSlice();
  const containers: number[] = [];
  const longStrings = new Map<string, TextBytes>();
  let text = "";
  let copied = 0;
  let longBytes = 0;
  let values = 0;
  /** The last byte that is not whitespace. */
  let previous = 0;

  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    checkSize(at - longBytes);
    if (isWhitespace(byte)) continue;
    if (isValueStart(previous, containers.at(-1)) && byte !== CLOSE_LIST && ++values > MAX_JSON_VALUES)
      throw new RestError("badRequest", `The JSON body has more than ${MAX_JSON_VALUES} values.`);

    if (byte === QUOTE) {
      const mayBeLong = previous === COLON && containers.length <= MAX_LONG_STRING_DEPTH;
      const string: StringPosition = { at: at + 1, isEscaped: false };
      while (!scanString(bytes, string)) {
        if (!mayBeLong) checkSize(string.at - longBytes);
        if (slice.isOver) await slice.pause();
      }
      const length = string.at - at - 1;
      if (mayBeLong && length > LONG_TEXT_BYTES) {
        const placeholder = createPlaceholder(longStrings.size);
        const content = bytes.subarray(at + 1, string.at);
        longStrings.set(placeholder, new TextBytes(content, string.isEscaped ? "json" : "plain"));
        text += bytes.toString("utf8", copied, at + 1) + placeholder;
        copied = string.at;
        longBytes += length;
        if (slice.isOver) await slice.pause();
      }
      at = string.at;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      if (containers.push(byte) > MAX_JSON_DEPTH)
        throw new RestError("badRequest", `The JSON body is nested more than ${MAX_JSON_DEPTH} levels deep.`);
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) containers.pop();
    previous = byte;
  }
  checkSize(bytes.length - 1 - longBytes);
  return { text: text + bytes.toString("utf8", copied), longStrings };
}

/** Checks a JSON text against the limits. Throws RestError `badRequest`. */
export async function checkJson(bytes: Buffer): Promise<void> {
  await scanJson(bytes);
}

/** Makes the error of a text that is not JSON. */
export function invalidJsonError(cause?: unknown): RestError {
  // Without the parser's message: it quotes the body, which may be a photo.
  return new RestError("badRequest", "The body is not valid JSON.", { cause });
}

/** Checks the index of a byte, counted without long strings. */
function checkSize(index: number): void {
  if (index >= MAX_JSON_BYTES)
    throw new RestError(
      "badRequest",
      `The JSON body has more than ${MAX_JSON_BYTES} bytes beside its images.`,
    );
}

function isWhitespace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isValueStart(previous: number, container: number | undefined): boolean {
  return (
    previous === 0 ||
    previous === COLON ||
    previous === OPEN_LIST ||
    (previous === COMMA && container === OPEN_LIST)
  );
}

/** A position inside a string, after its opening quote. */
interface StringPosition {
  at: number;
  isEscaped: boolean;
}

/** Whether a byte needs attention inside a string: a control character, quote or backslash. */
const PLAIN = 0;
const SPECIAL = 1;
const BYTE_CLASSES = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x20 || byte === QUOTE || byte === BACKSLASH ? SPECIAL : PLAIN,
);

/** The letters that may follow a backslash, beside `u`. */
const ESCAPES = new Set(Buffer.from('"\\/bfnrt'));

/** Advances by about one step and at most to the closing quote. Returns whether it was reached. Throws if there is none. */
function scanString(bytes: Buffer, position: StringPosition): boolean {
  const end = Math.min(position.at + STEP_BYTES, bytes.length);
  let { at } = position;
  for (; at < end; at++) {
    while (at < end && BYTE_CLASSES[bytes[at]!] === PLAIN) at++;
    const byte = bytes[at];
    if (at >= end || byte === QUOTE) break;
    if (byte !== BACKSLASH) throw invalidJsonError();
    position.isEscaped = true;
    const escaped = bytes[++at];
    if (escaped === LETTER_U) {
      for (let i = 1; i <= 4; i++) if (hexValue(bytes[at + i]) < 0) throw invalidJsonError();
      at += 4;
    } else if (escaped === undefined || !ESCAPES.has(escaped)) throw invalidJsonError();
  }
  if (at >= bytes.length) throw invalidJsonError();
  position.at = at;
  return bytes[at] === QUOTE && at < end;
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
