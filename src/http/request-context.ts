import type { Caller as AdmittedCaller } from "../accounts/authenticator.ts";
import { REQUEST_ID, requestIdFrom } from "../service/interceptors.ts";
import { RequestRecord } from "../service/record.ts";
import type { Protocol, RequestEnd } from "../telemetry/request-end.ts";
import type { BodyLease } from "./byte-budget.ts";
import { type Exchange, isGone, onClose, type Request, type Response } from "./exchange.ts";
import { NO_OPERATION, type Route } from "./router.ts";

/** The outcome of a request whose client did not wait for the response. */
const CANCELED = "CANCELED";

/** What a request needs to know of the service, and the service of it. */
export interface RequestEvents {
  readonly isDraining: () => boolean;
  /** Called exactly once, whatever happens to the request. */
  readonly onEnd: (context: RequestContext) => void;
}

/**
 * One request from its head to its end: who sent it, what it is for, what it holds, and what the log will say of it.
 * It is made for every request and passed as an argument; nothing else knows about a request.
 */
export class RequestContext implements Exchange {
  readonly id: string;
  readonly request: Request;
  readonly response: Response;
  readonly startedAtMs = Date.now();
  readonly startMs = performance.now();
  readonly record = new RequestRecord();
  /** Set by the router. */
  route: Route | undefined;
  protocol: Protocol = "rest";
  /** By `performance.now()`: when the client stops waiting, or the service does. */
  deadlineMs = Number.POSITIVE_INFINITY;
  readonly #abort = new AbortController();
  readonly #events: RequestEvents;
  #caller: AdmittedCaller | undefined;
  #lease: BodyLease | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor(request: Request, response: Response, events: RequestEvents) {
    this.request = request;
    this.response = response;
    this.id = requestIdFrom(request.headers[REQUEST_ID]);
    this.#events = events;
    // An error of either is followed by `close`, which is what counts.
    request.on("error", () => {});
    response.on("error", () => {});
    onClose(response, this.#end);
    // Node does not close the response to a pipelined request that is still waiting when its socket ends.
    if (request.httpVersionMajor === 1) request.socket?.setMaxListeners(0).once("close", this.#end);
    // A stream that was reset together with its head may have closed before anyone could listen.
    if (isGone(response)) setImmediate(this.#end);
  }

  get isDraining(): boolean {
    return this.#events.isDraining();
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

  /** Takes the place in the user's quota that an admission holds, to give it back at the end. */
  admit(caller: AdmittedCaller): void {
    this.#caller = caller;
    this.record.caller = caller;
    if (this.#isEnded) caller.finish(this.operation, CANCELED);
  }

  /** Takes the bytes that the body is charged for, to give them back at the end. */
  hold(lease: BodyLease): void {
    this.#lease = lease;
    if (this.#isEnded) lease.release();
  }

  /** Aborts the signal with a TimeoutError unless the request ends before. */
  expireAfter(milliseconds: number): void {
    if (this.#isEnded) return;
    const expire = () =>
      this.#abort.abort(new DOMException("The request took longer than its limit.", "TimeoutError"));
    this.#timer = setTimeout(expire, milliseconds);
  }

  /** The summary of the request for log, metrics and traces. */
  summary(): RequestEnd {
    const { record } = this;
    return {
      requestId: this.id,
      user: record.caller?.fingerprint,
      operation: this.operation,
      wire: this.protocol,
      outcome: record.outcome ?? CANCELED,
      startedAtMs: this.startedAtMs,
      milliseconds: performance.now() - this.startMs,
      imageBytes: record.imageBytes,
      faces: record.faces,
      stages: record.stages,
      headers: this.request.headers,
    };
  }

  readonly #end = (): void => {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.request.socket?.off("close", this.#end);
    clearTimeout(this.#timer);
    // A request that was answered has no more work to abort.
    if (this.record.outcome === undefined)
      this.#abort.abort(new DOMException("The client has left.", "AbortError"));
    this.#lease?.release();
    this.#caller?.finish(this.operation, this.record.outcome ?? CANCELED);
    this.#events.onEnd(this);
  };
}
