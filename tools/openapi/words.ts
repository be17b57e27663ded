import type { DescMethod, JsonObject } from "@bufbuild/protobuf";

/**
 * What an API says of itself that its descriptors cannot. Message types and fields go by their full names, such as
 * `face.v1.Face.age`; a name that the service does not have is refused.
 */
export interface Words {
  /** The Info Object; its description is the comment at the head of the contract. */
  readonly info: JsonObject;
  /** The Security Scheme Objects, each of which every operation demands. */
  readonly securitySchemes: JsonObject;
  /** Message types that requests write in a form of their own. */
  readonly forms: Readonly<Record<string, FormWords>>;
  /** What a field is like beyond its type; of a map that is flattened, `propertyNames` must have the pattern. */
  readonly fields: Readonly<Record<string, JsonObject>>;
  /** Fields with presence that requests must give, or that every answer has. */
  readonly required: readonly string[];
  /** The JSON of an error with one of these codes. */
  readonly errorEnvelope: (codes: readonly string[]) => JsonObject;
  readonly errors: readonly ErrorWords[];
  readonly headers: readonly HeaderWords[];
  /** Path Item Objects of what is served beside the service, by path, and the Tag Objects that they use. */
  readonly otherPaths: JsonObject;
  readonly otherTags: readonly JsonObject[];
}

/** How requests write a message: the schema of its text, and what else is taken for it. */
export interface FormWords {
  readonly text: JsonObject;
  /** A text to try an operation with. */
  readonly example?: string;
  /** In JSON, another way than text. */
  readonly json?: JsonObject;
  /** In multipart, a file of these content types. A message that comes as a file does not stand in a query. */
  readonly file?: readonly string[];
}

/** One way in which a request can fail. */
export interface ErrorWords {
  readonly reason: string;
  readonly code: string;
  readonly http: number;
  readonly retry: boolean;
  readonly text: string;
}

/** A header of answers. */
export interface HeaderWords {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
  /** Whether each answer on which it may stand has it. */
  readonly always: boolean;
  /** Tells on which answers it may stand; those to errors are the same for every method, and have none. */
  readonly on: (status: number, method?: DescMethod) => boolean;
}
