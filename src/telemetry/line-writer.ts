import type { WriteChunk } from "./standard-stream.ts";

/** Size limit of the buffer, about 800 log lines. */
const MAX_BUFFERED_BYTES = 256 * 1024;
/** Delay before retrying a write that would block. */
const RETRY_DELAY_MS = 100;

/**
 * Writes lines without blocking the event loop. While the reader is slow, up to 256 KiB are buffered; further lines are
 * dropped and counted. When the reader has caught up, a notice reports the number of dropped lines.
 */
export class LineWriter {
  readonly #writeChunk: WriteChunk;
  readonly #formatNotice: (droppedLines: number) => string;
  #buffer: string[] = [];
  /** Bytes of the buffered lines and of the chunk that is being written. */
  #bufferedBytes = 0;
  #isWriting = false;
  #dropped = 0;
  #unreported = 0;
  #onIdle: (() => void)[] = [];

  /** `formatNotice` returns the line that reports a number of dropped lines. */
  constructor(writeChunk: WriteChunk, formatNotice: (droppedLines: number) => string) {
    this.#writeChunk = writeChunk;
    this.#formatNotice = formatNotice;
  }

  /** Total number of dropped lines. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Writes a line, which must end with a line feed, or drops it if the buffer is full. */
  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.#bufferedBytes + bytes > MAX_BUFFERED_BYTES) this.#drop(1);
    else this.#add(line, bytes);
  }

  /** Waits until every line is written or the timeout has passed. */
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
    this.#buffer.push(line);
    this.#bufferedBytes += bytes;
    if (!this.#isWriting) this.#writeBuffer();
  }

  /** Writes one chunk at a time, so that a blocking file write occupies at most one thread of libuv's pool. */
  #writeBuffer(): void {
    this.#isWriting = this.#buffer.length > 0;
    if (this.#isWriting) this.#write(Buffer.from(this.#buffer.splice(0).join("")));
    else for (const onIdle of this.#onIdle.splice(0)) onIdle();
  }

  #write(chunk: Buffer): void {
    this.#writeChunk(chunk, (error, writtenBytes) => {
      if (error?.code === "EAGAIN") setTimeout(() => this.#write(chunk), RETRY_DELAY_MS).unref();
      else if (error) this.#finishChunk(chunk.length, countLines(chunk));
      else if (writtenBytes < chunk.length) {
        this.#bufferedBytes -= writtenBytes;
        this.#write(chunk.subarray(writtenBytes));
      } else this.#finishChunk(writtenBytes, 0);
    });
  }

  #finishChunk(bytes: number, lostLines: number): void {
    this.#bufferedBytes -= bytes;
    // If the reader is gone or the disk is full, a notice would be lost too.
    if (lostLines > 0) this.#drop(lostLines);
    else this.#reportDropped();
    this.#writeBuffer();
  }

  #reportDropped(): void {
    if (this.#unreported === 0) return;
    const notice = this.#formatNotice(this.#unreported);
    this.#unreported = 0;
    this.#buffer.push(notice);
    this.#bufferedBytes += Buffer.byteLength(notice);
  }
}

const LINE_FEED = 10;

function countLines(chunk: Uint8Array): number {
  return chunk.reduce((count, byte) => count + Number(byte === LINE_FEED), 0);
}
