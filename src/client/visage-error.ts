import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema, RetryInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";

/** What is known of a failure beside its message. */
interface Facts {
  readonly kind: string;
  readonly code: string | undefined;
  readonly image: string | undefined;
  readonly stage: string | undefined;
  readonly retryable: boolean;
  readonly retryAfterMs: number;
}

/** Why a call failed, in the service or on the way to it. */
export class VisageError extends Error {
  override readonly name = "VisageError";
  /**
   * The reason in the table of docs/errors.md, such as `NO_FACE`. Where no answer came it is
   * `UNREACHABLE`, `DEADLINE_PASSED` or `CANCELLED`.
   */
  readonly kind: string;
  /** The code of the envelope, such as `3001`; missing where no answer came. */
  readonly code: string | undefined;
  /** The field of the image at fault, such as `img_1`. */
  readonly image: string | undefined;
  /** The step that failed: `request`, `fetch`, `decode`, `find` or `quality`. */
  readonly stage: string | undefined;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** How long the service asks to wait before that; 0 where it does not say. */
  readonly retryAfterMs: number;

  constructor(message: string, facts: Facts, cause?: unknown) {
    super(message, { cause });
    this.kind = facts.kind;
    this.code = facts.code;
    this.image = facts.image;
    this.stage = facts.stage;
    this.retryable = facts.retryable;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** What an error without an answer from the service is called; all others say that there was none. */
const KINDS: Readonly<Partial<Record<Code, string>>> = {
  [Code.DeadlineExceeded]: "DEADLINE_PASSED",
  [Code.Canceled]: "CANCELLED",
};

/** What may pass of errors without an answer. */
const PASSING: readonly Code[] = [Code.Unavailable, Code.Aborted, Code.DeadlineExceeded];

/** Reads whatever a call has thrown. */
export function visageErrorFrom(fault: unknown): VisageError {
  const error = ConnectError.from(fault);
  const [info] = error.findDetails(ErrorInfoSchema);
  const [retry] = error.findDetails(RetryInfoSchema);
  const { seconds = 0n, nanos = 0 } = retry?.retryDelay ?? {};
  const facts = {
    kind: info?.reason ?? KINDS[error.code] ?? "UNREACHABLE",
    code: info?.metadata.code,
    image: info?.metadata.image,
    stage: info?.metadata.stage,
    retryable: info ? info.metadata.retryable === "true" : PASSING.includes(error.code),
    retryAfterMs: Number(seconds) * 1000 + nanos / 1e6,
  };
  return new VisageError(error.rawMessage, facts, fault);
}
