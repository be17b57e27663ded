import { randomUUID } from "node:crypto";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import { connectErrorFrom } from "./error-responses.ts";
import { type ErrorKind, reasonFromKind } from "./error-table.ts";
import { recordFrom, setOutcome } from "./request-record.ts";
import { ServiceError, serviceErrorFrom } from "./service-error.ts";

/** The header with the id of a request, which the log also states. */
export const REQUEST_ID = "x-request-id";
/** The outcome of a successful request; the outcome of others is the reason of an error. */
export const SUCCESS = "ok";
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

/** Records the outcome of each request, and of each stream at its end. */
export const recordOutcome: Interceptor = (next) => async (request) => {
  const { contextValues } = request;
  const recordError = (fault: unknown): never => {
    const [info] = ConnectError.from(fault).findDetails(ErrorInfoSchema);
    setOutcome(contextValues, info?.reason ?? Code[ConnectError.from(fault).code]);
    throw fault;
  };
  const response = await next(request).catch(recordError);
  if (!response.stream) {
    setOutcome(contextValues, SUCCESS);
    return response;
  }
  const onEnd = () => setOutcome(contextValues, SUCCESS);
  return { ...response, message: watchMessages(response.message, recordError, onEnd) };
};

/** Passes messages on, with callbacks for an error and for the end. */
async function* watchMessages<T>(
  messages: AsyncIterable<T>,
  onError: (fault: unknown) => never,
  onEnd: () => void = () => {},
): AsyncGenerator<T> {
  try {
    yield* messages;
  } catch (fault) {
    onError(fault);
  }
  onEnd();
}

/** Kinds whose cause is hidden from the caller and logged, with the level. */
const LOG_LEVELS: Readonly<Partial<Record<ErrorKind, keyof RequestLog>>> = {
  internal: "error",
  galleriesUnavailable: "error",
  urlUnreachable: "info",
  urlTooSlow: "info",
};

/**
 * Converts anything that is thrown to the error for the caller, and logs causes that are hidden from the caller. Adds
 * the request id to the metadata of the error, where gRPC clients look for it.
 */
export function translateErrors(log: RequestLog): Interceptor {
  return (next) => async (request) => {
    const translate = (fault: unknown): never => {
      const requestId = request.header.get(REQUEST_ID)!;
      if (fault instanceof ConnectError && fault.cause === undefined) throw withId(fault, requestId);
      const error = serviceErrorFrom(fault instanceof ConnectError ? fault.cause : fault);
      // A cancellation may interrupt the work anywhere and is not an error of the service.
      if (!isCancelled(request.signal))
        logHiddenCause(log, error, {
          requestId,
          trace_id: recordFrom(request.contextValues)?.traceId,
          operation: request.method.name,
        });
      throw withId(connectErrorFrom(error), requestId);
    };
    const message = request.stream ? watchMessages(request.message, throwParseError) : undefined;
    const response = await next(message ? ({ ...request, message } as typeof request) : request).catch(
      translate,
    );
    return response.stream ? { ...response, message: watchMessages(response.message, translate) } : response;
  };
}

/** Connect reports a message of a stream that it cannot parse as its own error, which would count as internal. */
function throwParseError(fault: unknown): never {
  throw fault instanceof ConnectError ? new ServiceError("badRequest", undefined, { cause: fault }) : fault;
}

/** Logs the cause of an error if it is hidden from the caller. */
export function logHiddenCause(
  log: RequestLog,
  error: ServiceError,
  request: { readonly requestId: string; readonly trace_id: string | undefined; readonly operation: string },
): void {
  const level = LOG_LEVELS[error.kind];
  if (level) log[level]({ ...request, reason: reasonFromKind(error.kind), cause: causeText(error) });
}

function withId(error: ConnectError, requestId: string): ConnectError {
  error.metadata.set(REQUEST_ID, requestId);
  return error;
}

/** Whether the client has left. */
export function isCancelled({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason?.name !== "TimeoutError";
}

/** Describes the cause of an error for the log: the stack of an internal error, otherwise all messages. */
function causeText({ kind, cause }: ServiceError): string {
  if (kind === "internal") return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  // Errors of the system and of libraries have a code, and their messages name the host. Messages of ours do not.
  const isAboutUrl = kind === "urlUnreachable" || kind === "urlTooSlow";
  const messages: string[] = [];
  for (let fault = cause; fault instanceof Error; fault = fault.cause)
    messages.push(isAboutUrl && "code" in fault ? String(fault.code) : fault.message);
  return messages.join(" / ");
}
