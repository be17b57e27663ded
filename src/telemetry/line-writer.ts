import { constants, fstatSync, openSync, write } from "node:fs";

/** The most bytes that wait for the reader, some 800 lines of the log. */
const MAX_WAITING_BYTES = 256 * 1024;
/** The pause before another attempt when the reader does not keep up. */
const RETRY_MS = 100;

/** Writes as many bytes of a chunk as possible without waiting for the reader, like `fs.write`. */
export type WriteChunk = (
  chunk: Uint8Array,
  done: (error: NodeJS.ErrnoException | null, writtenBytes: number) => void,
) => void;

/**
 * Writes lines without ever blocking the event loop. While the reader does not keep up, lines wait, and those beyond
 * 256 KiB are dropped and counted. When the reader is back, a notice says how many were dropped.
 */
export class LineWriter {
  readonly #writeChunk: WriteChunk;
  readonly #noticeOf: (droppedLines: number) => string;
  #waiting: string[] = [];
  /** Of the waiting lines and the chunk that is being written. */
  #bytes = 0;
  #isWriting = false;
  #dropped = 0;
  #unreported = 0;
  #onIdle: (() => void)[] = [];

  /** `noticeOf` makes the line that reports dropped ones. */
  constructor(writeChunk: WriteChunk, noticeOf: (droppedLines: number) => string) {
    this.#writeChunk = writeChunk;
    this.#noticeOf = noticeOf;
  }

  /** How many lines were dropped so far. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Writes a line, which ends with a line feed, or drops it. */
  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.#bytes + bytes > MAX_WAITING_BYTES) this.#drop(1);
    else this.#add(line, bytes);
  }

  /** Waits until every line is written, but not longer than this. */
  async flush(timeoutMs: number): Promise<void> {
    if (!this.#isWriting) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#onIdle.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #drop(lines: number): void {
    this.#dropped += lines;
    this.#unreported += lines;
  }

  #add(line: string, bytes: number): void {
    this.#waiting.push(line);
    this.#bytes += bytes;
    if (!this.#isWriting) this.#writeWaiting();
  }

  /** One chunk at a time: what blocks a write of a file blocks one thread of libuv's pool at most. */
  #writeWaiting(): void {
    this.#isWriting = this.#waiting.length > 0;
    if (this.#isWriting) this.#write(Buffer.from(this.#waiting.splice(0).join("")));
    else for (const onIdle of this.#onIdle.splice(0)) onIdle();
  }

  #write(chunk: Buffer): void {
    this.#writeChunk(chunk, (error, writtenBytes) => {
      if (error?.code === "EAGAIN") setTimeout(() => this.#write(chunk), RETRY_MS).unref();
      else if (error) this.#end(chunk.length, linesIn(chunk));
      else if (writtenBytes < chunk.length) {
        this.#bytes -= writtenBytes;
        this.#write(chunk.subarray(writtenBytes));
      } else this.#end(writtenBytes, 0);
    });
  }

  #end(bytes: number, lostLines: number): void {
    this.#bytes -= bytes;
    // Nobody reads any more, or the disk is full: a notice would be lost too.
    if (lostLines > 0) this.#drop(lostLines);
    else this.#reportDropped();
    this.#writeWaiting();
  }

  #reportDropped(): void {
    if (this.#unreported === 0) return;
    const notice = this.#noticeOf(this.#unreported);
    this.#unreported = 0;
    this.#waiting.push(notice);
    this.#bytes += Buffer.byteLength(notice);
  }
}

const LINE_FEED = 10;

function linesIn(chunk: Uint8Array): number {
  return chunk.reduce((count, byte) => count + Number(byte === LINE_FEED), 0);
}

const STANDARD_ERROR = 2;

/** Writes to standard error, which must not be used otherwise at the same time. */
export function writeToStandardError(): WriteChunk {
  const descriptor = openStandardError();
  return (chunk, done) => write(descriptor, chunk, done);
}

/**
 * A descriptor of standard error whose writes fail with EAGAIN where they would wait for the reader. A write that waits
 * would occupy a thread of libuv's pool, and Node does not exit before its threads have finished.
 *
 * Pipes and terminals are opened again, because the mode of a descriptor is shared with every process that inherited it,
 * and others change it. A file is not: the new descriptor would have a position of its own.
 */
function openStandardError(): number {
  const kind = fstatSync(STANDARD_ERROR);
  if (kind.isFIFO() || kind.isCharacterDevice()) {
    try {
      return openSync("/proc/self/fd/2", constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    } catch {
      // Not on this system, or a pipe of another user.
    }
  }
  // Node's own stream makes pipes and sockets non-blocking when it is opened. Errors are handled where they occur.
  if (!kind.isFile()) process.stderr.on("error", () => {});
  return STANDARD_ERROR;
}
