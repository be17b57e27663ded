import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema, RetryInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import { AccountError } from "../accounts/account-store.ts";
import { FaceError } from "../core/index.ts";
import { FetchError } from "../fetch/fetch-error.ts";
import { GalleryError } from "../galleries/gallery-store.ts";
import { QueueError } from "../workers/pool.ts";
import { ERRORS, type ErrorKind, kindFromReason } from "./error-table.ts";

/** The delay before a retry if an error does not state one. */
const DEFAULT_RETRY_MS = 1000;

/** Details of an error. */
export interface ErrorDetails {
  /** The field of the request that is at fault. */
  readonly field?: string | undefined;
  /** The box at fault in the image `field`, such as `bboxes_1` or `bboxes[3]`. */
  readonly boxField?: string | undefined;
  /** Additional `google.rpc.ErrorInfo.metadata`. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** The methods that the path supports, for the header Allow. */
  readonly allow?: readonly string[] | undefined;
  /** The delay before a retry; 1 second by default. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** An error that is reported to the caller. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly kind: ErrorKind;
  readonly field: string | undefined;
  readonly boxField: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly allow: readonly string[] | undefined;
  /** The delay before a retry in whole milliseconds; meaningful only for a kind that can be retried. */
  readonly retryAfterMs: number;

  constructor(kind: ErrorKind, message: string = ERRORS[kind].text, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.kind = kind;
    this.field = details.field;
    this.boxField = details.boxField;
    this.metadata = details.metadata ?? {};
    this.allow = details.allow;
    this.retryAfterMs = Math.ceil(details.retryAfterMs ?? DEFAULT_RETRY_MS);
  }
}

const QUEUE_ERRORS = { overloaded: "overloaded", workerLost: "internal", closed: "draining" } as const;

/** Kinds of failed fetches, except for an error status, which has two. */
const FETCH_ERRORS = {
  badUrl: "badRequest",
  unreachable: "urlUnreachable",
  tooSlow: "urlTooSlow",
  tooLarge: "imageTooLarge",
  notAnImage: "unsupportedFormat",
  tooMany: "overloaded",
  tooManyPerCaller: "tooManyInFlight",
} as const;

/** Converts anything that was thrown to the error to report; an unexpected one becomes `internal`. */
export function serviceErrorFrom(fault: unknown, field?: string): ServiceError {
  if (fault instanceof ServiceError) return fault;
  if (fault instanceof FaceError) return serviceErrorFromFace(fault, field);
  if (fault instanceof FetchError) {
    const metadata = { stage: "fetch" };
    return new ServiceError(kindFromFetchError(fault), fault.message, { field, metadata, cause: fault });
  }
  if (fault instanceof QueueError) {
    const { retryAfterMs } = fault;
    return new ServiceError(QUEUE_ERRORS[fault.kind], undefined, { cause: fault, retryAfterMs });
  }
  if (fault instanceof AccountError && fault.kind)
    return new ServiceError(fault.kind, undefined, { cause: fault });
  if (fault instanceof GalleryError) {
    const { kind, retryAfterMs } = fault;
    // A caller that lacks the permission gets another error, which names it.
    if (kind === "distanceTooWide") return new ServiceError("scopeMissing", fault.message, { cause: fault });
    return new ServiceError(kind, fault.message, { cause: fault, retryAfterMs });
  }
  if (fault instanceof ConnectError) return serviceErrorFromConnect(fault);
  if (isTimeout(fault)) return new ServiceError("deadlinePassed", undefined, { cause: fault });
  return new ServiceError("internal", undefined, { field, cause: fault });
}

/** The field with the box for each image. */
const BOX_FIELDS: Readonly<Record<string, string>> = {
  img_1: "bboxes_1",
  img_2: "bboxes_2",
  img: "bboxes",
  image_attr: "bboxes",
  image: "boxes",
  source: "source.box",
  target: "target.box",
};

/** The images for which a request may have several boxes. */
const IMAGES_WITH_BOXES = ["image_attr", "image"];

function serviceErrorFromFace(error: FaceError, field?: string): ServiceError {
  const { kind, message, box, boxIndex } = error;
  const boxes = field === undefined ? undefined : BOX_FIELDS[field];
  if ((kind !== "badBox" && kind !== "noFaceInBox") || boxes === undefined)
    return new ServiceError(kind, message, { field, cause: error });
  const hasBoxes = IMAGES_WITH_BOXES.includes(field!) && boxIndex !== undefined;
  const boxField = hasBoxes ? `${boxes}[${boxIndex}]` : boxes;
  return new ServiceError(kind, message.replace(/\.$/, ` (${boxField}).`), {
    field,
    boxField,
    metadata: box && { box: [box.x1, box.y1, box.x2, box.y2].join(",") },
    cause: error,
  });
}

function kindFromFetchError({ kind, status = 0 }: FetchError): ErrorKind {
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
  const reported = info && kindFromReason(info.reason);
  if (reported) {
    // The kind implies those that are left out.
    const { code, retryable, field, box_field: boxField, ...metadata } = info.metadata;
    const details = { field, boxField, metadata, retryAfterMs: retryDelayMs(error) };
    return new ServiceError(reported, error.rawMessage, details);
  }
  if (UNKNOWN_COMPRESSION.test(error.rawMessage))
    return new ServiceError("unsupportedEncoding", undefined, { cause: error });
  const kind = CONNECT_ERRORS[error.code] ?? "internal";
  return new ServiceError(kind, kind === "badRequest" ? error.rawMessage : undefined, { cause: error });
}

/** The delay of RetryInfo in milliseconds, if the error has one. */
function retryDelayMs(error: ConnectError): number | undefined {
  const [{ retryDelay } = {}] = error.findDetails(RetryInfoSchema);
  return retryDelay && Number(retryDelay.seconds) * 1000 + retryDelay.nanos / 1e6;
}

function isTimeout(fault: unknown): boolean {
  return fault instanceof DOMException && fault.name === "TimeoutError";
}
