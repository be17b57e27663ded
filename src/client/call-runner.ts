import type { CallOptions } from "@connectrpc/connect";
import { SharedAbortListeners, untilAborted } from "./abort.ts";
import { InFlightLimit, type Slot } from "./in-flight-limit.ts";
import { callWithRetries } from "./retry.ts";
import { connectionError } from "./visage-error.ts";

/** Limits of the calls of a client. See VisageClientOptions. */
export interface CallLimits {
  readonly timeoutMs: number;
  readonly retries: number;
  readonly maxInFlight: number;
}

/** The two steps of a call. */
export interface Call<Request, Response> {
  /**
   * Whether the call may run twice. Otherwise it is retried only if the service has rejected it without any work.
   * Default: true.
   */
  readonly isIdempotent?: boolean;
  /** Reads what the request needs. Runs once. */
  prepare(signal: AbortSignal): Promise<Request>;
  /** Sends the request. Runs again for a retry. */
  send(request: Request, options: CallOptions): Promise<Response>;
}

/** Runs the calls of a client: waits for a slot, prepares the request and sends it with retries within the deadline. */
export class CallRunner {
  readonly #limits: CallLimits;
  readonly #inFlight: InFlightLimit;
  /** One controller for each call that waits or is in flight. */
  readonly #controllers = new Set<AbortController>();
  readonly #listeners = new SharedAbortListeners();
  #isClosed = false;

  constructor(limits: CallLimits) {
    this.#limits = limits;
    this.#inFlight = new InFlightLimit(limits.maxInFlight);
  }

  /** The limits of every call. */
  get limits(): CallLimits {
    return this.#limits;
  }

  /** Rejects with VisageError, or with the error of `prepare`. */
  async run<Request, Response>(
    callerSignal: AbortSignal | undefined,
    call: Call<Request, Response>,
  ): Promise<Response> {
    const { controller, end } = this.open(callerSignal);
    try {
      const slot = await this.#inFlight.acquire(controller.signal);
      return await this.#runInSlot(slot, controller, call).finally(() => slot.release());
    } finally {
      end();
    }
  }

  /**
   * Creates the controller of a call, which aborts with a VisageError when the caller cancels the call or the client is
   * closed. `end` must be called at the end of the call.
   */
  open(callerSignal: AbortSignal | undefined): { readonly controller: AbortController; end(): void } {
    const controller = new AbortController();
    if (this.#isClosed) controller.abort(closedError());
    // Not AbortSignal.any, which leaks memory on Node 20 when a signal lives long.
    const stopListening =
      callerSignal &&
      this.#listeners.add(callerSignal, () => controller.abort(cancelledError(callerSignal.reason)));
    this.#controllers.add(controller);
    return {
      controller,
      end: () => {
        this.#controllers.delete(controller);
        stopListening?.();
      },
    };
  }

  /** Cancels all calls, also those that follow. */
  close(): void {
    this.#isClosed = true;
    for (const controller of this.#controllers) controller.abort(closedError());
  }

  async #runInSlot<Request, Response>(
    slot: Slot,
    controller: AbortController,
    { prepare, send, isIdempotent = true }: Call<Request, Response>,
  ): Promise<Response> {
    const { timeoutMs, retries } = this.#limits;
    const { signal } = controller;
    const deadline = performance.now() + timeoutMs;
    const timer = setTimeout(() => controller.abort(deadlineError()), timeoutMs);
    try {
      const request = await untilAborted(prepare(signal), signal);
      return await callWithRetries((leftMs) => send(request, { timeoutMs: leftMs, signal }), {
        deadline,
        retries,
        isIdempotent,
        signal,
        slot,
      });
    } finally {
      clearTimeout(timer);
    }
  }
}

function cancelledError(cause: unknown) {
  return connectionError("CANCELLED", "The call was cancelled.", { retryable: false, cause });
}

function closedError() {
  return connectionError("CANCELLED", "The client is closed.", { retryable: false });
}

function deadlineError() {
  return connectionError("DEADLINE_PASSED", "The call took longer than its deadline.", { retryable: true });
}
