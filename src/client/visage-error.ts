import { Code, ConnectError } from "@connectrpc/connect";
import type { ServiceReason } from "../../gen/reasons.ts";
import { ErrorInfoSchema, RetryInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import type { Status } from "../../gen/ts/google/rpc/status_pb.ts";

/** The reason of an error without a response of the service. */
type ClientReason = "UNREACHABLE" | "DEADLINE_PASSED" | "CANCELLED" | "UNREADABLE_IMAGE";

/** Why a call failed: a reason of the error table in docs/errors.md, or one of the client. */
export type Reason = ServiceReason | ClientReason;

/** The fields of a VisageError besides those of Error. */
type ErrorFields = Omit<VisageError, keyof Error>;

/** A failed call: an error of the service, or of the connection to it. */
export class VisageError extends Error {
  override readonly name = "VisageError";
  /** Why the call failed. A newer service may have other reasons. */
  readonly reason: Reason | (string & Record<never, never>);
  /** The envelope code, such as `3001`; undefined without a response of the service. */
  readonly code: string | undefined;
  /** The field of the request that caused the error, such as `img_1`, `image` or `gallery_id`. */
  readonly field: string | undefined;
  /** The stage that failed: `request`, `fetch`, `decode`, `find` or `quality`. */
  readonly stage: string | undefined;
  /** The number of the face that caused the error of an import, from 1. */
  readonly position: number | undefined;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** The delay that the service asks for before a retry; 0 if it asks for none. */
  readonly retryAfterMs: number;

  constructor(message: string, fields: ErrorFields, cause?: unknown) {
    super(message, { cause });
    this.reason = fields.reason;
    this.code = fields.code;
    this.field = fields.field;
    this.stage = fields.stage;
    this.position = fields.position;
    this.retryable = fields.retryable;
    this.retryAfterMs = fields.retryAfterMs;
  }
}

/** The codes of errors without a response of the service that a retry can help against. */
const RETRYABLE_CODES: readonly Code[] = [
  ...[Code.Unavailable, Code.Aborted, Code.DeadlineExceeded],
  // Another party has reset the stream, or the connection was lost: the client reports its own cancellations itself.
  Code.Canceled,
];

/** The codes of Node's errors for lost connections and reset streams. Connect reports them as internal errors. */
const CONNECTION_ERRORS =
  /^(ERR_HTTP2_(STREAM_ERROR|STREAM_CANCEL|SESSION_ERROR|GOAWAY_SESSION|INVALID_SESSION|INVALID_STREAM)|ERR_STREAM_PREMATURE_CLOSE|EPIPE|ECONNABORTED|E(HOST|NET)(UNREACH|DOWN))$/;

/** Converts whatever a call of the generated client has thrown. */
export function visageErrorFromCause(cause: unknown): VisageError {
  const error = ConnectError.from(cause);
  const [info] = error.findDetails(ErrorInfoSchema);
  if (!info) return connectionErrorFrom(error);
  const [retry] = error.findDetails(RetryInfoSchema);
  const { seconds = 0n, nanos = 0 } = retry?.retryDelay ?? {};
  const fields = {
    reason: info.reason,
    code: info.metadata.code,
    field: info.metadata.field,
    stage: info.metadata.stage,
    position: info.metadata.message === undefined ? undefined : Number(info.metadata.message),
    retryable: info.metadata.retryable === "true",
    retryAfterMs: Number(seconds) * 1000 + nanos / 1e6,
  };
  return new VisageError(error.rawMessage, fields, error);
}

/** Converts the error of one image of a stream. */
export function visageErrorFromStatus({ code, message, details }: Status): VisageError {
  const error = new ConnectError(message, code);
  error.details = details.map(({ typeUrl, value }) => ({ type: typeUrl.replace(/.*\//, ""), value }));
  return visageErrorFromCause(error);
}

/** Creates an error without a response of the service. */
export function connectionError(
  reason: ClientReason,
  message: string,
  { retryable, cause }: { readonly retryable: boolean; readonly cause?: unknown },
): VisageError {
  const unknown = { code: undefined, field: undefined, stage: undefined, position: undefined };
  return new VisageError(message, { ...unknown, reason, retryable, retryAfterMs: 0 }, cause);
}

/** Creates the error of an image that could not be read. */
export function unreadableImage(cause: unknown): VisageError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return connectionError("UNREADABLE_IMAGE", message, { retryable: false, cause });
}

function connectionErrorFrom(error: ConnectError): VisageError {
  const isDeadline = error.code === Code.DeadlineExceeded;
  const causes = causesOf(error);
  const retryable = RETRYABLE_CODES.includes(error.code) || causes.some(isConnectionError);
  // An error of several addresses has no message, only a code.
  const message = error.rawMessage || causes.map(codeOf).find(Boolean) || Code[error.code];
  return connectionError(isDeadline ? "DEADLINE_PASSED" : "UNREACHABLE", message, {
    retryable,
    cause: error,
  });
}

/** Whether an error is one of Node's for lost connections, or what fetch throws in a browser. */
function isConnectionError(error: Error): boolean {
  return error instanceof TypeError || CONNECTION_ERRORS.test(codeOf(error) ?? "");
}

function codeOf(error: Error): string | undefined {
  return "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** The causes of an error, from the nearest to the first. */
function causesOf(error: Error): Error[] {
  const causes: Error[] = [];
  for (let { cause } = error; cause instanceof Error && !causes.includes(cause); { cause } = cause)
    causes.push(cause);
  return causes;
}
