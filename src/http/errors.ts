import type { OutgoingHttpHeaders } from "node:http";
import { ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus, errorToJson } from "@connectrpc/connect/protocol-connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { headersForCaller } from "../rest/headers.ts";
import { RestError } from "../rest/rest-error.ts";
import { connectErrorFrom, httpErrorFrom, statusJsonFrom } from "../service/error-responses.ts";
import { reasonFromKind } from "../service/error-table.ts";
import { firstGenerationError, isFirstGeneration } from "../service/first-generation.ts";
import { REQUEST_ID, requestIdFrom } from "../service/interceptors.ts";
import { ServiceError, serviceErrorFrom } from "../service/service-error.ts";
import type { Log } from "../telemetry/log.ts";
import type { WholeResponse } from "./exchange.ts";
import { targetFromUrl } from "./head.ts";
import type { HeadFault, HeadRejection } from "./http1-connections.ts";
import type { RequestContext } from "./request-context.ts";
import { hasEnvelope } from "./router.ts";
import { sendResponse } from "./send-response.ts";

/** Options of error responses. */
export interface ErrorOptions {
  readonly log: Log;
  /** Whether to answer like the original service, whose clients read errors only with HTTP status 200. */
  readonly isLegacy: boolean;
}

const KIND_BY_FAULT = {
  malformed: "badRequest",
  tooSlow: "requestTooSlow",
  headersTooLarge: "headersTooLarge",
} as const;

/** Makes the response to bytes that never became an HTTP/1.1 request. `url` is its target, if it is known. */
export function createHeadRejection(fault: HeadFault, url = ""): HeadRejection {
  const error = new ServiceError(KIND_BY_FAULT[fault]);
  const { status, headers, body } = httpErrorFrom(error);
  const isTyped = !hasEnvelope(targetFromUrl(url)?.path ?? "");
  return {
    status,
    headers: { ...headers, [REQUEST_ID]: requestIdFrom(undefined) },
    body: JSON.stringify(isTyped ? statusJsonFrom(error) : body),
  };
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
  { isLegacy }: ErrorOptions,
): WholeResponse {
  const plain = httpErrorFrom(error);
  const { headers } = plain;
  const { protocol } = context;
  if (protocol === "rest") {
    const metadata = fault instanceof ConnectError ? headersForCaller(fault.metadata) : {};
    if (!context.hasEnvelope)
      return jsonResponse(plain.status, { ...metadata, ...headers }, statusJsonFrom(error));
    const hasNoEnvelope = isLegacy && isFirstGeneration(context.request.headers);
    const body = hasNoEnvelope ? firstGenerationError(error.kind) : plain.body;
    return jsonResponse(isLegacy ? 200 : plain.status, { ...metadata, ...headers }, body);
  }
  const connectError = connectErrorFrom(error);
  connectError.metadata.set(REQUEST_ID, context.id);
  // The wrong method is an error of HTTP, before any RPC protocol.
  const httpStatus = error.kind === "wrongMethod" ? plain.status : undefined;
  if (protocol === "connect") {
    const status = httpStatus ?? codeToHttpStatus(connectError.code);
    return jsonResponse(status, headers, errorToJson(connectError, undefined));
  }
  // A gRPC or gRPC-Web response without a message has its trailers among the headers (Trailers-Only).
  const trailer = Object.fromEntries(setTrailerStatus(new Headers(), connectError));
  const type = context.request.headers["content-type"];
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
