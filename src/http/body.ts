import { ServiceError } from "../service/service-error.ts";
import type { BodyLease, ByteBudget } from "./byte-budget.ts";
import type { Request } from "./exchange.ts";
import type { RequestContext } from "./request-context.ts";

/** Limits of a body. */
export interface BodyOptions {
  readonly maxBytes: number;
  readonly budget: ByteBudget;
  /** From the request's start to the end of its body. */
  readonly timeoutMs: number;
}

/** A body that has been read, and its lease of the byte budget. */
export interface Body {
  readonly bytes: Buffer;
  readonly lease: BodyLease;
}

/** Smaller chunks are copied into segments. */
const MIN_CHUNK_BYTES = 4 * 1024;
const SEGMENT_BYTES = 64 * 1024;

/**
 * Reads a whole body, as fast as the byte budget has room for it. Rejects with ServiceError if the body is too large,
 * too slow, incomplete or finds no room, and with the signal's reason if the client leaves. The bytes stay charged until
 * the request ends.
 */
export function readBody(context: RequestContext, options: BodyOptions): Promise<Body> {
  const { request, signal } = context;
  const { maxBytes, budget } = options;
  return new Promise((resolve, reject) => {
    const announced = Number(request.headers["content-length"] ?? Number.NaN);
    if (announced > maxBytes) return reject(tooLargeError(maxBytes));
    const user = context.record.caller?.fingerprint ?? "";
    const lease = budget.open(user);
    context.hold(lease);
    const bytes = new BodyBytes(maxBytes);

    const stop = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      request.off("data", onData).off("end", onEnd).off("error", onClose).off("close", onClose);
    };
    const fail = (cause: unknown) => {
      stop();
      lease.release();
      // A paused HTTP/2 stream never closes. The rest is dropped; sending the response limits how much is read.
      request.resume();
      reject(cause);
    };
    const onData = (chunk: Buffer) => {
      if (bytes.length + chunk.length > maxBytes) return fail(tooLargeError(maxBytes));
      const charged = lease.charge(chunk.length, signal);
      bytes.add(chunk);
      if (charged === true) return;
      request.pause();
      charged.then(() => request.resume(), fail);
    };
    const onEnd = () => {
      stop();
      resolve({ bytes: bytes.concat(), lease });
    };
    const onClose = () => fail(incompleteError());
    const onAbort = () => fail(signal.reason);
    const onTimeout = () => fail(tooSlowError(context));
    const deadlineMs = Math.min(context.startMs + options.timeoutMs, context.deadlineMs);
    const timer = setTimeout(onTimeout, Math.max(0, deadlineMs - performance.now()));
    signal.addEventListener("abort", onAbort, { once: true });
    // Not `for await`: leaving such a loop early destroys the request and the socket that the response needs.
    request.on("data", onData).on("end", onEnd).on("error", onClose).on("close", onClose);
    if (signal.aborted) onAbort();
  });
}

/**
 * Reads the next part of a body; undefined at its end. Listens only while it waits, so that a body abandoned between
 * two parts has no listeners left and can be discarded. Rejects with ServiceError after the timeout, and with the
 * signal's reason.
 */
export function readPart(
  request: Request,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      request.off("data", onData).off("end", onEnd).off("error", onClose).off("close", onClose);
      settle();
    };
    const onData = (part: Buffer) => {
      request.pause();
      finish(() => resolve(part));
    };
    const onEnd = () => finish(() => resolve(undefined));
    const onClose = () => finish(() => reject(incompleteError()));
    const onAbort = () => finish(() => reject(signal.reason));
    const onTimeout = () => finish(() => reject(new ServiceError("requestTooSlow")));
    const timer = setTimeout(onTimeout, timeoutMs);
    signal.addEventListener("abort", onAbort, { once: true });
    if (request.readableEnded) return onEnd();
    if (signal.aborted) return onAbort();
    request.on("data", onData).on("end", onEnd).on("error", onClose).on("close", onClose).resume();
  });
}

/** Makes the error of a body that ended too early. */
export function incompleteError(): ServiceError {
  return new ServiceError("badRequest", "The request ended before its body did.");
}

/** Makes the error of a body or message that is too large. */
export function tooLargeError(maxBytes: number): ServiceError {
  return new ServiceError("requestTooLarge", `The request body is larger than ${maxBytes} bytes.`);
}

function tooSlowError({ deadlineMs }: RequestContext): ServiceError {
  return new ServiceError(performance.now() >= deadlineMs ? "deadlinePassed" : "requestTooSlow");
}

/**
 * Collects the chunks of a body. Small chunks are copied into segments: a list of one-byte chunks would need far more
 * memory than its bytes, and a small chunk may keep a much larger read buffer alive.
 */
export class BodyBytes {
  readonly #parts: Buffer[] = [];
  readonly #segmentBytes: number;
  #segment: Buffer | undefined;
  /** Bytes of the segment that are in use. */
  #used = 0;
  length = 0;

  constructor(maxBytes: number) {
    this.#segmentBytes = Math.min(SEGMENT_BYTES, maxBytes);
  }

  add(chunk: Buffer): void {
    this.length += chunk.length;
    const fillsItsBuffer = chunk.length * 4 >= chunk.buffer.byteLength;
    if (chunk.length >= MIN_CHUNK_BYTES && fillsItsBuffer) {
      this.#endSegment();
      this.#parts.push(chunk);
    } else this.#copy(chunk);
  }

  /** All bytes in one buffer. */
  concat(): Buffer {
    this.#endSegment();
    const [only, ...more] = this.#parts;
    return only && more.length === 0 ? only : Buffer.concat(this.#parts, this.length);
  }

  #copy(chunk: Buffer): void {
    for (let start = 0; start < chunk.length; ) {
      this.#segment ??= Buffer.allocUnsafeSlow(this.#segmentBytes);
      const copied = chunk.copy(this.#segment, this.#used, start);
      this.#used += copied;
      start += copied;
      if (this.#used === this.#segmentBytes) this.#endSegment();
    }
  }

  #endSegment(): void {
    if (!this.#segment) return;
    const content = this.#segment.subarray(0, this.#used);
    // Partial segments are copied: alternating large and small chunks would waste most of each segment.
    this.#parts.push(this.#used === this.#segmentBytes ? content : Buffer.from(content));
    this.#segment = undefined;
    this.#used = 0;
  }
}
