import { randomBytes } from "node:crypto";
import { type FileHandle, open, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { AuditOutput } from "./audit-output.ts";

/** Size at which a file is renamed and a new one begun. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

const LINE_FEED = 10;

/**
 * Appends lines to a file, to which other processes may append, too. A file that has reached its maximum size is renamed.
 * If the file was renamed or removed by another program, a new one is begun. No file is ever deleted.
 */
export class AuditFile implements AuditOutput {
  readonly #path: string;
  readonly #maxBytes: number;
  #file: OpenFile | undefined;

  constructor(path: string, maxBytes = MAX_FILE_BYTES) {
    this.#path = path;
    this.#maxBytes = maxBytes;
  }

  async open(): Promise<void> {
    await this.#current();
  }

  async append(lines: string): Promise<void> {
    const { file, size } = await this.#current();
    const { handle, isRegular } = file;
    // Another process may have been interrupted while it wrote, for example by a full disk.
    const isTorn = isRegular && size !== file.end && size > 0 && !(await endsWithLineFeed(handle, size));
    const bytes = Buffer.from((isTorn ? "\n" : "") + lines);
    const { bytesWritten } = await handle.write(bytes);
    // Not continued: another process may have written meanwhile, into the middle of a line.
    if (bytesWritten < bytes.length) throw new Error("only a part of the lines was written");
    file.end = size + bytesWritten;
    if (isRegular) await handle.datasync();
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.handle.close();
  }

  /** Returns the file that the path names now, with its size, after a rotation if it is due. */
  async #current(): Promise<{ readonly file: OpenFile; readonly size: number }> {
    for (;;) {
      this.#file ??= await openFile(this.#path);
      const { dev, ino, isRegular } = this.#file;
      const named = await stat(this.#path).catch(() => undefined);
      const isNamed = named?.ino === ino && named.dev === dev;
      if (isNamed && !(isRegular && named.size >= this.#maxBytes))
        return { file: this.#file, size: named.size };
      if (isNamed) await rotate(this.#path);
      await this.close();
    }
  }
}

interface OpenFile {
  readonly handle: FileHandle;
  readonly dev: number;
  readonly ino: number;
  readonly isRegular: boolean;
  /** The size after the last line that this process has written. If it is still the size, the last line is complete. */
  end: number;
}

/**
 * Renames a file. Another process may have done so, and may even have begun a new file, which is then renamed as well.
 * That loses no line, because the random part keeps one from replacing the file of the other.
 */
async function rotate(path: string): Promise<void> {
  const time = new Date().toISOString().replaceAll(":", "-");
  await rename(path, `${path}.${time}-${randomBytes(4).toString("hex")}`).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    },
  );
}

/** Opens a file for appending. A new one survives a loss of power once this resolves. */
async function openFile(path: string): Promise<OpenFile> {
  const handle = await open(path, "a+", 0o600);
  // Folders that cannot be read, and some file systems, do not allow it.
  await syncFolder(dirname(path)).catch(() => {});
  const stats = await handle.stat();
  return { handle, dev: stats.dev, ino: stats.ino, isRegular: stats.isFile(), end: 0 };
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  await folder.sync().finally(() => folder.close());
}

async function endsWithLineFeed(file: FileHandle, size: number): Promise<boolean> {
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] === LINE_FEED;
}
