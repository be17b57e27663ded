/** Why an image could not be fetched from its URL. */
export type FetchErrorKind =
  | "badUrl"
  | "unreachable"
  | "badStatus"
  | "tooSlow"
  | "tooLarge"
  | "notAnImage"
  | "tooMany"
  | "tooManyOfCaller";

/**
 * An image that could not be fetched. The message is fit for the caller: it names no host, address or URL, and
 * has no comma, colon or semicolon, which one of the gRPC implementations shows as percent codes. What truly
 * happened is in the cause, which is for the log alone.
 */
export class FetchError extends Error {
  override readonly name = "FetchError";
  readonly kind: FetchErrorKind;
  /** What the server answered with, where that is the fault. */
  readonly status?: number;

  constructor(kind: FetchErrorKind, message: string, details: { status?: number; cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    if (details.status !== undefined) this.status = details.status;
  }
}

/**
 * The error for everything that is wrong on the way to the server. It always says the same, so that a caller
 * cannot tell a refused address from one where nothing listens, and so map a private network.
 */
export function unreachableError(cause: unknown): FetchError {
  return new FetchError("unreachable", "The image could not be fetched from its URL.", { cause });
}
