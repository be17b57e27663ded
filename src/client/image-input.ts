import { unreadableImage } from "./visage-error.ts";

/**
 * A JPEG or PNG: its bytes, a Blob or File, a stream, a local file (Node only), or an HTTP(S) URL from which the service
 * fetches it. A plain string is not accepted, because it could be a path or a URL.
 */
export type ImageInput =
  | Uint8Array
  | ArrayBuffer
  | Blob
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>
  | { readonly path: string }
  | { readonly url: string | URL };

/** Reads a local file. */
export type ReadFile = (path: string, signal: AbortSignal) => Promise<Uint8Array>;

/** The fields of `face.v1.Image` and of `visage.v1.Image`. */
export interface ImageFields {
  readonly source:
    | { readonly case: "content"; readonly value: Uint8Array }
    | { readonly case: "url"; readonly value: string };
}

/**
 * Converts an input to the fields of a Protobuf message. Reads streams and files completely. Rejects with the VisageError
 * `UNREADABLE_IMAGE` if that fails, and with TypeError for an input of another shape.
 */
export async function imageFromInput(
  input: ImageInput,
  readFile: ReadFile,
  signal: AbortSignal,
): Promise<ImageFields> {
  if (typeof input !== "object" || input === null) throw unsupportedInput();
  if ("url" in input) return { source: { case: "url", value: String(input.url) } };
  return { source: { case: "content", value: await readBytes(input, readFile, signal) } };
}

async function readBytes(
  input: Exclude<ImageInput, { readonly url: unknown }>,
  readFile: ReadFile,
  signal: AbortSignal,
): Promise<Uint8Array> {
  if (input instanceof Uint8Array) return input;
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  try {
    if (input instanceof Blob) return new Uint8Array(await input.arrayBuffer());
    // The stream checks come first, because a file stream has a path, too.
    if (input instanceof ReadableStream) return await readChunks(chunksOf(input), signal);
    if (Symbol.asyncIterator in input) return await readChunks(input, signal);
    if ("path" in input) return await readFile(input.path, signal);
  } catch (cause) {
    throw unreadableImage(cause);
  }
  throw unsupportedInput();
}

function unsupportedInput(): TypeError {
  return new TypeError("An image must be bytes, a Blob, a stream, { path } or { url }.");
}

/** Not every browser can iterate over a stream by itself. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel();
  }
}

async function readChunks(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<Uint8Array> {
  const read: Uint8Array[] = [];
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    read.push(chunk);
  }
  return concat(read);
}

function concat(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}
