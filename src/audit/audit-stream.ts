import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { WriteChunk } from "../telemetry/standard-stream.ts";
import type { AuditOutput } from "./audit-output.ts";

/** Delay before retrying a write that would block. */
const RETRY_DELAY_MS = 20;

/** Writes lines to a stream whose reader may be slow, or gone. */
export class AuditStream implements AuditOutput {
  readonly #writeChunk: WriteChunk;
  readonly #closing = new AbortController();
  /** Whether the last lines were written in part only. */
  #isTorn = false;

  constructor(writeChunk: WriteChunk) {
    this.#writeChunk = writeChunk;
  }

  async append(lines: string): Promise<void> {
    let rest = Buffer.from((this.#isTorn ? "\n" : "") + lines);
    while (rest.length > 0) {
      const written = await this.#write(rest);
      this.#isTorn = written < rest.length;
      rest = rest.subarray(written);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
  }

  /** Writes a part of a chunk as soon as the reader takes one. Returns the number of bytes. */
  async #write(chunk: Uint8Array): Promise<number> {
    const { signal } = this.#closing;
    for (;;) {
      const written = await new Promise<number | undefined>((resolve, reject) =>
        this.#writeChunk(chunk, (error, bytes) => {
          if (error?.code === "EAGAIN") resolve(undefined);
          else if (error) reject(error);
          else resolve(bytes);
        }),
      );
      if (written !== undefined) return written;
      await sleep(RETRY_DELAY_MS, undefined, { signal });
    }
  }
}

/** Writes lines to a stream of Node. */
export function createStreamOutput(stream: Writable): AuditOutput {
  return {
    append: (lines) =>
      new Promise((resolve, reject) => stream.write(lines, (error) => (error ? reject(error) : resolve()))),
    close: async () => {},
  };
}
