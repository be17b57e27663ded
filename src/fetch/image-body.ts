import type { Dispatcher } from "undici";
import { FetchError } from "./fetch-error.ts";
import { hasImageSignature, type ImageFormat, namesOf, signatureBytes } from "./image-format.ts";

/** The initial buffer for a response without a length. */
const INITIAL_BYTES = 64 * 1024;

/**
 * Reads the image in a response. Throws FetchError `notAnImage` as soon as the first bytes are not those of an
 * accepted format, and `tooLarge` as soon as the response announces or has more than `maxBytes`.
 */
export async function readImage(
  response: Dispatcher.ResponseData,
  maxBytes: number,
  formats: readonly ImageFormat[],
): Promise<Uint8Array> {
  const announced = Number(response.headers["content-length"] ?? 0);
  if (announced > maxBytes) throw tooLargeError(maxBytes);

  // One array instead of a list of chunks: a body in one-byte chunks would make a list of millions.
  let bytes = new Uint8Array(announced || Math.min(INITIAL_BYTES, maxBytes));
  let length = 0;
  const neededBytes = signatureBytes(formats);
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    const start = length;
    length += chunk.length;
    if (length > maxBytes) throw tooLargeError(maxBytes);
    if (length > bytes.length) bytes = enlarge(bytes, Math.min(Math.max(length, 2 * start), maxBytes));
    bytes.set(chunk, start);
    if (start < neededBytes && length >= neededBytes && !hasImageSignature(bytes, formats))
      throw notAnImageError(formats);
  }
  if (length < neededBytes) throw notAnImageError(formats);
  return length === bytes.length ? bytes : bytes.slice(0, length);
}

function enlarge(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(length);
  larger.set(bytes);
  return larger;
}

function tooLargeError(maxBytes: number): FetchError {
  return new FetchError("tooLarge", `The image at the URL is larger than ${maxBytes} bytes.`);
}

function notAnImageError(formats: readonly ImageFormat[]): FetchError {
  return new FetchError("notAnImage", `The URL does not lead to a ${namesOf(formats)} image.`);
}
