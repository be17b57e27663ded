import { setImmediate } from "node:timers/promises";

/** How a space is read: as a plus sign, which form decoding turned into a space, or as nothing. */
export type SpaceMeaning = "plus" | "nothing";

/** Bytes of a body that are parsed between two turns of the event loop. The worst of them take some milliseconds. */
export const STEP_BYTES = 64 * 1024;

/** The end of the step that begins at or before an index. Bodies have fixed steps, so that short searches pause as well. */
export function stepEnd(index: number): number {
  return index - (index % STEP_BYTES) + STEP_BYTES;
}

/**
 * Decodes Base64 in place: the result is a view of the given bytes, which are overwritten. Takes both alphabets of RFC
 * 4648. Lenient: line breaks and tabs are skipped, padding may be missing, and plus signs may follow it. Returns undefined
 * for any other text, and if more than a step follows the first padding.
 */
export async function decodeBase64(text: Uint8Array, space: SpaceMeaning): Promise<Buffer | undefined> {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.length);
  const read = (start: number, end: number) =>
    bytes
      .toString("latin1", start, end)
      .replaceAll(/[\r\n\t]+/g, "")
      .replaceAll(" ", space === "plus" ? "+" : "");
  const padding = bytes.indexOf("=");
  const end = padding < 0 ? bytes.length : padding;
  if (bytes.length - end > STEP_BYTES || !/^={0,2}\+*$/.test(read(end, bytes.length))) return undefined;

  let written = 0;
  /** The characters of an incomplete group of four. */
  let rest = "";
  for (let start = 0; start < end; start += STEP_BYTES) {
    if (start > 0) await setImmediate();
    const piece = rest + read(start, Math.min(start + STEP_BYTES, end));
    const whole = piece.length - (piece.length % 4);
    rest = piece.slice(whole);
    const size = (whole / 4) * 3;
    // Node skips invalid characters, so only a full count proves that there are none.
    if (bytes.write(piece.slice(0, whole), written, "base64") !== size) return undefined;
    written += size;
  }
  if (/[^\w+/-]/.test(rest)) return undefined;
  return bytes.subarray(0, written + bytes.write(rest, written, "base64"));
}
