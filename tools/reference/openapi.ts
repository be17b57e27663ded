/** A schema of the OpenAPI document. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  /** The types of the values of a map. */
  readonly "x-values"?: readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly default?: unknown;
}

/** A parameter of an operation. */
export interface Parameter {
  readonly name: string;
  readonly in: "query" | "path" | "header";
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

/** A body in one media type. */
export interface MediaType {
  readonly schema: Schema;
  /** The schema of one line of JSON. */
  readonly "x-itemSchema"?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, unknown>>;
}

/** The example of a body. That of lines is one line. */
export function exampleOf({ example, "x-itemSchema": ofLine }: MediaType): unknown {
  return ofLine ? JSON.parse(String(example)) : example;
}

/** A response of an operation. */
export interface Response {
  readonly $ref?: string;
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

/** An operation. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly deprecated?: boolean;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly description?: string;
    readonly content: Readonly<Record<string, MediaType>>;
  };
  readonly responses: Readonly<Record<string, Response>>;
}

/** The OpenAPI document, as far as the reference uses it. */
export interface Document {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly headers: Readonly<Record<string, { readonly description: string }>>;
  };
}

/** An operation with its place. */
export interface PlacedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** All operations of a tag, in the order of the document. */
export function operationsOf({ paths }: Document, tag: string): PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

/** Resolves a schema that is a reference. `name` is the name of its type. */
export function resolveSchema(
  { components }: Document,
  schema: Schema,
): { readonly schema: Schema; readonly name?: string } {
  if (schema.$ref === undefined) return { schema };
  const name = nameOf(schema.$ref);
  const target = components.schemas[name];
  if (!target) throw new Error(`The document has no schema ${name}.`);
  return { schema: target, name: name.replace(/^V1/, "") };
}

/** Resolves a response that is a reference. */
export function resolveResponse({ components }: Document, response: Response): Response {
  if (response.$ref === undefined) return response;
  const target = components.responses[nameOf(response.$ref)];
  if (!target) throw new Error(`The document has no response ${response.$ref}.`);
  return target;
}

function nameOf(reference: string): string {
  return reference.split("/").at(-1)!;
}
