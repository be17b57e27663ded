/** Why an image could not be fetched from its URL. */
export type FetchErrorKind =
  | "badUrl"
  | "unreachable"
  | "badStatus"
  | "tooSlow"
  | "tooLarge"
  | "notAnImage"
  | "tooMany"
  | "tooManyPerCaller";

/**
 * An image that could not be fetched. The message is for the caller: it names no host, address or URL, and has no
 * comma, colon or semicolon, which grpc-js shows as percent codes. The cause has the details and is for the log only.
 */
export class FetchError extends Error {
  override readonly name = "FetchError";
  readonly kind: FetchErrorKind;
  /** The HTTP status of the response, for `badStatus`. */
  readonly status?: number;

  constructor(kind: FetchErrorKind, message: string, details: { status?: number; cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    if (details.status !== undefined) this.status = details.status;
  }
}

/**
 * Makes the error for everything that fails on the way to the server. The message is always the same: a caller must not
 * be able to distinguish a rejected address from one where nothing listens, and so to map a private network.
 */
export function unreachableError(cause: unknown): FetchError {
  return new FetchError("unreachable", "The image could not be fetched from its URL.", { cause });
}
