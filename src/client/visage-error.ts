import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema, RetryInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";

/** The fields of a VisageError besides those of Error. */
type ErrorFields = Omit<VisageError, keyof Error>;

/** A failed call: an error of the service, or of the connection to it. */
export class VisageError extends Error {
  override readonly name = "VisageError";
  /**
   * The reason from the error table of docs/errors.md, such as `NO_FACE`. Without a response of the service it is
   * `UNREACHABLE`, `DEADLINE_PASSED` or `CANCELLED`.
   */
  readonly kind: string;
  /** The envelope code, such as `3001`; undefined without a response of the service. */
  readonly code: string | undefined;
  /** The field of the image that caused the error, such as `img_1`. */
  readonly image: string | undefined;
  /** The stage that failed: `request`, `fetch`, `decode`, `find` or `quality`. */
  readonly stage: string | undefined;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** The delay that the service asks for before a retry; 0 if it asks for none. */
  readonly retryAfterMs: number;

  constructor(message: string, fields: ErrorFields, cause?: unknown) {
    super(message, { cause });
    this.kind = fields.kind;
    this.code = fields.code;
    this.image = fields.image;
    this.stage = fields.stage;
    this.retryable = fields.retryable;
    this.retryAfterMs = fields.retryAfterMs;
  }
}

/** The kinds of errors without a response of the service. All other codes are `UNREACHABLE`. */
const CONNECTION_KINDS: Readonly<Partial<Record<Code, string>>> = {
  [Code.DeadlineExceeded]: "DEADLINE_PASSED",
  [Code.Canceled]: "CANCELLED",
};

/** The retryable codes of errors without a response of the service. */
const RETRYABLE_CODES: readonly Code[] = [Code.Unavailable, Code.Aborted, Code.DeadlineExceeded];

/** Converts whatever a call has thrown. */
export function visageErrorFromCause(cause: unknown): VisageError {
  const error = ConnectError.from(cause);
  const [info] = error.findDetails(ErrorInfoSchema);
  const [retry] = error.findDetails(RetryInfoSchema);
  const { seconds = 0n, nanos = 0 } = retry?.retryDelay ?? {};
  const fields = {
    kind: info?.reason ?? CONNECTION_KINDS[error.code] ?? "UNREACHABLE",
    code: info?.metadata.code,
    image: info?.metadata.image,
    stage: info?.metadata.stage,
    retryable: info ? info.metadata.retryable === "true" : RETRYABLE_CODES.includes(error.code),
    retryAfterMs: Number(seconds) * 1000 + nanos / 1e6,
  };
  return new VisageError(error.rawMessage, fields, cause);
}
