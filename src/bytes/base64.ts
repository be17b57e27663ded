import { STEP_BYTES, TimeSlice } from "./time-slice.ts";

/** How a space is read: as a plus sign, which form decoding turned into a space, or as nothing. */
export type SpaceMeaning = "plus" | "nothing";

const SKIPPED = 64;
const PADDING = 65;
const INVALID = 255;
/** The value of `+` and `-`. */
const PLUS = 62;
const MINUS_CODE = "-".charCodeAt(0);

/** The value of each byte: 0 to 63, or one of the constants above. Both alphabets of RFC 4648 are accepted. */
const VALUES = { plus: valuesWith(PLUS), nothing: valuesWith(SKIPPED) } as const;

function valuesWith(space: number): Uint8Array {
  const values = new Uint8Array(256).fill(INVALID);
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (let i = 0; i < 64; i++) values[alphabet.charCodeAt(i)] = i;
  values[MINUS_CODE] = PLUS;
  values["_".charCodeAt(0)] = 63;
  for (const skipped of "\r\n\t") values[skipped.charCodeAt(0)] = SKIPPED;
  values["=".charCodeAt(0)] = PADDING;
  values[" ".charCodeAt(0)] = space;
  return values;
}

/**
 * Decodes Base64 in place: the result is a view of the given bytes, which are overwritten. Lenient: line breaks and tabs
 * are skipped, padding may be missing, and plus signs may follow it. Returns undefined for any other text.
 *
 * Node's native decoder runs first. It skips invalid characters, so a full byte count proves that its input is valid.
 */
export async function decodeBase64(text: Uint8Array, space: SpaceMeaning): Promise<Buffer | undefined> {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.length);
  const decoder = new Base64Decoder(bytes, VALUES[space]);
  const slice = new TimeSlice();
  for (let start = 0; start < bytes.length; start += STEP_BYTES) {
    if (slice.isOver) await slice.pause();
    if (!decoder.decode(bytes.toString("latin1", start, start + STEP_BYTES))) return undefined;
  }
  return bytes.subarray(0, decoder.written);
}

/** Decodes Base64 piece by piece. */
class Base64Decoder {
  written = 0;
  private readonly target: Buffer;
  private readonly values: Uint8Array;
  /** The characters of an incomplete group of four, 6 bits each. */
  private group = 0;
  private groupBits = 0;
  private padding = 0;
  private isAfterPadding = false;

  constructor(target: Buffer, values: Uint8Array) {
    this.target = target;
    this.values = values;
  }

  /** Decodes the next piece. Returns whether it is valid. */
  decode(piece: string): boolean {
    const { target } = this;
    if (this.groupBits === 0 && this.padding === 0 && piece.length % 4 === 0) {
      const size = (piece.length / 4) * 3;
      if (target.write(piece, this.written, size, "base64") === size) {
        this.written += size;
        return true;
      }
    }
    return this.decodeByTable(piece);
  }

  private decodeByTable(piece: string): boolean {
    const { target, values } = this;
    // From the copy of the piece: the native decoder may have overwritten the original.
    const bytes = Buffer.from(piece, "latin1");
    let { written, group, groupBits } = this;
    let isEnded = this.padding > 0;
    for (let i = 0; i < bytes.length; i++) {
      // Whole groups of four characters at once: this halves the time.
      while (groupBits === 0 && !isEnded && i + 3 < bytes.length) {
        const a = values[bytes[i]!]!;
        const b = values[bytes[i + 1]!]!;
        const c = values[bytes[i + 2]!]!;
        const d = values[bytes[i + 3]!]!;
        if ((a | b | c | d) > 63) break;
        target[written++] = (a << 2) | (b >> 4);
        target[written++] = (b << 4) | (c >> 2);
        target[written++] = (c << 6) | d;
        i += 4;
      }
      if (i >= bytes.length) break;
      const code = bytes[i]!;
      const value = values[code]!;
      if (value < 64 && !isEnded) {
        group = (group << 6) | value;
        groupBits += 6;
        if (groupBits >= 8) {
          groupBits -= 8;
          target[written++] = group >> groupBits;
        }
      } else if (value !== SKIPPED) {
        if (!this.acceptEnd(value, code)) return false;
        isEnded = true;
      }
    }
    this.written = written;
    this.group = group;
    this.groupBits = groupBits;
    return true;
  }

  /** Accepts padding, and plus signs after it, which were trailing spaces. */
  private acceptEnd(value: number, code: number): boolean {
    if (value === PLUS && code !== MINUS_CODE) this.isAfterPadding = true;
    else if (value !== PADDING || this.isAfterPadding || ++this.padding > 2) return false;
    return true;
  }
}
