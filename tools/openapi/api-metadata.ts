import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import type { ErrorKind } from "../../src/service/error-table.ts";

/** What the OpenAPI document has besides its services. */
export interface DocumentMetadata {
  /** The Info Object. */
  readonly info: JsonObject;
  /** The Security Scheme Objects. */
  readonly securitySchemes: JsonObject;
  /** The names of those of which an operation accepts any one, unless its service has its own. */
  readonly security: readonly string[];
  /** Path Item Objects of endpoints that are not methods of a service, and the Tag Objects that they use. */
  readonly otherPaths: JsonObject;
  readonly otherTags: readonly JsonObject[];
}

/**
 * What the OpenAPI document says about a service that its Protobuf descriptors cannot express. Messages and fields are
 * identified by their full names, such as `face.v1.Face.age`; unknown names are rejected.
 */
export interface ServiceMetadata {
  /** The start of the names of its schemas, responses and operations, which must be unique in the document. */
  readonly prefix: string;
  /**
   * Whether a JSON body is the request message. Otherwise it has the images as text, and all other fields are in the
   * query only.
   */
  readonly hasMessageBodies: boolean;
  /** Messages that requests write in a format of their own, such as a box as `x1,y1,x2,y2`. */
  readonly formats: Readonly<Record<string, RequestFormat>>;
  /** Schema keywords of a field beyond its type. */
  readonly fields: Readonly<Record<string, JsonObject>>;
  /** Fields with presence, and without google.api.field_behavior, that every request or response must contain. */
  readonly required: readonly string[];
  /** Fields without presence that a response may lack nevertheless. */
  readonly optional: readonly string[];
  /** A JSON request of each method and the response to it, by the full name of the method. */
  readonly examples: Readonly<Record<string, ExampleCall>>;
  /** The schema of every error response, and its name without the prefix. */
  readonly errorSchema: JsonObject;
  readonly errorSchemaName: string;
  /** Creates the response to a request that failed with this error. */
  readonly errorExample: (kind: ErrorKind) => JsonObject;
  /** The errors in the table of the error schema, which several services may share. */
  readonly errorsOfSchema: readonly ErrorKind[];
  /** The start of the names of its error responses. */
  readonly responsePrefix: string;
  /** The statuses of errors that end a stream before its first response. */
  readonly streamErrorStatuses: readonly number[];
  readonly headers: readonly HeaderDescription[];
  /** The names of the security schemes of which its operations accept any one, if they are not those of all. */
  readonly security?: readonly string[];
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
