import type { Dispatcher } from "undici";
import { FetchError } from "./fetch-error.ts";

const JPEG_SIGNATURE = Buffer.from([0xff, 0xd8, 0xff]);
const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Enough bytes to recognize both formats; no image is shorter. */
const SIGNATURE_BYTES = PNG_SIGNATURE.length;
/** The initial buffer for a response without a length. */
const INITIAL_BYTES = 64 * 1024;

/**
 * Reads the image in a response. Throws FetchError `notAnImage` as soon as the first bytes are not those of a JPEG or
 * PNG, and `tooLarge` as soon as the response announces or has more than `maxBytes`.
 */
export async function readImage(response: Dispatcher.ResponseData, maxBytes: number): Promise<Uint8Array> {
  const announced = Number(response.headers["content-length"] ?? 0);
  if (announced > maxBytes) throw tooLargeError(maxBytes);

  // One array instead of a list of chunks: a body in one-byte chunks would make a list of millions.
  let bytes = new Uint8Array(announced || Math.min(INITIAL_BYTES, maxBytes));
  let length = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    const start = length;
    length += chunk.length;
    if (length > maxBytes) throw tooLargeError(maxBytes);
    if (length > bytes.length) bytes = enlarge(bytes, Math.min(Math.max(length, 2 * start), maxBytes));
    bytes.set(chunk, start);
    if (start < SIGNATURE_BYTES && length >= SIGNATURE_BYTES && !hasImageSignature(bytes))
      throw notAnImageError();
  }
  if (length < SIGNATURE_BYTES) throw notAnImageError();
  return length === bytes.length ? bytes : bytes.slice(0, length);
}

function enlarge(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(length);
  larger.set(bytes);
  return larger;
}

function hasImageSignature(bytes: Uint8Array): boolean {
  return [JPEG_SIGNATURE, PNG_SIGNATURE].some((signature) =>
    signature.equals(bytes.subarray(0, signature.length)),
  );
}

function tooLargeError(maxBytes: number): FetchError {
  return new FetchError("tooLarge", `The image at the URL is larger than ${maxBytes} bytes.`);
}

function notAnImageError(): FetchError {
  return new FetchError("notAnImage", "The URL does not lead to a JPEG or PNG image.");
}
