/** Why the queue or its workers did not do a job. */
export type QueueErrorKind = "overloaded" | "workerLost" | "closed";

/** A job that was not done although nothing is wrong with it. */
export class QueueError extends Error {
  override readonly name = "QueueError";
  readonly kind: QueueErrorKind;
  /** The delay before a retry; only for `overloaded`. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: QueueErrorKind, message: string, retryAfterMs?: number) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}
