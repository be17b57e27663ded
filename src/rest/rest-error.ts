/** Everything that can be wrong with a request before it is a message. */
export type RestErrorKind =
  | "badRequest"
  | "badBox"
  | "wrongMethod"
  | "unsupportedType"
  | "unsupportedEncoding";

/** A request that cannot be served: the caller is at fault. The message is one sentence fit for the caller. */
export class RestError extends Error {
  override readonly name = "RestError";
  readonly kind: RestErrorKind;
  /** The field at fault, by its Protobuf name. */
  readonly field?: string;
  /** The methods that the path allows, where another one was used. */
  readonly allow?: readonly string[];

  constructor(
    kind: RestErrorKind,
    message: string,
    details: { field?: string; allow?: readonly string[]; cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    if (details.field !== undefined) this.field = details.field;
    if (details.allow) this.allow = details.allow;
  }
}
