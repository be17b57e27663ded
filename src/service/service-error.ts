import { Code, ConnectError } from "@connectrpc/connect";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  QuotaFailureSchema,
  RetryInfoSchema,
} from "../../gen/ts/google/rpc/error_details_pb.ts";
import { FaceError } from "../core/index.ts";
import { FetchError } from "../fetch/fetch-error.ts";
import { QueueError } from "../workers/pool.ts";
import { ERRORS, type ErrorKind, kindOf, reasonOf } from "./error-table.ts";

/** The delay before a retry when the place of failure does not state one. */
const RETRY_MS = 1000;

/** Details of an error. */
export interface ErrorPlace {
  /** The field of the request that is at fault. */
  readonly field?: string | undefined;
  /** Additional `google.rpc.ErrorInfo.metadata`. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** The delay before a retry, in seconds or in milliseconds; 1 second unless either is given. */
  readonly retryAfterSeconds?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** An error that is reported to the caller. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly kind: ErrorKind;
  readonly field: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** The delay before a retry in whole milliseconds; meaningful only for a kind that can be retried. */
  readonly retryAfterMs: number;

  constructor(kind: ErrorKind, message: string = ERRORS[kind].text, place: ErrorPlace = {}) {
    super(message, { cause: place.cause });
    this.kind = kind;
    this.field = place.field;
    this.metadata = place.metadata ?? {};
    const { retryAfterSeconds, retryAfterMs = retryAfterSeconds && retryAfterSeconds * 1000 } = place;
    this.retryAfterMs = Math.ceil(retryAfterMs ?? RETRY_MS);
  }

  /** The same delay for the header Retry-After: whole seconds, rounded up, at least 1. */
  get retryAfterSeconds(): number {
    return Math.max(1, Math.ceil(this.retryAfterMs / 1000));
  }
}

const DOMAIN = "visage";

/** The stage of the kinds that concern an image; all others fail at the stage `request`. */
const STAGES: Readonly<Partial<Record<ErrorKind, string>>> = {
  urlUnreachable: "fetch",
  urlRefused: "fetch",
  urlFailed: "fetch",
  urlTooSlow: "fetch",
  unreadableImage: "decode",
  unsupportedFormat: "decode",
  imageTooLarge: "decode",
  noFace: "find",
  noFaceInBox: "find",
  faceTooSmall: "quality",
  lowIllumination: "quality",
  incorrectPose: "quality",
};

const QUEUE_ERRORS = { overloaded: "overloaded", workerLost: "internal", closed: "draining" } as const;

/** Kinds of failed fetches, except for an error status, which has two. */
const FETCH_ERRORS = {
  badUrl: "badRequest",
  unreachable: "urlUnreachable",
  tooSlow: "urlTooSlow",
  tooLarge: "imageTooLarge",
  notAnImage: "unsupportedFormat",
  tooMany: "overloaded",
  tooManyOfCaller: "tooManyInFlight",
} as const;

/** Converts anything that was thrown to the error to report; an unexpected one becomes `internal`. */
export function serviceErrorFrom(fault: unknown, field?: string): ServiceError {
  if (fault instanceof ServiceError) return fault;
  if (fault instanceof FaceError) {
    const { box } = fault;
    const metadata = box && { box: [box.x1, box.y1, box.x2, box.y2].join(",") };
    return new ServiceError(fault.kind, fault.message, { field, metadata, cause: fault });
  }
  if (fault instanceof FetchError) {
    const place = { field, cause: fault, metadata: { stage: "fetch" } };
    return new ServiceError(kindOfFetch(fault), fault.message, place);
  }
  if (fault instanceof QueueError) {
    const { retryAfterMs } = fault;
    return new ServiceError(QUEUE_ERRORS[fault.kind], undefined, { cause: fault, retryAfterMs });
  }
  if (fault instanceof ConnectError) return serviceErrorFromConnect(fault);
  if (isTimeout(fault)) return new ServiceError("deadlinePassed", undefined, { cause: fault });
  return new ServiceError("internal", undefined, { field, cause: fault });
}

function kindOfFetch({ kind, status = 0 }: FetchError): ErrorKind {
  if (kind !== "badStatus") return FETCH_ERRORS[kind];
  return status >= 500 ? "urlFailed" : "urlRefused";
}

/** Connect reports an unknown compression with the same code as a malformed stream of messages. */
const UNKNOWN_COMPRESSION = /^unknown compression /;

/** Kinds of the errors that Connect raises by itself; any other code is an internal error. */
const CONNECT_ERRORS: Readonly<Partial<Record<Code, ErrorKind>>> = {
  [Code.InvalidArgument]: "badRequest",
  [Code.Unimplemented]: "badRequest",
  [Code.ResourceExhausted]: "requestTooLarge",
  [Code.DeadlineExceeded]: "deadlinePassed",
};

function serviceErrorFromConnect(error: ConnectError): ServiceError {
  const [info] = error.findDetails(ErrorInfoSchema);
  const reported = info && kindOf(info.reason);
  if (reported) {
    const place = { field: info.metadata.image, retryAfterMs: retryDelayOf(error) };
    return new ServiceError(reported, error.rawMessage, place);
  }
  if (UNKNOWN_COMPRESSION.test(error.rawMessage))
    return new ServiceError("unsupportedEncoding", undefined, { cause: error });
  const kind = CONNECT_ERRORS[error.code] ?? "internal";
  return new ServiceError(kind, kind === "badRequest" ? error.rawMessage : undefined, { cause: error });
}

/** The delay of RetryInfo in milliseconds, if the error has one. */
function retryDelayOf(error: ConnectError): number | undefined {
  const [{ retryDelay } = {}] = error.findDetails(RetryInfoSchema);
  return retryDelay && Number(retryDelay.seconds) * 1000 + retryDelay.nanos / 1e6;
}

function isTimeout(fault: unknown): boolean {
  return fault instanceof DOMException && fault.name === "TimeoutError";
}

/** Converts an error for gRPC, gRPC-Web and Connect, with its details. */
export function connectErrorFrom(error: ServiceError): ConnectError {
  const { code, grpc, retry } = ERRORS[error.kind];
  const info = {
    reason: reasonOf(error.kind),
    domain: DOMAIN,
    metadata: {
      code,
      retryable: String(retry),
      stage: STAGES[error.kind] ?? "request",
      ...(error.field && { image: error.field }),
      ...error.metadata,
    },
  };
  const subject = QUOTAS[error.kind];
  const violation = { field: error.field ?? "", description: error.message };
  return new ConnectError(
    error.message,
    grpc,
    retry && PUSHBACK_CODES.includes(grpc) ? { [PUSHBACK]: pushbackOf(error) } : undefined,
    [
      { desc: ErrorInfoSchema, value: info },
      ...(grpc === Code.InvalidArgument
        ? [{ desc: BadRequestSchema, value: { fieldViolations: [violation] } }]
        : []),
      ...(subject
        ? [{ desc: QuotaFailureSchema, value: { violations: [{ subject, description: error.message }] } }]
        : []),
      ...(retry ? [{ desc: RetryInfoSchema, value: { retryDelay: durationOf(error.retryAfterMs) } }] : []),
    ],
    error.cause,
  );
}

function durationOf(milliseconds: number): { seconds: bigint; nanos: number } {
  return { seconds: BigInt(Math.floor(milliseconds / 1000)), nanos: (milliseconds % 1000) * 1e6 };
}

/** The metadata by which a server delays the retries that gRPC libraries make by themselves (gRFC A6). */
const PUSHBACK = "grpc-retry-pushback-ms";
/** Codes that retry policies list. */
const PUSHBACK_CODES: readonly Code[] = [Code.Unavailable, Code.ResourceExhausted];
/** A library should not hold a call open for longer than this, such as until the next month. */
const MAX_PUSHBACK_MS = 60_000;
const DO_NOT_RETRY = "-1";

function pushbackOf({ retryAfterMs }: ServiceError): string {
  return retryAfterMs > MAX_PUSHBACK_MS ? DO_NOT_RETRY : String(retryAfterMs);
}

/** The `google.rpc.QuotaFailure` subject of each kind that reports an exceeded quota. */
const QUOTAS: Readonly<Partial<Record<ErrorKind, string>>> = {
  quotaSpent: "requests per month",
  tooManyRequests: "requests per second",
  tooManyInFlight: "requests in flight",
};

/** HTTP statuses that carry the header Retry-After. */
const WITH_RETRY_AFTER: readonly number[] = [429, 503];

/** Converts an error for plain HTTP: a status, headers and the error envelope. */
export function httpAnswerFrom(fault: unknown) {
  const { kind, message, field, retryAfterSeconds } = serviceErrorFrom(fault);
  const { code, http, retry } = ERRORS[kind];
  const headers: Record<string, string> = {};
  if (field !== undefined) headers["x-visage-image"] = field;
  if (WITH_RETRY_AFTER.includes(http)) headers["retry-after"] = String(retryAfterSeconds);
  return {
    status: http,
    headers,
    body: {
      status: "error",
      code,
      success: false,
      message,
      data: { reason: reasonOf(kind), retryable: retry },
    },
  };
}
