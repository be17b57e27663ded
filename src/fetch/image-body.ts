import type { Dispatcher } from "undici";
import { FetchError } from "./fetch-error.ts";

const JPEG_START = Buffer.from([0xff, 0xd8, 0xff]);
const PNG_START = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Enough to know either; no image is shorter. */
const START_BYTES = PNG_START.length;
const FIRST_ROOM_BYTES = 64 * 1024;

/**
 * Reads the image in an answer, as it came. Throws FetchError `notAnImage` as soon as its first bytes are not
 * those of a JPEG or PNG, and `tooLarge` as soon as it announces or has more than `maxBytes`.
 */
export async function readImage(answer: Dispatcher.ResponseData, maxBytes: number): Promise<Uint8Array> {
  const announced = Number(answer.headers["content-length"] ?? 0);
  if (announced > maxBytes) throw tooLargeError(maxBytes);

  // Into one array rather than a list: a body in chunks of one byte would make a list of millions.
  let bytes = new Uint8Array(announced || Math.min(FIRST_ROOM_BYTES, maxBytes));
  let length = 0;
  for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
    const start = length;
    length += chunk.length;
    if (length > maxBytes) throw tooLargeError(maxBytes);
    if (length > bytes.length) bytes = enlarge(bytes, Math.min(Math.max(length, 2 * start), maxBytes));
    bytes.set(chunk, start);
    if (start < START_BYTES && length >= START_BYTES && !beginsAsImage(bytes)) throw notAnImageError();
  }
  if (length < START_BYTES) throw notAnImageError();
  return length === bytes.length ? bytes : bytes.slice(0, length);
}

function enlarge(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(length);
  larger.set(bytes);
  return larger;
}

function beginsAsImage(bytes: Uint8Array): boolean {
  return [JPEG_START, PNG_START].some((start) => start.equals(bytes.subarray(0, start.length)));
}

function tooLargeError(maxBytes: number): FetchError {
  return new FetchError("tooLarge", `The image at the URL is larger than ${maxBytes} bytes.`);
}

function notAnImageError(): FetchError {
  return new FetchError("notAnImage", "The URL does not lead to a JPEG or PNG image.");
}
