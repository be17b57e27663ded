import { STEP_BYTES, TimeSlice } from "../bytes/time-slice.ts";

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

  /** Decodes the text to UTF-8 in place: the result is a view of the body, which is overwritten. Call it only once. */
  async decode(): Promise<Buffer> {
    const { bytes, encoding } = this;
    if (encoding === "plain") return bytes;
    const decodeStep = encoding === "json" ? unescapeJson : percentDecode;
    const slice = new TimeSlice();
    const position = { read: 0, write: 0 };
    while (position.read < bytes.length) {
      decodeStep(bytes, position);
      if (slice.isOver) await slice.pause();
    }
    return bytes.subarray(0, position.write);
  }
}

/** The progress of decoding in place. */
interface Position {
  read: number;
  write: number;
}

/** The value of a hexadecimal digit, or -1. */
const HEX_VALUES = Int8Array.from({ length: 256 }, (_, byte) =>
  /[\da-f]/i.test(String.fromCharCode(byte)) ? Number.parseInt(String.fromCharCode(byte), 16) : -1,
);

/** The value of a hexadecimal digit in ASCII, or -1 for any other byte or none. */
export function hexValue(byte: number | undefined): number {
  return byte === undefined ? -1 : HEX_VALUES[byte]!;
}

const PLUS = 0x2b;
const PERCENT = 0x25;
const SPACE = 0x20;

/** Decodes about one step of application/x-www-form-urlencoded. Malformed percent-encoding stays as it is. */
function percentDecode(bytes: Buffer, position: Position): void {
  let { read, write } = position;
  for (const end = Math.min(read + STEP_BYTES, bytes.length); read < end; read++) {
    let byte = bytes[read]!;
    if (byte === PLUS) byte = SPACE;
    else if (byte === PERCENT) {
      const high = hexValue(bytes[read + 1]);
      const low = hexValue(bytes[read + 2]);
      if (high >= 0 && low >= 0) {
        byte = (high << 4) | low;
        read += 2;
      }
    }
    bytes[write++] = byte;
  }
  position.read = read;
  position.write = write;
}

const BACKSLASH = 0x5c;
const LETTER_U = 0x75;

/** The meaning of a character after a backslash. Characters without a special meaning stand for themselves. */
const ESCAPES = Uint8Array.from({ length: 256 }, (_, byte) => {
  const index = "bfnrt".indexOf(String.fromCharCode(byte));
  return index < 0 ? byte : "\b\f\n\r\t".charCodeAt(index);
});

/** Decodes about one step of a JSON string whose escapes are valid. A lone surrogate becomes U+FFFD. */
function unescapeJson(bytes: Buffer, position: Position): void {
  let { read, write } = position;
  for (const end = Math.min(read + STEP_BYTES, bytes.length); read < end; read++) {
    const byte = bytes[read]!;
    if (byte !== BACKSLASH) bytes[write++] = byte;
    else if (bytes[++read] !== LETTER_U) bytes[write++] = ESCAPES[bytes[read]!]!;
    else {
      const unit = codeUnitAt(bytes, read + 1);
      read += 4;
      const hasPair = isHighSurrogate(unit) && bytes[read + 1] === BACKSLASH && bytes[read + 2] === LETTER_U;
      const next = hasPair ? codeUnitAt(bytes, read + 3) : 0;
      if (unit < 0x80) bytes[write++] = unit;
      else if (!isLowSurrogate(next)) write += bytes.write(String.fromCharCode(unit), write);
      else {
        write += bytes.write(String.fromCharCode(unit, next), write);
        read += 6;
      }
    }
  }
  position.read = read;
  position.write = write;
}

function codeUnitAt(bytes: Buffer, index: number): number {
  let unit = 0;
  for (let i = index; i < index + 4; i++) unit = (unit << 4) | hexValue(bytes[i]);
  return unit;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
