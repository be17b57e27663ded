import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ImageSchema } from "../../gen/ts/face/v1/face_pb.ts";

/**
 * A JPEG or PNG: its bytes, a Blob, a stream, a local file, or an HTTP(S) URL from which the service fetches it. A plain
 * string is not accepted, because it could be a path or a URL.
 */
export type ImageInput =
  | Uint8Array
  | Blob
  | AsyncIterable<Uint8Array>
  | { readonly path: string }
  | { readonly url: string | URL };

/** Converts an input to the Protobuf message. Reads streams and files completely; rejects if that fails. */
export async function imageFromInput(input: ImageInput): Promise<MessageInitShape<typeof ImageSchema>> {
  if ("url" in input) return { source: { case: "url", value: String(input.url) } };
  return { source: { case: "content", value: await readBytes(input) } };
}

async function readBytes(input: Exclude<ImageInput, { readonly url: unknown }>): Promise<Uint8Array> {
  if (input instanceof Uint8Array) return input;
  if (input instanceof Blob) return new Uint8Array(await input.arrayBuffer());
  // The stream check comes first, because a file stream has a path, too.
  return Symbol.asyncIterator in input ? buffer(input) : readFile(input.path);
}
