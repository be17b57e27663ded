import { unescape as percentDecode } from "node:querystring";
import { setImmediate } from "node:timers/promises";
import { stepEnd } from "../bytes/base64.ts";
import { MAX_TEXT_BYTES } from "./parse-limits.ts";
import { invalidJsonError } from "./rest-error.ts";

/** How a UTF-8 text is escaped: not at all, as a JSON string, or percent-encoded as in a form. */
export type TextEncoding = "plain" | "json" | "form";

/** A long text as a view of the request body. It is still encoded, so that unused texts are never decoded. */
export class TextBytes {
  /** The size of the encoded text; the decoded text is not longer. */
  readonly length: number;
  private readonly bytes: Buffer;
  private readonly encoding: TextEncoding;

  constructor(bytes: Buffer, encoding: TextEncoding) {
    this.bytes = bytes;
    this.length = bytes.length;
    this.encoding = encoding;
  }

  /**
   * Decodes the text to UTF-8. One above MAX_TEXT_BYTES is decoded in place, and what it has outside ASCII becomes zeros,
   * since only Base64 may be that long. Call it only once. Throws RestError `badRequest`.
   */
  async decode(): Promise<Buffer> {
    const { bytes, encoding } = this;
    const escapes = { plain: [], json: [BACKSLASH], form: [PERCENT, PLUS] }[encoding];
    if (!escapes.some((byte) => bytes.includes(byte))) return bytes;
    if (bytes.length > MAX_TEXT_BYTES) return unescapeLong(bytes, encoding);
    return Buffer.from(encoding === "json" ? unescapeJson(bytes) : unescapeForm(bytes));
  }
}

/** Decodes a name or value of a form. Malformed percent-encoding stays as it is. */
export function unescapeForm(bytes: Buffer): string {
  return percentDecode(bytes.toString().replaceAll("+", " "));
}

function unescapeJson(bytes: Buffer): string {
  try {
    return JSON.parse(`"${bytes}"`);
  } catch (cause) {
    throw invalidJsonError(cause);
  }
}

const PLUS = 0x2b;
const PERCENT = 0x25;
const SPACE = 0x20;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;

/** The meaning of each character after a backslash; zero if it has none. */
const JSON_ESCAPES = Uint8Array.from({ length: 256 }, (_, byte) => {
  const index = '"\\/bfnrt'.indexOf(String.fromCharCode(byte));
  return index < 0 ? 0 : '"\\/\b\f\n\r\t'.charCodeAt(index);
});

/** The value of each hexadecimal digit in ASCII; NaN for other bytes. */
const HEX_VALUES = Array.from({ length: 256 }, (_, byte) => Number(`0x${String.fromCharCode(byte)}`));

async function unescapeLong(bytes: Buffer, encoding: TextEncoding): Promise<Buffer> {
  const position = { read: 0, written: 0 };
  for (; position.read < bytes.length; await setImmediate()) unescapeStep(bytes, encoding, position);
  return bytes.subarray(0, position.written);
}

/** Unescapes one step. Not asynchronous, so that the loop is compiled well. */
function unescapeStep(
  bytes: Buffer,
  encoding: TextEncoding,
  position: { read: number; written: number },
): void {
  let { read, written } = position;
  for (const end = Math.min(stepEnd(read), bytes.length); read < end; ) {
    let byte = bytes[read++]!;
    if (encoding === "json" && byte === BACKSLASH) {
      byte = bytes[read++]!;
      const code = byte === LETTER_U ? hexAt(bytes, read, 4) : JSON_ESCAPES[byte]!;
      if (byte === LETTER_U) read += 4;
      byte = code < 0x80 ? code : 0;
    } else if (encoding === "form" && byte === PLUS) byte = SPACE;
    else if (encoding === "form" && byte === PERCENT) {
      const code = hexAt(bytes, read, 2);
      if (code >= 0) {
        byte = code;
        read += 2;
      }
    }
    bytes[written++] = byte;
  }
  position.read = read;
  position.written = written;
}

/** Parses hexadecimal digits. Returns NaN if a byte is not a hexadecimal digit. */
function hexAt(bytes: Buffer, start: number, digits: number): number {
  let value = 0;
  for (let i = start; i < start + digits; i++) value = 16 * value + (HEX_VALUES[bytes[i]!] ?? Number.NaN);
  return value;
}
