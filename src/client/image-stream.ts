import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CallOptions } from "@connectrpc/connect";
import type {
  AnalyzeImageRequestSchema,
  AnalyzeImageResponse,
  AnalyzeImagesRequestSchema,
  AnalyzeImagesResponse,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { sleep, untilAborted } from "./abort.ts";
import type { CallLimits } from "./call-runner.ts";
import { Outbox } from "./outbox.ts";
import { StreamRetry } from "./stream-retry.ts";
import {
  connectionError,
  type VisageError,
  visageErrorFromCause,
  visageErrorFromStatus,
} from "./visage-error.ts";

type ImageRequest = MessageInitShape<typeof AnalyzeImageRequestSchema>;
type StreamRequest = MessageInitShape<typeof AnalyzeImagesRequestSchema>;

/** What a stream of images needs. */
export interface ImageStreamOptions<Item> {
  readonly items: Iterable<Item> | AsyncIterable<Item>;
  /** Reads the image of an item. */
  readonly prepare: (item: Item, signal: AbortSignal) => Promise<ImageRequest>;
  /** Opens a stream to the service. */
  readonly open: (
    requests: AsyncIterable<StreamRequest>,
    options: CallOptions,
  ) => AsyncIterable<AnalyzeImagesResponse>;
  readonly limits: CallLimits;
  /** Cancels the stream. Its reason is the error of the stream. */
  readonly signal: AbortSignal;
}

/** The result of an item. */
export interface ItemResult<Item> {
  readonly item: Item;
  readonly outcome: { readonly response: AnalyzeImageResponse } | { readonly error: VisageError };
}

/** How long the service lets an image wait for its turn, in addition to the time that it needs. */
const MAX_WAIT_MS = 30_000;

/** The end of a read: a value, or the error that was thrown. */
type Settled<T> = { readonly value: T } | { readonly cause: unknown };

/** An item and its request, or the error of reading its image. */
type Prepared<Item> = { readonly item: Item } & (
  | { readonly request: ImageRequest }
  | { readonly error: VisageError }
);

/** What a stream waits for: the next item, a response, or room for an item, which has no fields. */
interface Event<Item> {
  readonly prepared?: Settled<Prepared<Item> | undefined>;
  readonly response?: Settled<IteratorResult<AnalyzeImagesResponse>>;
}

/** One stream to the service. */
interface Attempt {
  readonly outbox: Outbox<StreamRequest>;
  readonly responses: AsyncIterator<AnalyzeImagesResponse>;
  readonly controller: AbortController;
}

/** An item that was sent and has no result yet. */
interface Unanswered<Item> {
  readonly item: Item;
  readonly request: StreamRequest;
}

/**
 * Sends items on a stream and yields each result as soon as it comes. When the stream breaks, it opens a new one and
 * sends the items that have no result again. Reads the next item only if the last one was taken by the connection and
 * fewer than `maxInFlight` have no result.
 */
export class ImageStream<Item> {
  readonly #options: ImageStreamOptions<Item>;
  readonly #source: Iterator<Item> | AsyncIterator<Item>;
  /** By the key of their requests, in the order in which they were sent. */
  readonly #unanswered = new Map<string, Unanswered<Item>>();
  #nextKey = 0;
  #isSourceDone = false;
  #sourceError: { readonly cause: unknown } | undefined;
  #attempt: Attempt | undefined;
  /** Since when a result is overdue or awaited, as a time of `performance.now()`. */
  #waitingSinceMs = 0;
  readonly #retry: StreamRetry;

  constructor(options: ImageStreamOptions<Item>) {
    this.#options = options;
    const { items, limits } = options;
    this.#retry = new StreamRetry(limits);
    this.#source = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  }

  /** Throws VisageError if the stream cannot go on, and the error of the source after the results of its items. */
  async *results(): AsyncGenerator<ItemResult<Item>> {
    const { signal } = this.#options;
    const onAbort = () => this.#attempt?.controller.abort();
    signal.addEventListener("abort", onAbort);
    try {
      yield* this.#run();
      if (this.#sourceError) throw this.#sourceError.cause;
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.#attempt?.controller.abort();
      // Not awaited: a source that waits for its next item would not close before it has one.
      if (!this.#isSourceDone)
        Promise.resolve()
          .then(() => this.#source.return?.())
          .catch(() => {});
    }
  }

  async *#run(): AsyncGenerator<ItemResult<Item>> {
    let prepared: Promise<Settled<Prepared<Item> | undefined>> | undefined;
    let response: Promise<Settled<IteratorResult<AnalyzeImagesResponse>>> | undefined;
    for (;;) {
      if (this.#mayReadItem()) prepared ??= settle(() => this.#prepareNext());
      const { responses, outbox } = this.#attempt ?? {};
      if (responses) response ??= settle(() => responses.next());
      if (!prepared && !response) return;
      const event = await this.#wait<Event<Item>>([
        prepared?.then((prepared) => ({ prepared })),
        response?.then((response) => ({ response })),
        outbox?.isEmpty ? undefined : outbox?.emptied.then(() => ({})),
      ]);
      if (event.prepared) {
        prepared = undefined;
        const result = this.#send(event.prepared);
        if (result) yield result;
      } else if (event.response) {
        response = undefined;
        const settled = event.response;
        if ("cause" in settled || settled.value.done) await this.#reopen(settled);
        else {
          const result = this.#receive(settled.value.value);
          if (result) yield result;
        }
        this.#waitingSinceMs = performance.now();
      }
    }
  }

  #mayReadItem(): boolean {
    const isSent = this.#attempt?.outbox.isEmpty ?? true;
    return !this.#isSourceDone && isSent && this.#unanswered.size < this.#options.limits.maxInFlight;
  }

  /** Reads the next item; undefined at the end of the source. Rejects with the error of the source. */
  async #prepareNext(): Promise<Prepared<Item> | undefined> {
    const { value: item, done } = await this.#source.next();
    if (done) return undefined;
    try {
      return { item, request: await this.#options.prepare(item, this.#options.signal) };
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      return { item, error: connectionError("UNREADABLE_IMAGE", message, { retryable: false, cause }) };
    }
  }

  /** Waits for the first event. Ends the attempt if a result is overdue. */
  async #wait<T>(events: readonly (Promise<T> | undefined)[]): Promise<T> {
    const { limits, signal } = this.#options;
    const attempt = this.#unanswered.size > 0 ? this.#attempt : undefined;
    const leftMs = this.#waitingSinceMs + limits.timeoutMs + MAX_WAIT_MS - performance.now();
    const timer = attempt && setTimeout(() => attempt.controller.abort(overdueError()), Math.max(0, leftMs));
    try {
      return await untilAborted(Promise.race(events.filter((event) => event !== undefined)), signal);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends a prepared item. Returns its result if its image could not be read. */
  #send(settled: Settled<Prepared<Item> | undefined>): ItemResult<Item> | undefined {
    if ("cause" in settled || !settled.value) {
      this.#isSourceDone = true;
      if ("cause" in settled) this.#sourceError = settled;
      this.#attempt?.outbox.end();
      return undefined;
    }
    const prepared = settled.value;
    if ("error" in prepared) return { item: prepared.item, outcome: { error: prepared.error } };
    // The caller's own key may be long, or not be unique.
    const key = String(this.#nextKey++);
    const request = { key, request: prepared.request };
    if (this.#unanswered.size === 0) this.#waitingSinceMs = performance.now();
    this.#unanswered.set(key, { item: prepared.item, request });
    this.#attempt ??= this.#open();
    this.#attempt.outbox.add(request);
    return undefined;
  }

  #receive({ key, result }: AnalyzeImagesResponse): ItemResult<Item> | undefined {
    const answered = this.#unanswered.get(key);
    if (!answered || !result.case) return undefined;
    this.#unanswered.delete(key);
    this.#retry.succeed();
    const { item } = answered;
    return result.case === "response"
      ? { item, outcome: { response: result.value } }
      : { item, outcome: { error: visageErrorFromStatus(result.value) } };
  }

  #open(): Attempt {
    const outbox = new Outbox<StreamRequest>();
    const controller = new AbortController();
    const responses = this.#options.open(outbox, { signal: controller.signal });
    return { outbox, controller, responses: responses[Symbol.asyncIterator]() };
  }

  /**
   * Continues after the end of a stream: opens a new one if some items have no result. Throws VisageError if that cannot
   * help or was tried too often since the last result.
   */
  async #reopen(end: Settled<unknown>): Promise<void> {
    const { signal } = this.#options;
    const ended = this.#attempt!;
    this.#attempt = undefined;
    ended.outbox.close();
    if (signal.aborted) throw signal.reason;
    // The service also ends a stream on which nothing was sent for a while.
    if (this.#unanswered.size === 0) return;
    const error = errorOfEnd(end, ended.controller.signal);
    await sleep(this.#retry.delayAfter(error), signal);
    this.#attempt = this.#open();
    for (const { request } of this.#unanswered.values()) this.#attempt.outbox.add(request);
    if (this.#isSourceDone) this.#attempt.outbox.end();
  }
}

/** Waits for a result without rejecting, so that one nobody waits for is not an unhandled rejection. */
async function settle<T>(read: () => T | Promise<T>): Promise<Settled<T>> {
  try {
    return { value: await read() };
  } catch (cause) {
    return { cause };
  }
}

function errorOfEnd(end: Settled<unknown>, { aborted, reason }: AbortSignal): VisageError {
  if (aborted) return reason;
  if ("cause" in end) return visageErrorFromCause(end.cause);
  return connectionError("UNREACHABLE", "The stream ended before all results came.", { retryable: true });
}

function overdueError(): VisageError {
  return connectionError("DEADLINE_PASSED", "No result came within the deadline.", { retryable: true });
}
