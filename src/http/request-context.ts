import type { Caller as AdmittedCaller } from "../accounts/admission-result.ts";
import { REQUEST_ID, requestIdFrom, SUCCESS } from "../service/interceptors.ts";
import { CANCELED, RequestRecord } from "../service/request-record.ts";
import type { Protocol, RequestSummary } from "../telemetry/request-summary.ts";
import { type TraceContext, traceContextFrom } from "../telemetry/trace-context.ts";
import type { BodyLease } from "./byte-budget.ts";
import { type Exchange, isGone, onClose, type Request, type Response } from "./exchange.ts";
import { NO_OPERATION, type Route } from "./route.ts";

/** Options of a request context. */
export interface RequestContextOptions {
  /** Whether requests are traced. */
  readonly isTraced: boolean;
  readonly isDraining: () => boolean;
  /** Called exactly once, whatever happens to the request. */
  readonly onEnd: (context: RequestContext) => void;
}

/**
 * The state of one request from its head to its end: id, caller, route, deadline, the resources that it holds, and the
 * record for the log. It is created for every request and passed as an argument.
 */
export class RequestContext implements Exchange {
  readonly id: string;
  readonly request: Request;
  readonly response: Response;
  readonly startedAtMs = Date.now();
  readonly startMs = performance.now();
  readonly record: RequestRecord;
  readonly trace: TraceContext | undefined;
  /** Set by the head stage; undefined for an unknown path. */
  route: Route | undefined;
  protocol: Protocol = "rest";
  /** The client's deadline, by `performance.now()`. */
  deadlineMs = Number.POSITIVE_INFINITY;
  readonly #abort = new AbortController();
  readonly #options: RequestContextOptions;
  #caller: AdmittedCaller | undefined;
  #lease: BodyLease | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor(request: Request, response: Response, options: RequestContextOptions) {
    this.request = request;
    this.response = response;
    this.id = requestIdFrom(request.headers[REQUEST_ID]);
    this.trace = traceContextFrom(request.headers, options.isTraced);
    this.record = new RequestRecord(this.trace?.traceId);
    this.#options = options;
    // Every error is followed by `close`, which is handled below.
    request.on("error", () => {});
    response.on("error", () => {});
    onClose(response, this.#end);
    // Node does not close the responses of pipelined requests that still wait when their socket ends.
    if (request.httpVersionMajor === 1) request.socket?.setMaxListeners(0).once("close", this.#end);
    // A stream that was reset together with its head may have closed before the listener was added.
    if (isGone(response)) setImmediate(this.#end);
  }

  get isDraining(): boolean {
    return this.#options.isDraining();
  }

  /** Aborted when the client leaves before the response is complete. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get operation(): string {
    return this.route?.operation ?? NO_OPERATION;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Takes over the admitted caller's quota slot and frees it at the end of the request. */
  admit(caller: AdmittedCaller): void {
    this.#caller = caller;
    this.record.caller = caller;
    if (this.#isEnded) caller.finish(this.operation, CANCELED);
  }

  /** Releases the quota slot: the items of a stream have their own. */
  releaseQuota(): void {
    this.#caller?.release();
  }

  /** Takes over the lease of the body and releases it at the end of the request. */
  hold(lease: BodyLease): void {
    this.#lease = lease;
    if (this.#isEnded) lease.release();
  }

  /** Aborts the signal with a TimeoutError unless the request ends before. */
  expireAfter(timeoutMs: number): void {
    if (this.#isEnded) return;
    const expire = () =>
      this.#abort.abort(new DOMException("The request took longer than its limit.", "TimeoutError"));
    this.#timer = setTimeout(expire, timeoutMs);
  }

  /** The summary of the request for log, metrics and traces. */
  summary(): RequestSummary {
    const { record } = this;
    return {
      requestId: this.id,
      trace: this.trace,
      user: record.caller?.fingerprint,
      failedAuth: record.failedAuth,
      operation: this.operation,
      protocol: this.protocol,
      outcome: record.outcome ?? CANCELED,
      startedAtMs: this.startedAtMs,
      durationMs: performance.now() - this.startMs,
      imageBytes: record.imageBytes,
      faces: record.faces,
      stages: record.stages,
    };
  }

  readonly #end = (): void => {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.request.socket?.off("close", this.#end);
    clearTimeout(this.#timer);
    // Already answered; skip aborting.
    if (this.record.outcome === undefined)
      this.#abort.abort(new DOMException("The client closed the request.", "AbortError"));
    this.#lease?.release();
    this.#caller?.finish(this.operation, this.record.hasEffect ? SUCCESS : (this.record.outcome ?? CANCELED));
    this.#options.onEnd(this);
  };
}
