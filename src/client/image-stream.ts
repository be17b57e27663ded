import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  AnalyzeImageRequestSchema,
  AnalyzeImageResponse,
  AnalyzeImagesResponse,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { sleep, untilAborted } from "./abort.ts";
import type { CallLimits } from "./call-runner.ts";
import {
  type Attempt,
  errorOfEnd,
  type OpenStream,
  openAttempt,
  overdueError,
  type Settled,
  type StreamRequest,
  settle,
} from "./stream-attempt.ts";
import { type RetryPolicy, StreamRetry } from "./stream-retry.ts";
import { unreadableImage, VisageError, visageErrorFromStatus } from "./visage-error.ts";

type ImageRequest = MessageInitShape<typeof AnalyzeImageRequestSchema>;

/** What a stream of images needs. */
export interface ImageStreamOptions<Item> {
  readonly items: Iterable<Item> | AsyncIterable<Item>;
  /** Reads the image of an item. */
  readonly prepare: (item: Item, signal: AbortSignal) => Promise<ImageRequest>;
  readonly open: OpenStream;
  readonly limits: CallLimits;
  /** Decides whether a stream that broke is opened again. Default: by the limits. */
  readonly retry?: RetryPolicy;
  /** Whether to send an item with this error again, on a new stream. Default: the error is the result of the item. */
  readonly shouldResend?: (item: Item, error: VisageError) => boolean;
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

/** The error that ends a stream because of one message. */
const REQUEST_TOO_LARGE = "REQUEST_TOO_LARGE";

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
  readonly #retry: RetryPolicy;

  constructor(options: ImageStreamOptions<Item>) {
    this.#options = options;
    const { items, limits, retry = new StreamRetry(limits) } = options;
    this.#retry = retry;
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
        const hasEnded = "cause" in settled || settled.value.done === true;
        const result = hasEnded ? await this.#reopen(settled) : this.#receive(settled.value.value);
        if (result) yield result;
        this.#waitingSinceMs = performance.now();
      }
    }
  }

  #mayReadItem(): boolean {
    const { outbox, rejection } = this.#attempt ?? {};
    const isReady = rejection === undefined && (outbox?.isEmpty ?? true);
    return !this.#isSourceDone && isReady && this.#unanswered.size < this.#options.limits.maxInFlight;
  }

  /** Reads the next item; undefined at the end of the source. Rejects with the error of the source. */
  async #prepareNext(): Promise<Prepared<Item> | undefined> {
    const { value: item, done } = await this.#source.next();
    if (done) return undefined;
    try {
      return { item, request: await this.#options.prepare(item, this.#options.signal) };
    } catch (cause) {
      return { item, error: cause instanceof VisageError ? cause : unreadableImage(cause) };
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
    this.#attempt ??= openAttempt(this.#options.open);
    this.#attempt.outbox.add(request);
    return undefined;
  }

  #receive({ key, result }: AnalyzeImagesResponse): ItemResult<Item> | undefined {
    const answered = this.#unanswered.get(key);
    if (!answered || !result.case) return undefined;
    const { item } = answered;
    const error = result.case === "error" ? visageErrorFromStatus(result.value) : undefined;
    if (error && this.#options.shouldResend?.(item, error)) {
      this.#attempt!.rejection ??= error;
      this.#attempt!.outbox.close();
      return undefined;
    }
    this.#unanswered.delete(key);
    this.#retry.succeed();
    return { item, outcome: result.case === "response" ? { response: result.value } : { error: error! } };
  }

  /**
   * Continues after the end of a stream: opens a new one if some items have no result. Returns the result of an item that
   * has ended the stream by its size. Throws VisageError if a new stream cannot help or was tried too often since the
   * last result.
   */
  async #reopen(end: Settled<unknown>): Promise<ItemResult<Item> | undefined> {
    const { signal } = this.#options;
    const ended = this.#attempt!;
    this.#attempt = undefined;
    ended.outbox.close();
    if (signal.aborted) throw signal.reason;
    // The service also ends a stream on which nothing was sent for a while.
    if (this.#unanswered.size === 0) return undefined;
    const error = ended.rejection ?? errorOfEnd(end, ended.controller.signal);
    const isTooLarge = error.reason === REQUEST_TOO_LARGE;
    const result = isTooLarge ? this.#rejectFirst(error) : undefined;
    if (!isTooLarge) await sleep(this.#retry.delayAfter(error), signal);
    if (this.#unanswered.size > 0) this.#resend();
    return result;
  }

  /**
   * Rejects the item whose message was too large for the service. The service reads messages in order and answers those
   * that it has read, so it is the first without a result.
   */
  #rejectFirst(error: VisageError): ItemResult<Item> {
    const [key, { item }] = this.#unanswered.entries().next().value!;
    this.#unanswered.delete(key);
    this.#retry.succeed();
    return { item, outcome: { error } };
  }

  #resend(): void {
    this.#attempt = openAttempt(this.#options.open);
    for (const { request } of this.#unanswered.values()) this.#attempt.outbox.add(request);
    if (this.#isSourceDone) this.#attempt.outbox.end();
  }
}
