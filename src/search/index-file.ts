import { createHash, type Hash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { DIMENSIONS, TEMPLATE_BYTES } from "./assembly/constants.ts";
import { ByteReader } from "./byte-reader.ts";

// The file format, little-endian: the signature; the length of the ids in 32 bits; the ids as a JSON array; the vectors in
// the order of the ids, as 32-bit floats; the SHA-256 of everything before it.
const SIGNATURE = Buffer.from("VISAGE1\n", "latin1");
const DIGEST_BYTES = 32;
const BATCH_SIZE = 2048;

type VectorRange = (from: number, end: number) => Float32Array<ArrayBuffer>;

/** The file is not a template file, or is truncated or damaged. */
export class IndexFileError extends Error {
  override readonly name = "IndexFileError";
}

/**
 * Writes templates to a stream, which it ends, or to a file, which it replaces when everything is written. `vectors`
 * returns the vectors of a range of templates, concatenated.
 */
export async function writeTemplates(
  to: string | Writable,
  ids: readonly string[],
  vectors: VectorRange,
): Promise<void> {
  const content = Readable.from(encode(ids, vectors), { objectMode: false });
  if (typeof to !== "string") return pipeline(content, to);
  const temporary = `${to}.${process.pid}.tmp`;
  try {
    // Templates are personal data: only the owner of the file may read them.
    await pipeline(content, createWriteStream(temporary, { mode: 0o600, flush: true }));
    await rename(temporary, to);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function* encode(ids: readonly string[], vectors: VectorRange) {
  const digest = createHash("sha256");
  const idBytes = Buffer.from(JSON.stringify(ids));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(idBytes.length);
  yield* withDigest(digest, SIGNATURE, length, idBytes);
  for (let row = 0; row < ids.length; row += BATCH_SIZE) {
    const { buffer, byteOffset, byteLength } = vectors(row, Math.min(row + BATCH_SIZE, ids.length));
    yield* withDigest(digest, Buffer.from(buffer, byteOffset, byteLength));
  }
  yield digest.digest();
}

/** Yields the parts and adds them to the digest. */
function* withDigest(digest: Hash, ...parts: readonly Buffer[]) {
  for (const part of parts) {
    digest.update(part);
    yield part;
  }
}

/** Reads a template file and reports each template. Throws IndexFileError if the file is not complete and intact. */
export async function readTemplates(
  from: string | Readable,
  onTemplate: (id: string, vector: Float32Array) => void,
): Promise<void> {
  const reader = new ByteReader(typeof from === "string" ? createReadStream(from) : from);
  const digest = createHash("sha256");
  const read = async (length: number) => {
    const bytes = await reader.read(length);
    if (bytes.length < length) throw new IndexFileError("The template file is truncated.");
    return bytes;
  };
  const readWithDigest = async (length: number) => {
    const bytes = await read(length);
    digest.update(bytes);
    return bytes;
  };

  const signature = await reader.read(SIGNATURE.length);
  if (!signature.equals(SIGNATURE)) throw new IndexFileError("The file is not a template file.");
  digest.update(signature);
  const ids = parseIds(await readWithDigest((await readWithDigest(4)).readUInt32LE()));
  for (let row = 0; row < ids.length; row += BATCH_SIZE) {
    const batch = ids.slice(row, row + BATCH_SIZE);
    // A copy, because the offset of a Float32Array must be a multiple of four.
    const { buffer } = Uint8Array.from(await readWithDigest(batch.length * TEMPLATE_BYTES));
    for (const [i, id] of batch.entries())
      onTemplate(id, new Float32Array(buffer, i * TEMPLATE_BYTES, DIMENSIONS));
  }
  if (!digest.digest().equals(await read(DIGEST_BYTES)) || (await reader.read(1)).length > 0)
    throw new IndexFileError("The template file is damaged.");
}

function parseIds(bytes: Buffer): string[] {
  try {
    return JSON.parse(bytes.toString()) as string[];
  } catch (cause) {
    throw new IndexFileError("The template file is damaged.", { cause });
  }
}
