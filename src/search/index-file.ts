import { createHash, type Hash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { DIMENSIONS, TEMPLATE_BYTES } from "./assembly/constants.ts";
import { ByteReader } from "./byte-reader.ts";

// A file is: its mark; the length of the ids in four bytes; the ids as JSON; the vectors in the same order, as
// 32-bit floats; the SHA-256 of all that. Numbers are little-endian.
const MARK = Buffer.from("VISAGE1\n", "latin1");
const DIGEST_BYTES = 32;
const BATCH_ROWS = 2048;

/** A file that holds no templates, or not all that it should. */
export class IndexFileError extends Error {
  override readonly name = "IndexFileError";
}

/** Writes templates to a stream, which it ends, or to a file, which is replaced once all is written. */
export async function writeTemplates(
  to: string | Writable,
  ids: readonly string[],
  vectors: (from: number, end: number) => Float32Array<ArrayBuffer>,
): Promise<void> {
  const content = Readable.from(bytesOf(ids, vectors), { objectMode: false });
  if (typeof to !== "string") return pipeline(content, to);
  const unfinished = `${to}.${process.pid}.tmp`;
  try {
    // Templates tell who is known: nobody else may read them.
    await pipeline(content, createWriteStream(unfinished, { mode: 0o600, flush: true }));
    await rename(unfinished, to);
  } catch (fault) {
    await rm(unfinished, { force: true });
    throw fault;
  }
}

function* bytesOf(ids: readonly string[], vectors: (from: number, end: number) => Float32Array<ArrayBuffer>) {
  const digest = createHash("sha256");
  const names = Buffer.from(JSON.stringify(ids));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(names.length);
  yield* digested(digest, MARK, length, names);
  for (let row = 0; row < ids.length; row += BATCH_ROWS) {
    const { buffer, byteOffset, byteLength } = vectors(row, Math.min(row + BATCH_ROWS, ids.length));
    yield* digested(digest, Buffer.from(buffer, byteOffset, byteLength));
  }
  yield digest.digest();
}

function* digested(digest: Hash, ...parts: readonly Buffer[]) {
  for (const part of parts) {
    digest.update(part);
    yield part;
  }
}

/** Reads templates one after the other; throws IndexFileError where they are not as they were written. */
export async function readTemplates(
  from: string | Readable,
  keep: (id: string, vector: Float32Array) => void,
): Promise<void> {
  const reader = new ByteReader(typeof from === "string" ? createReadStream(from) : from);
  const digest = createHash("sha256");
  const read = async (length: number) => {
    const bytes = await reader.read(length);
    if (bytes.length < length) throw new IndexFileError("the file of templates is cut short");
    return bytes;
  };
  const readDigested = async (length: number) => {
    const bytes = await read(length);
    digest.update(bytes);
    return bytes;
  };

  const mark = await reader.read(MARK.length);
  if (!mark.equals(MARK)) throw new IndexFileError("this is not a file of templates");
  digest.update(mark);
  const ids = idsFrom(await readDigested((await readDigested(4)).readUInt32LE()));
  for (let row = 0; row < ids.length; row += BATCH_ROWS) {
    const batch = ids.slice(row, row + BATCH_ROWS);
    // Copied, since floats must begin at a multiple of four.
    const { buffer } = Uint8Array.from(await readDigested(batch.length * TEMPLATE_BYTES));
    for (const [i, id] of batch.entries()) keep(id, new Float32Array(buffer, i * TEMPLATE_BYTES, DIMENSIONS));
  }
  if (!digest.digest().equals(await read(DIGEST_BYTES)) || (await reader.read(1)).length > 0)
    throw new IndexFileError("the file of templates is damaged");
}

function idsFrom(bytes: Buffer): string[] {
  try {
    return JSON.parse(bytes.toString()) as string[];
  } catch (cause) {
    throw new IndexFileError("the file of templates is damaged", { cause });
  }
}
