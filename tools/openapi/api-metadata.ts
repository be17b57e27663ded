import type { DescMethod, JsonObject } from "@bufbuild/protobuf";

/**
 * What the OpenAPI document says about an API that its Protobuf descriptors cannot express. Messages and fields are
 * identified by their full names, such as `face.v1.Face.age`; unknown names are rejected.
 */
export interface ApiMetadata {
  /** The Info Object. Its description is the comment at the top of the proto file. */
  readonly info: JsonObject;
  /** The Security Scheme Objects. Every operation requires all of them. */
  readonly securitySchemes: JsonObject;
  /** Messages that requests write in a format of their own, such as a box as `x1,y1,x2,y2`. */
  readonly formats: Readonly<Record<string, RequestFormat>>;
  /** Schema keywords of a field beyond its type. A flattened map needs `propertyNames.pattern`. */
  readonly fields: Readonly<Record<string, JsonObject>>;
  /** Fields with presence that every request, or every response, must contain. */
  readonly required: readonly string[];
  /** Creates the schema of an error response with one of these codes. */
  readonly errorEnvelope: (codes: readonly string[]) => JsonObject;
  readonly errors: readonly ErrorDescription[];
  readonly headers: readonly HeaderDescription[];
  /** Path Item Objects of endpoints that are not methods of the service, and the Tag Objects that they use. */
  readonly otherPaths: JsonObject;
  readonly otherTags: readonly JsonObject[];
}

/** How requests write a message. */
export interface RequestFormat {
  /** The schema of its text. */
  readonly text: JsonObject;
  /** A text for trying out an operation. */
  readonly example?: string;
  /** The schema of another form that JSON bodies may use. */
  readonly json?: JsonObject;
  /** Content types of the file part that multipart bodies may use. Such a message is not a query parameter. */
  readonly file?: readonly string[];
}

/** One error that a request can end with. */
export interface ErrorDescription {
  readonly reason: string;
  readonly code: string;
  readonly http: number;
  readonly retryable: boolean;
  readonly text: string;
}

/** A response header. */
export interface HeaderDescription {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
  /** Whether every response to which the header applies has it. */
  readonly always: boolean;
  /** Tells to which responses the header applies. Error responses are shared by all methods and have no method. */
  readonly appliesTo: (status: number, method?: DescMethod) => boolean;
}
