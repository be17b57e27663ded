// Files with personal data, which only the user may read.
import { randomUUID } from "node:crypto";
import { type FileHandle, lstat, mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { throwFileError } from "./result-file.ts";

const FILE_MODE = 0o600;

/** Checks that a file can be created, or replaced by force. A device or a link must not be replaced by a file. */
export async function checkOutput(path: string, force: boolean): Promise<void> {
  const status = await lstat(path).catch(() => undefined);
  if (status && !status.isFile()) throw new Error(`${path}: exists and is not a regular file`);
  if (status && !force) throw new Error(`${path}: exists already; replace it by --force`);
}

/** Writes a file under another name and renames it at the end, so that it never has half of its content. */
export async function writePrivateFile(
  path: string,
  parts: AsyncIterable<string> | Iterable<string>,
): Promise<void> {
  const partial = join(dirname(path), `.${basename(path)}.${randomUUID()}.partial`);
  const file = await createFile(partial).catch((error: unknown) => throwFileError(path, error));
  try {
    await pipeline(Readable.from(parts), file.createWriteStream({ flush: true }));
    await rename(partial, path).catch((error: unknown) => throwFileError(path, error));
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function createFile(path: string): Promise<FileHandle> {
  await mkdir(dirname(path), { recursive: true });
  return open(path, "wx", FILE_MODE);
}
