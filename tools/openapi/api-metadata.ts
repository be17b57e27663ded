import type { DescMethod, JsonObject } from "@bufbuild/protobuf";

/**
 * What the OpenAPI document says about an API that its Protobuf descriptors cannot express. Messages and fields are
 * identified by their full names, such as `face.v1.Face.age`; unknown names are rejected.
 */
export interface ApiMetadata {
  /** The Info Object. Its description is the comment at the top of the proto file. */
  readonly info: JsonObject;
  /** The Security Scheme Objects. Every operation accepts any one of them. */
  readonly securitySchemes: JsonObject;
  /** Messages that requests write in a format of their own, such as a box as `x1,y1,x2,y2`. */
  readonly formats: Readonly<Record<string, RequestFormat>>;
  /** Schema keywords of a field beyond its type. */
  readonly fields: Readonly<Record<string, JsonObject>>;
  /** Fields with presence that every request, or every response, must contain. */
  readonly required: readonly string[];
  /** A JSON request of each method and the response to it, by the name of the method. */
  readonly examples: Readonly<Record<string, ExampleCall>>;
  /** The schema of every error response. */
  readonly errorEnvelope: JsonObject;
  /** Creates the response to a request that failed with this error. */
  readonly errorExample: (error: ErrorDescription) => JsonObject;
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
  /** Content types of its file part. Such a message is in the body; all others are query parameters. */
  readonly file?: readonly string[];
  /** Texts for trying out a query parameter. */
  readonly examples?: readonly { readonly name: string; readonly summary: string; readonly value: string }[];
}

/** A request that succeeds, and its response. */
export interface ExampleCall {
  readonly request: JsonObject;
  readonly response: JsonObject;
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
