import type { Caller } from "../accounts/admission-result.ts";
import type { ErrorKind } from "../service/error-table.ts";
import { CANCELED, RequestRecord } from "../service/request-record.ts";
import { ServiceError } from "../service/service-error.ts";
import type { StreamItem, StreamItems } from "../service/stream-items.ts";
import type { RequestObserver } from "../telemetry/request-summary.ts";
import type { Admission } from "./admission.ts";
import type { BodyLease } from "./byte-budget.ts";
import type { RequestContext } from "./request-context.ts";

/** Options of the items of a stream. */
export interface RequestItemsOptions {
  readonly window: number;
  readonly admitItem: Admission["admitItem"];
  /** Called if the user may not continue, for example because its key was revoked. */
  readonly onForbidden: (error: ServiceError) => void;
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
  /** Settles when the admission of the last item has ended. */
  #admissions: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(context: RequestContext, options: RequestItemsOptions) {
    this.window = options.window;
    this.#context = context;
    this.#options = options;
    context.signal.addEventListener("abort", () => this.close(), { once: true });
  }

  /** Adds the item of a message that has been read. It takes over the lease of the message. */
  add(lease: BodyLease): void {
    const item = new RequestItem(this.#context, lease, {
      admit: (signal) => this.#admitInTurn(signal),
      observe: this.#options.observe,
      onEnd: () => this.#open.delete(item),
    });
    this.#open.add(item);
    this.#read.push(item);
    // A message may have been on its way through the parser when the stream ended.
    if (this.#isClosed) item.end(CANCELED);
  }

  /** Whether items have been read that have not ended. */
  get isBusy(): boolean {
    return this.#open.size > 0;
  }

  take(): StreamItem {
    return this.#read.shift()!;
  }

  /** Ends all items that have not ended, for example because the client left. */
  close(): void {
    this.#isClosed = true;
    for (const item of [...this.#open]) item.end(CANCELED);
  }

  /** Admits items one after the other: each waits for its own token of the rate limit only. */
  #admitInTurn(signal: AbortSignal): Promise<Caller> {
    const admission = this.#admissions.then(() => {
      signal.throwIfAborted();
      return this.#options.admitItem(this.#context.request, signal);
    });
    this.#admissions = admission.catch((error: unknown) => {
      if (error instanceof ServiceError && FORBIDDEN_KINDS.includes(error.kind))
        this.#options.onForbidden(error);
    });
    return admission;
  }
}

/** The errors of a user that may not continue. */
const FORBIDDEN_KINDS: readonly ErrorKind[] = ["noUserId", "unknownUser", "noSubscription"];

/** What an item needs of its stream. */
interface ItemCallbacks {
  readonly admit: (signal: AbortSignal) => Promise<Caller>;
  readonly observe: RequestObserver;
  readonly onEnd: () => void;
}

class RequestItem implements StreamItem {
  readonly record: RequestRecord;
  readonly #context: RequestContext;
  readonly #lease: BodyLease;
  readonly #callbacks: ItemCallbacks;
  readonly #startedAtMs = Date.now();
  readonly #startMs = performance.now();
  readonly #abort = new AbortController();
  #caller: Caller | undefined;
  #isEnded = false;

  constructor(context: RequestContext, lease: BodyLease, callbacks: ItemCallbacks) {
    this.record = new RequestRecord(context.trace?.traceId);
    this.#context = context;
    this.#lease = lease;
    this.#callbacks = callbacks;
  }

  get requestId(): string {
    return this.#context.id;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  async admit(): Promise<void> {
    const caller = await this.#callbacks.admit(this.signal);
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
    this.#callbacks.onEnd();
    const { operation, id: requestId, trace, protocol } = this.#context;
    this.#caller?.finish(operation, outcome);
    const { caller, imageBytes, faces, stages } = this.record;
    this.#callbacks.observe({
      requestId,
      trace,
      user: caller?.fingerprint ?? this.#context.record.caller?.fingerprint,
      operation: `${operation}.item`,
      protocol,
      outcome,
      startedAtMs: this.#startedAtMs,
      durationMs: performance.now() - this.#startMs,
      imageBytes,
      faces,
      stages,
    });
  };
}
