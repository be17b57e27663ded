import { PIXEL_BYTES } from "../crop/image-memory.ts";
import type { Pixels } from "../types.ts";

// The memory of one image is kept for the next: fresh pages would add half to the time that decoding takes.
let spare: ArrayBuffer | undefined;
const lent = new WeakSet<ArrayBufferLike>();

/** Pixels of an image, to be written: what they are is left over from another. */
export function takePixels(width: number, height: number): Pixels {
  const length = width * height * PIXEL_BYTES;
  const buffer = spare && spare.byteLength >= length ? spare : new ArrayBuffer(length);
  if (buffer === spare) spare = undefined;
  lent.add(buffer);
  return { width, height, data: new Uint8Array(buffer, 0, length) };
}

/** Gives back pixels that nobody looks at any more; those from elsewhere may be given too. */
export function givePixelsBack({ data: { buffer } }: Pixels): void {
  if (!lent.delete(buffer)) return;
  if (!spare || spare.byteLength < buffer.byteLength) spare = buffer as ArrayBuffer;
}
