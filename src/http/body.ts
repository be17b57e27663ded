import { ServiceError } from "../service/service-error.ts";
import type { BodyLease, ByteBudget } from "./byte-budget.ts";
import { LIMITS } from "./limits.ts";
import type { RequestContext } from "./request-context.ts";

/** How much a body may hold, and how long it may take. */
export interface BodyOptions {
  readonly maxBytes: number;
  readonly budget: ByteBudget;
  /** From the request's head to the end of its body. */
  readonly timeoutMs: number;
}

/** A body that has been read, and what it is charged for. */
export interface Body {
  readonly bytes: Buffer;
  readonly lease: BodyLease;
}

/** Chunks of fewer bytes are copied into segments of this size. */
const MIN_CHUNK_BYTES = 4 * 1024;
const SEGMENT_BYTES = 64 * 1024;

/**
 * Reads a whole body, at the pace at which the budget has room for it. Rejects with ServiceError where it is too large,
 * too slow or there is no room, and with the context's signal where the client leaves. What is charged stays charged
 * until the request ends.
 */
export function readBody(context: RequestContext, options: BodyOptions): Promise<Body> {
  const { request, signal } = context;
  const { maxBytes, budget } = options;
  return new Promise((resolve, reject) => {
    const announced = Number(request.headers["content-length"] ?? Number.NaN);
    if (announced > maxBytes) return reject(tooLargeError(maxBytes));
    const user = context.record.caller?.fingerprint ?? "";
    const lease = budget.open(user, (error) => fail(error));
    context.hold(lease);
    const bytes = new BodyBytes();

    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", leave);
      request.off("data", take).off("end", end).off("error", close).off("close", close);
    };
    const fail = (cause: unknown) => {
      finish();
      lease.release();
      // An HTTP/2 stream that is paused never closes; what still comes is dropped, and the response limits how much.
      request.resume();
      reject(cause);
    };
    const take = (chunk: Buffer) => {
      if (bytes.length + chunk.length > maxBytes) return fail(tooLargeError(maxBytes));
      const charged = lease.charge(chunk.length, signal);
      bytes.add(chunk);
      if (charged === true) return;
      request.pause();
      charged.then(() => request.resume(), fail);
    };
    const end = () => {
      finish();
      resolve({ bytes: bytes.content(), lease });
    };
    const close = () => fail(incompleteError());
    const leave = () => fail(signal.reason);
    const late = () => fail(tooSlowError(context));
    const endsMs = Math.min(context.startMs + options.timeoutMs, context.deadlineMs);
    const timer = setTimeout(late, Math.max(0, endsMs - performance.now()));
    signal.addEventListener("abort", leave, { once: true });
    // Not `for await`: leaving it early would destroy the request, and with it the socket for the response.
    request.on("data", take).on("end", end).on("error", close).on("close", close);
    if (signal.aborted) leave();
  });
}

/**
 * The parts of a body that is a stream of messages, as they come. Ends with an error where none comes for too long. Each
 * part is dropped when it has been used, so that the budget is not charged.
 */
export async function* bodyParts(context: RequestContext): AsyncGenerator<Uint8Array> {
  for (let part = await nextPart(context); part; part = await nextPart(context)) yield part;
}

/**
 * Reads the next part of a body; undefined at its end. Listens only while it waits, so that a body that is abandoned
 * between two parts has no reader left and can be discarded.
 */
function nextPart({ request, signal }: RequestContext): Promise<Uint8Array | undefined> {
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", leave);
      request.off("data", take).off("end", end).off("error", close).off("close", close);
      settle();
    };
    const take = (part: Buffer) => {
      request.pause();
      finish(() => resolve(part));
    };
    const end = () => finish(() => resolve(undefined));
    const close = () => finish(() => reject(incompleteError()));
    const leave = () => finish(() => reject(signal.reason));
    const late = () => finish(() => reject(new ServiceError("requestTooSlow")));
    const timer = setTimeout(late, LIMITS.streamIdleMs);
    signal.addEventListener("abort", leave, { once: true });
    if (request.readableEnded) return end();
    if (signal.aborted) return leave();
    request.on("data", take).on("end", end).on("error", close).on("close", close).resume();
  });
}

function incompleteError(): ServiceError {
  return new ServiceError("badRequest", "The request ended before its body did.");
}

function tooLargeError(maxBytes: number): ServiceError {
  return new ServiceError("requestTooLarge", `The request body is larger than ${maxBytes} bytes.`);
}

function tooSlowError({ deadlineMs }: RequestContext): ServiceError {
  return new ServiceError(performance.now() >= deadlineMs ? "deadlinePassed" : "requestTooSlow");
}

/**
 * Collects the bytes of a body. Small chunks are copied into segments: a list of them would be far larger than its bytes
 * for a client that sends them one by one, and each may keep the whole of a larger read in memory.
 */
class BodyBytes {
  readonly #parts: Buffer[] = [];
  #segment: Buffer | undefined;
  /** Bytes that are used of the segment. */
  #used = 0;
  length = 0;

  add(chunk: Buffer): void {
    this.length += chunk.length;
    const isMostOfItsMemory = chunk.length * 4 >= chunk.buffer.byteLength;
    if (chunk.length >= MIN_CHUNK_BYTES && isMostOfItsMemory) {
      this.#endSegment();
      this.#parts.push(chunk);
    } else this.#copy(chunk);
  }

  /** All of it in one piece. */
  content(): Buffer {
    this.#endSegment();
    const [only, ...more] = this.#parts;
    return only && more.length === 0 ? only : Buffer.concat(this.#parts, this.length);
  }

  #copy(chunk: Buffer): void {
    for (let start = 0; start < chunk.length; ) {
      this.#segment ??= Buffer.allocUnsafeSlow(SEGMENT_BYTES);
      const copied = chunk.copy(this.#segment, this.#used, start);
      this.#used += copied;
      start += copied;
      if (this.#used === SEGMENT_BYTES) this.#endSegment();
    }
  }

  #endSegment(): void {
    if (!this.#segment) return;
    const content = this.#segment.subarray(0, this.#used);
    // A segment that is not full is copied, or alternating large and small chunks would waste most of each.
    this.#parts.push(this.#used === SEGMENT_BYTES ? content : Buffer.from(content));
    this.#segment = undefined;
    this.#used = 0;
  }
}
