/** A field of a form that tries an operation. */
export interface TryField {
  readonly name: string;
  readonly place: "path" | "query";
  readonly isRequired: boolean;
  readonly kind: "text" | "number" | "switch" | "choice" | "choices";
  /** The values of a choice. */
  readonly values?: readonly string[];
  /** What the field contains at first. */
  readonly value?: string | number | boolean | readonly string[];
}

/** What a form that tries an operation consists of. */
export interface TryForm {
  readonly method: string;
  /** The path, with fields in braces. */
  readonly path: string;
  readonly fields: readonly TryField[];
  /** Names of the photos that a multipart body has. */
  readonly files?: readonly string[];
  /** What the JSON body contains at first. */
  readonly json?: object;
  /** An example line of a body of JSON lines. */
  readonly lines?: unknown;
  /** Whether the lines contain a photo each. */
  readonly isImageStream?: boolean;
}
