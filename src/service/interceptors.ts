import { randomUUID } from "node:crypto";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import { connectErrorFrom } from "./error-responses.ts";
import { type ErrorKind, reasonFromKind } from "./error-table.ts";
import { noteOutcome } from "./record.ts";
import { type ServiceError, serviceErrorFrom } from "./service-error.ts";

/** The header of the id by which caller and log know a request. */
export const REQUEST_ID = "x-request-id";
/** The outcome of a request that succeeds; others are the reason of an error. */
const SUCCESS = "ok";
const WELL_FORMED_ID = /^[\w.:-]{1,64}$/;

/** The id of a request: the caller's own if it is well formed, else a new one. */
export function requestIdFrom(given: unknown): string {
  return typeof given === "string" && WELL_FORMED_ID.test(given) ? given : randomUUID();
}

/** Where what happened is written. */
export interface RequestLog {
  info(line: Readonly<Record<string, unknown>>): void;
  error(line: Readonly<Record<string, unknown>>): void;
}

/** Notes how each request ended. */
export const recordOutcome: Interceptor = (next) => async (request) => {
  try {
    const response = await next(request);
    noteOutcome(request.contextValues, SUCCESS);
    return response;
  } catch (fault) {
    const [info] = ConnectError.from(fault).findDetails(ErrorInfoSchema);
    noteOutcome(request.contextValues, info?.reason ?? Code[ConnectError.from(fault).code]);
    throw fault;
  }
};

/** Kinds whose true cause is kept from the caller. */
const CAUSE_FOR_THE_LOG: readonly ErrorKind[] = ["internal", "urlUnreachable", "urlTooSlow"];

/**
 * Turns what is thrown into what the caller may know, with the id of the request: those who speak gRPC look for it
 * where the error is. What the caller may not know goes to the log.
 */
export function translateErrors(log: RequestLog): Interceptor {
  return (next) => async (request) => {
    try {
      return await next(request);
    } catch (fault) {
      const requestId = request.header.get(REQUEST_ID)!;
      if (fault instanceof ConnectError && fault.cause === undefined) throw withId(fault, requestId);
      const error = serviceErrorFrom(fault instanceof ConnectError ? fault.cause : fault);
      // A caller who has left ends the work wherever it is; that is no fault of ours.
      if (CAUSE_FOR_THE_LOG.includes(error.kind) && !hasCallerLeft(request.signal)) {
        const line = {
          requestId,
          operation: request.method.name,
          reason: reasonFromKind(error.kind),
          cause: causeOf(error),
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

function hasCallerLeft({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason?.name !== "TimeoutError";
}

/** Everything that led to an error; of a fault of our own also where. */
function causeOf({ kind, cause }: ServiceError): string {
  if (kind === "internal") return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  const messages: string[] = [];
  for (let fault = cause; fault instanceof Error; fault = fault.cause) messages.push(fault.message);
  return messages.join(" / ");
}
