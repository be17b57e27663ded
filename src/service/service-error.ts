import { Code, ConnectError } from "@connectrpc/connect";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  QuotaFailureSchema,
  RetryInfoSchema,
} from "../../gen/ts/google/rpc/error_details_pb.ts";
import { FaceError, QueueError } from "../core/index.ts";
import { FetchError } from "../fetch/fetch-error.ts";
import { ERRORS, type ErrorKind, kindOf, reasonOf } from "./error-table.ts";

/** How long a caller should wait before trying again what can be tried again. */
const RETRY_SECONDS = 1;

/** Where a failure lies. */
export interface ErrorPlace {
  /** The field of the request that is at fault. */
  readonly field?: string | undefined;
  /** More that a program may want to know, by name. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** When to try again, where that is known better than by the kind. */
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}

/** A failure that is told to the caller. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly kind: ErrorKind;
  readonly field: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly retryAfterSeconds: number;

  constructor(kind: ErrorKind, message: string = ERRORS[kind].text, place: ErrorPlace = {}) {
    super(message, { cause: place.cause });
    this.kind = kind;
    this.field = place.field;
    this.metadata = place.metadata ?? {};
    this.retryAfterSeconds = place.retryAfterSeconds ?? RETRY_SECONDS;
  }
}

const DOMAIN = "visage";

/** The step at which a request of a kind fails; the others fail before an image is looked at. */
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

/** What became of a URL, beside an error status, of which there are two kinds. */
const FETCH_ERRORS = {
  badUrl: "badRequest",
  unreachable: "urlUnreachable",
  tooSlow: "urlTooSlow",
  tooLarge: "imageTooLarge",
  notAnImage: "unsupportedFormat",
} as const;

/** Turns whatever was thrown into what the caller is told; a fault of our own becomes "internal error". */
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
  if (fault instanceof QueueError)
    return new ServiceError(QUEUE_ERRORS[fault.kind], undefined, { cause: fault });
  if (fault instanceof ConnectError) return serviceErrorFromConnect(fault);
  if (isTimeout(fault)) return new ServiceError("deadlinePassed", undefined, { cause: fault });
  return new ServiceError("internal", undefined, { field, cause: fault });
}

function kindOfFetch({ kind, status = 0 }: FetchError): ErrorKind {
  if (kind !== "badStatus") return FETCH_ERRORS[kind];
  return status >= 500 ? "urlFailed" : "urlRefused";
}

/** What Connect's own errors mean, which it raises for what it cannot read; all others are faults of ours. */
const CONNECT_ERRORS: Readonly<Partial<Record<Code, ErrorKind>>> = {
  [Code.InvalidArgument]: "badRequest",
  [Code.Unimplemented]: "badRequest",
  [Code.ResourceExhausted]: "requestTooLarge",
  [Code.DeadlineExceeded]: "deadlinePassed",
};

function serviceErrorFromConnect(error: ConnectError): ServiceError {
  const [info] = error.findDetails(ErrorInfoSchema);
  const told = info && kindOf(info.reason);
  if (told) return new ServiceError(told, error.rawMessage, { field: info.metadata.image });
  const kind = CONNECT_ERRORS[error.code] ?? "internal";
  return new ServiceError(kind, kind === "badRequest" ? error.rawMessage : undefined, { cause: error });
}

function isTimeout(fault: unknown): boolean {
  return fault instanceof DOMException && fault.name === "TimeoutError";
}

/** The error as gRPC and Connect tell it, with its details. */
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
    undefined,
    [
      { desc: ErrorInfoSchema, value: info },
      ...(grpc === Code.InvalidArgument
        ? [{ desc: BadRequestSchema, value: { fieldViolations: [violation] } }]
        : []),
      ...(subject
        ? [{ desc: QuotaFailureSchema, value: { violations: [{ subject, description: error.message }] } }]
        : []),
      ...(retry
        ? [{ desc: RetryInfoSchema, value: { retryDelay: { seconds: BigInt(error.retryAfterSeconds) } } }]
        : []),
    ],
    error.cause,
  );
}

/** Kinds that say that something is used up, by what. */
const QUOTAS: Readonly<Partial<Record<ErrorKind, string>>> = {
  quotaSpent: "requests per month",
  tooManyRequests: "requests per second",
};

/** HTTP statuses that say when to come again. */
const WITH_RETRY_AFTER: readonly number[] = [429, 503];

/** The failure as plain HTTP tells it: a status, headers and the error envelope. */
export function httpAnswerFrom(fault: unknown) {
  const { kind, message, field, retryAfterSeconds } = serviceErrorFrom(fault);
  const { code, http } = ERRORS[kind];
  const headers: Record<string, string> = {};
  if (field !== undefined) headers["x-visage-image"] = field;
  if (WITH_RETRY_AFTER.includes(http)) headers["retry-after"] = String(retryAfterSeconds);
  return {
    status: http,
    headers,
    body: { status: "error", code, success: false, message, data: {} },
  };
}
