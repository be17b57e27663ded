/** Why a request cannot be converted to a message. */
export type RestErrorKind = "badRequest" | "badBox" | "unsupportedEncoding";

/** A request that cannot be converted to a message. The error's message is one sentence for the caller. */
export class RestError extends Error {
  override readonly name = "RestError";
  readonly kind: RestErrorKind;
  /** The field at fault, by its Protobuf name. */
  readonly field: string | undefined;

  constructor(kind: RestErrorKind, message: string, details: { field?: string; cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    this.field = details.field;
  }
}

/** Makes the error of a text that is not JSON. */
export function invalidJsonError(cause?: unknown): RestError {
  // Without the parser's message: it quotes the body, which may be a photo.
  return new RestError("badRequest", "The body is not valid JSON.", { cause });
}
