import { randomUUID } from "node:crypto";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import { connectErrorFrom } from "./error-responses.ts";
import { type ErrorKind, reasonFromKind } from "./error-table.ts";
import { setOutcome } from "./request-record.ts";
import { type ServiceError, serviceErrorFrom } from "./service-error.ts";

/** The header with the id of a request, which the log also states. */
export const REQUEST_ID = "x-request-id";
/** The outcome of a successful request; the outcome of others is the reason of an error. */
const SUCCESS = "ok";
const VALID_ID = /^[\w.:-]{1,64}$/;

/** Returns the client's request id if it is valid, otherwise a new one. */
export function requestIdFrom(header: unknown): string {
  return typeof header === "string" && VALID_ID.test(header) ? header : randomUUID();
}

/** The log of requests. */
export interface RequestLog {
  info(line: Readonly<Record<string, unknown>>): void;
  error(line: Readonly<Record<string, unknown>>): void;
}

/** Records the outcome of each request. */
export const recordOutcome: Interceptor = (next) => async (request) => {
  try {
    const response = await next(request);
    setOutcome(request.contextValues, SUCCESS);
    return response;
  } catch (fault) {
    const [info] = ConnectError.from(fault).findDetails(ErrorInfoSchema);
    setOutcome(request.contextValues, info?.reason ?? Code[ConnectError.from(fault).code]);
    throw fault;
  }
};

/** Kinds whose cause is hidden from the caller and logged. */
const LOGGED_KINDS: readonly ErrorKind[] = ["internal", "urlUnreachable", "urlTooSlow"];

/**
 * Converts anything that is thrown to the error for the caller, and logs causes that are hidden from the caller. Adds
 * the request id to the metadata of the error, where gRPC clients look for it.
 */
export function translateErrors(log: RequestLog): Interceptor {
  return (next) => async (request) => {
    try {
      return await next(request);
    } catch (fault) {
      const requestId = request.header.get(REQUEST_ID)!;
      if (fault instanceof ConnectError && fault.cause === undefined) throw withId(fault, requestId);
      const error = serviceErrorFrom(fault instanceof ConnectError ? fault.cause : fault);
      // A cancellation may interrupt the work anywhere and is not an error of the service.
      if (LOGGED_KINDS.includes(error.kind) && !isCancelled(request.signal)) {
        const line = {
          requestId,
          operation: request.method.name,
          reason: reasonFromKind(error.kind),
          cause: causeText(error),
        };
        if (error.kind === "internal") log.error(line);
        else log.info(line);
      }
      throw withId(connectErrorFrom(error), requestId);
    }
  };
}

function withId(error: ConnectError, requestId: string): ConnectError {
  error.metadata.set(REQUEST_ID, requestId);
  return error;
}

function isCancelled({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason?.name !== "TimeoutError";
}

/** Describes the cause of an error for the log: the stack of an internal error, otherwise all messages. */
function causeText({ kind, cause }: ServiceError): string {
  if (kind === "internal") return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  const messages: string[] = [];
  for (let fault = cause; fault instanceof Error; fault = fault.cause) messages.push(fault.message);
  return messages.join(" / ");
}
