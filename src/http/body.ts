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

/** Memory is taken in pieces of this size, or of the announced length where that is less. */
const MAX_SEGMENT_BYTES = 256 * 1024;

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
    const bytes = new SegmentedBuffer(announced);

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
 * Reads the next part of a body; undefined at its end. Not by the request's own iterator: one that is left behind sends
 * Node into an endless loop when the rest of an HTTP/2 body is discarded.
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
 * Collects bytes in segments. A list of what came would be far larger than its bytes for a client that sends them one
 * by one, and one piece of memory that grows by doubling would leave as much garbage as it holds.
 */
class SegmentedBuffer {
  readonly #segments: Buffer[] = [];
  readonly #segmentBytes: number;
  /** Bytes that are used of the last segment. */
  #used = 0;
  length = 0;

  /** `expected` is how many bytes are announced, or NaN. */
  constructor(expected: number) {
    this.#segmentBytes = expected <= MAX_SEGMENT_BYTES ? Math.max(1, expected) : MAX_SEGMENT_BYTES;
  }

  add(chunk: Buffer): void {
    for (let start = 0; start < chunk.length; ) {
      let last = this.#segments.at(-1);
      if (!last || this.#used === last.length) {
        last = Buffer.allocUnsafeSlow(this.#segmentBytes);
        this.#segments.push(last);
        this.#used = 0;
      }
      const copied = chunk.copy(last, this.#used, start);
      this.#used += copied;
      start += copied;
    }
    this.length += chunk.length;
  }

  /** All of it in one piece. */
  content(): Buffer {
    const [only, ...more] = this.#segments;
    return only && more.length === 0
      ? only.subarray(0, this.length)
      : Buffer.concat(this.#segments, this.length);
  }
}
