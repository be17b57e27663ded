import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import type { Output } from "./command.ts";
import { fileErrorReason } from "./photo-file.ts";

/** The results that a file of JSON lines has. */
export interface WrittenResults {
  /** The photos that have a line. */
  readonly files: ReadonlySet<string>;
  /** How many of them failed. */
  readonly failures: number;
  /** Length of all complete lines. An interrupted process may have left half a line behind them. */
  readonly bytes: number;
}

/** How every line starts. */
const LINE_START = '{"file":';
/** A line up to the name of its photo, and whether an error follows. */
const LINE_PREFIX = /^\{"file":("(?:[^"\\]|\\.)*")(,"error":)?/;
/** The longest prefix: a path of 4096 bytes, each of which JSON may write as six characters. */
const MAX_PREFIX_BYTES = 32 * 1024;

const LINE_FEED = 0x0a;
const CHUNK_BYTES = 1024 * 1024;

/** Reads which photos have a line in a file. A missing file has none. Throws if the file has other lines. */
export async function readWrittenResults(path: string): Promise<WrittenResults> {
  const files = new Set<string>();
  let failures = 0;
  let bytes = 0;
  let number = 0;
  const unknownLine = () => new Error(`line ${number} is not a result of visage analyze --jsonl`);
  try {
    for await (const { start, length, isComplete } of readLineStarts(path)) {
      number++;
      if (!isComplete) {
        // Removed later, so be sure that it is ours.
        if (!start.startsWith(LINE_START) && !LINE_START.startsWith(start)) throw unknownLine();
        break;
      }
      const [, name, error] = LINE_PREFIX.exec(start) ?? [];
      if (name === undefined) throw unknownLine();
      files.add(JSON.parse(name) as string);
      if (error) failures++;
      bytes += length;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throwFileError(path, error);
  }
  return { files, failures, bytes };
}

/** Creates the output file and its folder, or keeps what it has up to a length. */
export async function openResultFile(path: string, keepBytes = 0): Promise<Output> {
  let file: FileHandle | undefined;
  try {
    await mkdir(dirname(path), { recursive: true });
    file = await open(path, keepBytes > 0 ? "r+" : "w");
    // The output may also be a pipe, which has no length.
    if (keepBytes === 0) return file.createWriteStream();
    await file.truncate(keepBytes);
    return file.createWriteStream({ start: keepBytes });
  } catch (error) {
    await file?.close();
    return throwFileError(path, error);
  }
}

/** Throws an error that names the file. */
export function throwFileError(path: string, cause: unknown): never {
  throw new Error(`${path}: ${fileErrorReason(cause)}`, { cause });
}

interface LineStart {
  /** The first characters. */
  readonly start: string;
  /** Length of the whole line in bytes, with its line feed. */
  readonly length: number;
  /** Whether the line ends with a line feed. */
  readonly isComplete: boolean;
}

/** Reads the start of each line. Lines may be long, so the rest of them is skipped. */
async function* readLineStarts(path: string): AsyncGenerator<LineStart> {
  let start: Buffer = Buffer.alloc(0);
  let length = 0;
  const add = (part: Buffer) => {
    length += part.length;
    const missing = MAX_PREFIX_BYTES - start.length;
    if (missing > 0) start = Buffer.concat([start, part.subarray(0, missing)]);
  };
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      add(chunk.subarray(from, end + 1));
      yield { start: start.toString(), length, isComplete: true };
      start = Buffer.alloc(0);
      length = 0;
      from = end + 1;
    }
    add(chunk.subarray(from));
  }
  if (length > 0) yield { start: start.toString(), length, isComplete: false };
}
