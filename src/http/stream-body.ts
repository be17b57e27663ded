import { setImmediate } from "node:timers/promises";
import { withMessageNumber } from "../service/message-number.ts";
import { ServiceError } from "../service/service-error.ts";
import { type Body, BodyBytes, incompleteError, readPart, tooLargeError } from "./body.ts";
import type { BodyLease, ByteBudget } from "./byte-budget.ts";
import { LIMITS } from "./limits.ts";
import type { RequestContext } from "./request-context.ts";
import { ENVELOPE_HEADER_BYTES } from "./rpc-message.ts";

/** Options of a streaming body. */
export interface StreamBodyOptions {
  readonly budget: ByteBudget;
  /** The limit of one message. */
  readonly maxBytes: number;
  /** From the first to the last byte of one message. */
  readonly timeoutMs: number;
  /** Whether earlier messages are in progress. The client may wait for their responses before it sends the next. */
  readonly isBusy?: () => boolean;
}

/** A line without its line feed, which is not blank. */
export interface Line {
  readonly bytes: Buffer;
  /** From 1. Blank lines count. */
  readonly number: number;
}

/** Returns where a frame ends in this part; undefined if it goes on. `before` bytes of the frame came earlier. */
type FindEnd = (part: Buffer, before: number) => number | undefined;

const LINE_FEED = 0x0a;
/** Longer lines are not checked for being blank. */
const MAX_BLANK_BYTES = 64;
const NOTHING = Buffer.alloc(0);

/**
 * Reads a streaming body message by message, each only when it is asked for. The bytes of a message are charged to the
 * byte budget until its lease is released. Throws ServiceError if a message is too large, too slow or incomplete, if it
 * finds no room, and if no message comes for too long.
 */
export class StreamBody {
  readonly #context: RequestContext;
  readonly #options: StreamBodyOptions;
  readonly #stop = new AbortController();
  /** Bytes of the next message that came with the last one. */
  #rest: Buffer = NOTHING;
  /** When the next message must have begun, by `performance.now()`. */
  #idleEndMs = 0;

  constructor(context: RequestContext, options: StreamBodyOptions) {
    this.#context = context;
    this.#options = options;
    context.signal.addEventListener("abort", () => this.stop(context.signal.reason), { once: true });
    if (context.signal.aborted) this.stop(context.signal.reason);
  }

  /** Makes the current and every later read throw this error. */
  stop(error: unknown): void {
    this.#stop.abort(error);
  }

  /** Ends all reading, because the response has ended. */
  close(): void {
    this.stop(new DOMException("The response has ended.", "AbortError"));
  }

  /** Reads the messages of gRPC and of Connect's streams, each with its envelope. */
  async *readEnvelopes(): AsyncGenerator<Body> {
    const { maxBytes } = this.#options;
    for (;;) {
      this.#expectMessage();
      const { frame, isComplete } = await this.#read(envelopeEnd(maxBytes), maxBytes + ENVELOPE_HEADER_BYTES);
      if (!frame) return;
      if (!isComplete) {
        frame.lease.release();
        throw incompleteError();
      }
      yield frame;
    }
  }

  /**
   * Reads the lines that are not blank, and calls `onLine` with the lease of each. The last one may have no line feed. A
   * blank line is no message: it leaves no more time for the next.
   */
  async *readLines(onLine: (lease: BodyLease) => void): AsyncGenerator<Line> {
    const { maxBytes } = this.#options;
    const findEnd: FindEnd = (part) => {
      const found = part.indexOf(LINE_FEED);
      return found < 0 ? undefined : found + 1;
    };
    this.#expectMessage();
    for (let number = 1; ; number++) {
      const { frame, isComplete } = await this.#read(findEnd, maxBytes).catch((fault: unknown) => {
        throw fault instanceof ServiceError ? withMessageNumber(fault, "line", number) : fault;
      });
      if (!frame) return;
      const { lease } = frame;
      const bytes = isComplete ? frame.bytes.subarray(0, -1) : frame.bytes;
      lease.complete();
      if (isBlank(bytes)) lease.release();
      else {
        onLine(lease);
        yield { bytes, number };
        this.#expectMessage();
      }
    }
  }

  #expectMessage(): void {
    this.#idleEndMs = performance.now() + LIMITS.streamIdleMs;
  }

  /** Reads up to the end of a frame, or of the body. No frame is left at the end of the body. */
  async #read(
    findEnd: FindEnd,
    maxBytes: number,
  ): Promise<{ readonly frame?: Body; readonly isComplete: boolean }> {
    const first = await this.#readFirstPart();
    if (!first) return { isComplete: false };
    const deadlineMs = performance.now() + this.#options.timeoutMs;
    const user = this.#context.record.caller?.fingerprint ?? "";
    // It waits longer for room than a request does: a stream only becomes slower.
    const lease = this.#options.budget.open(user, LIMITS.streamIdleMs);
    try {
      const bytes = new BodyBytes(maxBytes);
      for (
        let part: Buffer | undefined = first;
        part;
        part = await this.#readPart(deadlineMs - performance.now())
      ) {
        const end = findEnd(part, bytes.length);
        const taken = end === undefined ? part : part.subarray(0, end);
        if (bytes.length + taken.length > maxBytes) throw tooLargeError(maxBytes);
        bytes.add(taken);
        await lease.charge(taken.length, this.#stop.signal);
        if (end === undefined) continue;
        this.#rest = part.subarray(end);
        return { frame: { bytes: bytes.concat(), lease }, isComplete: true };
      }
      return { frame: { bytes: bytes.concat(), lease }, isComplete: false };
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  async #readFirstPart(): Promise<Buffer | undefined> {
    for (;;) {
      try {
        return await this.#readPart(this.#idleEndMs - performance.now());
      } catch (error) {
        const isIdle = error instanceof ServiceError && error.kind === "requestTooSlow";
        if (!isIdle || this.#stop.signal.aborted || !this.#options.isBusy?.()) throw error;
        this.#expectMessage();
      }
    }
  }

  async #readPart(timeoutMs: number): Promise<Buffer | undefined> {
    this.#stop.signal.throwIfAborted();
    const rest = this.#rest;
    this.#rest = NOTHING;
    if (rest.length > 0) {
      // Many small messages in one part must not keep other requests waiting.
      await setImmediate();
      this.#stop.signal.throwIfAborted();
      return rest;
    }
    return readPart(this.#context.request, this.#stop.signal, Math.max(0, timeoutMs));
  }
}

function isBlank(line: Buffer): boolean {
  return line.length <= MAX_BLANK_BYTES && line.toString().trim() === "";
}

/** Finds the end of an envelope, whose first five bytes state its length. Throws for a message that is too large. */
function envelopeEnd(maxBytes: number): FindEnd {
  let head = NOTHING;
  return (part, before) => {
    const missing = ENVELOPE_HEADER_BYTES - head.length;
    if (missing > 0) head = Buffer.concat([head, part.subarray(0, missing)]);
    if (head.length < ENVELOPE_HEADER_BYTES) return undefined;
    const length = head.readUInt32BE(1);
    if (length > maxBytes) throw tooLargeError(maxBytes);
    const end = ENVELOPE_HEADER_BYTES + length - before;
    return end <= part.length ? end : undefined;
  };
}
