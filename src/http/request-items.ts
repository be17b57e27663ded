import type { Caller } from "../accounts/authenticator.ts";
import { CANCELED, RequestRecord } from "../service/request-record.ts";
import type { StreamItem, StreamItems } from "../service/stream-items.ts";
import type { RequestObserver } from "../telemetry/request-summary.ts";
import type { Admission } from "./admission.ts";
import type { BodyLease } from "./byte-budget.ts";
import type { RequestContext } from "./request-context.ts";

/** Options of the items of a stream. */
export interface RequestItemsOptions {
  readonly window: number;
  readonly admitItem: Admission["admitItem"];
  /** Called for every item that has ended. */
  readonly observe: RequestObserver;
}

/** The messages of a stream that have been read and have not ended. */
export class RequestItems implements StreamItems {
  readonly window: number;
  readonly #context: RequestContext;
  readonly #options: RequestItemsOptions;
  /** Items that have been read but not taken, in order. */
  readonly #read: RequestItem[] = [];
  readonly #open = new Set<RequestItem>();
  #isClosed = false;

  constructor(context: RequestContext, options: RequestItemsOptions) {
    this.window = options.window;
    this.#context = context;
    this.#options = options;
    context.signal.addEventListener("abort", () => this.close(), { once: true });
  }

  /** Adds the item of a message that has been read. It takes over the lease of the message. */
  add(lease: BodyLease): void {
    const item = new RequestItem(this.#context, this.#options, lease, () => this.#open.delete(item));
    this.#open.add(item);
    this.#read.push(item);
    // A message may have been on its way through the parser when the stream ended.
    if (this.#isClosed) item.end(CANCELED);
  }

  take(): StreamItem {
    return this.#read.shift()!;
  }

  /** Ends all items that have not ended, for example because the client left. */
  close(): void {
    this.#isClosed = true;
    for (const item of [...this.#open]) item.end(CANCELED);
  }
}

class RequestItem implements StreamItem {
  readonly record = new RequestRecord();
  readonly #context: RequestContext;
  readonly #options: RequestItemsOptions;
  readonly #lease: BodyLease;
  readonly #onEnd: () => void;
  readonly #startedAtMs = Date.now();
  readonly #startMs = performance.now();
  readonly #abort = new AbortController();
  #caller: Caller | undefined;
  #isEnded = false;

  constructor(context: RequestContext, options: RequestItemsOptions, lease: BodyLease, onEnd: () => void) {
    this.#context = context;
    this.#options = options;
    this.#lease = lease;
    this.#onEnd = onEnd;
  }

  get requestId(): string {
    return this.#context.id;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  async admit(): Promise<void> {
    const caller = await this.#options.admitItem(this.#context.request, this.signal);
    this.#caller = caller;
    this.record.caller = caller;
    if (!this.#isEnded) return;
    caller.release();
    this.signal.throwIfAborted();
  }

  readonly end = (outcome: string): void => {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#abort.abort(new DOMException("The item has ended.", "AbortError"));
    this.#lease.release();
    this.#onEnd();
    const { operation, id: requestId, protocol, request } = this.#context;
    this.#caller?.finish(operation, outcome);
    const { caller, imageBytes, faces, stages } = this.record;
    this.#options.observe({
      requestId,
      user: caller?.fingerprint ?? this.#context.record.caller?.fingerprint,
      operation: `${operation}.item`,
      protocol,
      outcome,
      startedAtMs: this.#startedAtMs,
      durationMs: performance.now() - this.#startMs,
      imageBytes,
      faces,
      stages,
      headers: request.headers,
    });
  };
}
