import type { OutgoingHttpHeaders } from "node:http";
import { ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus, errorToJson } from "@connectrpc/connect/protocol-connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { headersForCaller } from "../rest/headers.ts";
import { RestError } from "../rest/rest-error.ts";
import { connectErrorFrom, httpErrorFrom, statusJsonFrom } from "../service/error-responses.ts";
import { reasonFromKind } from "../service/error-table.ts";
import { REQUEST_ID, requestIdFrom } from "../service/interceptors.ts";
import { ServiceError, serviceErrorFrom } from "../service/service-error.ts";
import type { Log } from "../telemetry/log.ts";
import { type Api, apiOf } from "./api.ts";
import type { WholeResponse } from "./exchange.ts";
import type { HeadFault, HeadRejection } from "./http1-connections.ts";
import type { RequestContext } from "./request-context.ts";
import { targetFromUrl } from "./route.ts";
import { sendResponse } from "./send-response.ts";

/** Options of error responses. */
export interface ErrorOptions {
  readonly log: Log;
  /** They decide how errors over REST are written. */
  readonly apis: readonly Api[];
}

const KIND_BY_FAULT = {
  malformed: "badRequest",
  tooSlow: "requestTooSlow",
  headersTooLarge: "headersTooLarge",
} as const;

/** Makes the response to bytes that never became an HTTP/1.1 request. `url` is its target, if it is known. */
export function createHeadRejection(
  fault: HeadFault,
  url: string | undefined,
  apis: readonly Api[],
): HeadRejection {
  const error = new ServiceError(KIND_BY_FAULT[fault]);
  const { status, headers } = httpErrorFrom(error);
  return {
    status,
    headers: { ...headers, [REQUEST_ID]: requestIdFrom(undefined) },
    body: JSON.stringify(apiOfUrl(url, apis).errorBody(error, {})),
  };
}

/** The API of a request target; if it has none, errors are a google.rpc.Status. */
function apiOfUrl(url = "", apis: readonly Api[]): Pick<Api, "errorBody" | "errorStatus"> {
  return apiOf(targetFromUrl(url)?.path ?? "/", apis) ?? { errorBody: statusJsonFrom };
}

/** Answers a request with an error in its own protocol, and records the outcome. */
export function sendError(context: RequestContext, fault: unknown, options: ErrorOptions): void {
  const error = requestErrorFrom(fault);
  context.record.outcome = reasonFromKind(error.kind);
  // Errors of a method were logged by the interceptor that translated them.
  const isLogged = fault instanceof ConnectError || context.signal.aborted;
  if (error.kind === "internal" && !isLogged) logFault(context, error, options.log);
  sendResponse(context, responseFrom(context, fault, error, options));
}

function responseFrom(
  context: RequestContext,
  fault: unknown,
  error: ServiceError,
  { apis }: ErrorOptions,
): WholeResponse {
  const { status: plainStatus, headers } = httpErrorFrom(error);
  const { protocol, request } = context;
  if (protocol === "rest") {
    const metadata = fault instanceof ConnectError ? headersForCaller(fault.metadata) : {};
    const { errorBody, errorStatus = plainStatus } = apiOfUrl(request.url, apis);
    return jsonResponse(errorStatus, { ...metadata, ...headers }, errorBody(error, request.headers));
  }
  const connectError = connectErrorFrom(error);
  connectError.metadata.set(REQUEST_ID, context.id);
  // The wrong method is an error of HTTP, before any RPC protocol.
  const httpStatus = error.kind === "wrongMethod" ? plainStatus : undefined;
  if (protocol === "connect") {
    const status = httpStatus ?? codeToHttpStatus(connectError.code);
    return jsonResponse(status, headers, errorToJson(connectError, undefined));
  }
  // A gRPC or gRPC-Web response without a message has its trailers among the headers (Trailers-Only).
  const trailer = Object.fromEntries(setTrailerStatus(new Headers(), connectError));
  const type = request.headers["content-type"];
  return { status: httpStatus ?? 200, headers: { ...headers, "content-type": type, ...trailer } };
}

function jsonResponse(status: number, headers: OutgoingHttpHeaders, json: unknown): WholeResponse {
  return { status, headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(json) };
}

function logFault(
  { id, trace, operation }: RequestContext,
  { cause, message }: ServiceError,
  log: Log,
): void {
  const stack = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause ?? message);
  log.error({ requestId: id, trace_id: trace?.traceId, operation, reason: "INTERNAL", cause: stack });
}

/** Converts anything that a stage has thrown to the error to report. */
export function requestErrorFrom(fault: unknown): ServiceError {
  if (!(fault instanceof RestError)) return serviceErrorFrom(fault);
  const { kind, message, field } = fault;
  return new ServiceError(kind, message, { field });
}
