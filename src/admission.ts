import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { codeToHttpStatus, errorToJson } from "@connectrpc/connect/protocol-connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import type { Admission, Gate, GateRequest, Limits, Refusal } from "./accounts/gate.ts";
import { TokenBuckets } from "./accounts/token-buckets.ts";
import { clientAddressOf, type TrustedProxies } from "./client-address.ts";
import type { RequestEnd, RequestObserver } from "./ops/request-end.ts";
import { isOpen, isRpc, operationAt, wireOf } from "./paths.ts";
import { dropBody } from "./rest/drop-body.ts";
import { reasonOf } from "./service/error-table.ts";
import { REQUEST_ID } from "./service/interceptors.ts";
import { RequestRecord } from "./service/record.ts";
import { connectErrorFrom, httpAnswerFrom, ServiceError } from "./service/service-error.ts";

export type Request = IncomingMessage | Http2ServerRequest;
export type Response = ServerResponse | Http2ServerResponse;

/** Who is let in, and how those who are not are told. */
export interface DoorOptions {
  readonly gate: Gate;
  readonly trustedProxies: TrustedProxies;
  /** The status of plain HTTP that is given in place of an error's own. */
  readonly httpStatus: (status: number) => number;
  /** Whether there is room for a request of this user's, by its fingerprint. */
  readonly hasRoomFor: (user: string) => boolean;
  /** How many requests of one user are refused at once in a second, for want of room; the others hear of it later. */
  readonly refusalsPerSecond: number;
  /** Whether nobody is let in any more. */
  readonly isDraining: () => boolean;
  /** Hears of every request, admitted or not, when it is over. */
  readonly onEnd: RequestObserver;
}

/** Calls `serve` for a request that may come in, with its record where it needs a user, and answers the others. */
export type Door = (request: Request, response: Response, serve: Serve) => void;

type Serve = (record?: RequestRecord) => void;

/** What a request is told that comes too late. */
const DRAINING = { admitted: false, kind: "draining", retryAfterSeconds: 1, limits: undefined } as const;

type Verdict = Admission | typeof DRAINING;

/** As long as one who is refused is told to stay away: coming earlier gains nothing. */
const LATE_MS = 1000;

/** The outcome of a request whose caller did not wait for it. */
const LEFT = "CANCELED";

/**
 * Lets requests in by their headers alone, and refuses the others in the way of their own wire. Connect's
 * interceptors would come too late: they run when the whole body has been read.
 */
export function createDoor(options: DoorOptions): Door {
  const { gate, trustedProxies, httpStatus, hasRoomFor, isDraining, onEnd } = options;
  const refusals = new TokenBuckets();
  const refusalRate = { perSecond: options.refusalsPerSecond, burst: options.refusalsPerSecond };

  function proceed(visit: Visit, admission: Verdict, serve: Serve): void {
    const { request, response } = visit;
    const caller = admission.admitted ? admission.caller : undefined;
    const record = new RequestRecord(caller);
    // Whatever happens: one who is never heard of again must not hold a place in its quota.
    const end = () => {
      const told = endOf(visit, record);
      caller?.finish(told.operation, told.outcome);
      onEnd(told);
    };
    if (response.destroyed) {
      end();
      return;
    }
    response.once("close", end);

    const limits = admission.admitted ? admission.caller.limits : admission.limits;
    for (const [name, value] of Object.entries(headersFromLimits(limits))) response.setHeader(name, value);
    const refuseWith = (error: ServiceError) => {
      record.outcome = reasonOf(error.kind);
      refuse(request, response, error, httpStatus);
    };
    if (!admission.admitted) refuseWith(errorFromRefusal(admission));
    // Told before the body is read: in an overload, reading what is then refused would take what others need.
    else if (operationAt(request) !== "none" && !hasRoomFor(admission.caller.fingerprint)) {
      // One who asks again and again would take even more, so it is kept waiting for its answer.
      const isTooOften = refusals.take(admission.caller.fingerprint, refusalRate, performance.now());
      answerAfter(isTooOften ? LATE_MS : 0, response, () => refuseWith(new ServiceError("overloaded")));
    } else begin(request, response, () => serve(record));
  }

  return (request, response, serve) => {
    if (request.method === "OPTIONS" || isOpen(request)) return begin(request, response, serve);
    const visit = { request, response, startedAtMs: Date.now(), startMs: performance.now() };
    const admission = isDraining() ? DRAINING : gate.admit(visitorOf(request, trustedProxies));
    if (admission instanceof Promise) admission.then((late) => proceed(visit, late, serve));
    else proceed(visit, admission, serve);
  };
}

function answerAfter(milliseconds: number, response: Response, answer: () => void): void {
  if (milliseconds === 0) answer();
  else {
    const timer = setTimeout(answer, milliseconds);
    response.once("close", () => clearTimeout(timer));
  }
}

interface Visit {
  readonly request: Request;
  readonly response: Response;
  readonly startedAtMs: number;
  readonly startMs: number;
}

function endOf({ request, startedAtMs, startMs }: Visit, record: RequestRecord): RequestEnd {
  return {
    requestId: String(request.headers[REQUEST_ID]),
    user: record.caller?.fingerprint,
    operation: operationAt(request),
    wire: wireOf(request),
    outcome: record.outcome ?? LEFT,
    startedAtMs,
    milliseconds: performance.now() - startMs,
    imageBytes: record.imageBytes,
    faces: record.faces,
    stages: record.stages,
    headers: request.headers,
  };
}

function begin({ headers }: Request, response: Response, serve: () => void): void {
  // Only now is the body of one who waits to be asked for it wanted.
  if (headers.expect) response.writeContinue();
  serve();
}

function visitorOf({ headers, socket }: Request, trusted: TrustedProxies): GateRequest {
  const textOf = (value: string | string[] | undefined) => (Array.isArray(value) ? value.join(",") : value);
  return {
    userId: textOf(headers.user_id),
    get address() {
      return clientAddressOf(socket.remoteAddress ?? "", textOf(headers["x-forwarded-for"]), trusted);
    },
  };
}

function errorFromRefusal({ kind, retryAfterSeconds }: Refusal | typeof DRAINING): ServiceError {
  return new ServiceError(kind, undefined, { retryAfterSeconds });
}

function headersFromLimits(limits: Limits | undefined): Record<string, string> {
  return limits
    ? {
        "ratelimit-limit": String(limits.limit),
        "ratelimit-remaining": String(limits.remaining),
        "ratelimit-reset": String(limits.resetSeconds),
      }
    : {};
}

function refuse(
  request: Request,
  response: Response,
  error: ServiceError,
  httpStatus: (status: number) => number,
): void {
  const type = request.headers["content-type"] ?? "";
  const plain = httpAnswerFrom(error);
  const headers: Record<string, string> = { ...plain.headers };
  // One who waits to be asked for its body may send it after all, or the next request in its place.
  if (request.headers.expect && request.httpVersionMajor === 1) headers.connection = "close";
  else dropBody(request);
  if (type.startsWith("application/grpc")) {
    const trailer = new Headers();
    setTrailerStatus(trailer, connectErrorFrom(error));
    writeTrailersOnly(response, { ...headers, "content-type": type, ...Object.fromEntries(trailer) });
  } else if (isRpc(request)) {
    const told = connectErrorFrom(error);
    writeJson(response, codeToHttpStatus(told.code), headers, errorToJson(told, undefined));
  } else {
    writeJson(response, httpStatus(plain.status), headers, plain.body);
  }
}

/** A gRPC answer without a message: its headers are its trailers, and must end the stream. */
function writeTrailersOnly(response: Response, headers: Record<string, string>): void {
  if ("stream" in response)
    response.stream.respond({ ...response.getHeaders(), ":status": 200, ...headers }, { endStream: true });
  else write(response, 200, headers, "");
}

function writeJson(response: Response, status: number, headers: Record<string, string>, json: unknown): void {
  write(response, status, { ...headers, "content-type": "application/json" }, JSON.stringify(json));
}

function write(response: Response, status: number, headers: Record<string, string>, body: string): void {
  // Set by hand: Node knows the length only of an answer whose headers it writes itself.
  const length = String(Buffer.byteLength(body));
  (response as ServerResponse).writeHead(status, { ...headers, "content-length": length });
  (response as ServerResponse).end(body);
}
