import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ImageSchema } from "../../gen/ts/face/v1/face_pb.ts";

/**
 * A JPEG or PNG: its bytes, a Blob, a stream, a file on this machine, or an http(s) address from which the
 * service fetches it. Text alone is none of these, so that a path and an address cannot be mixed up.
 */
export type ImageInput =
  | Uint8Array
  | Blob
  | AsyncIterable<Uint8Array>
  | { readonly path: string }
  | { readonly url: string | URL };

/** The image as the contract has it. Streams and files are read to their end. */
export async function imageFrom(input: ImageInput): Promise<MessageInitShape<typeof ImageSchema>> {
  if ("url" in input) return { source: { case: "url", value: String(input.url) } };
  return { source: { case: "content", value: await bytesFrom(input) } };
}

async function bytesFrom(input: Exclude<ImageInput, { readonly url: unknown }>): Promise<Uint8Array> {
  if (input instanceof Uint8Array) return input;
  if (input instanceof Blob) return new Uint8Array(await input.arrayBuffer());
  // A file's stream has a path too.
  return Symbol.asyncIterator in input ? buffer(input) : readFile(input.path);
}
