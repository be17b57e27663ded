import type { DescField, DescMessage, DescMethod, JsonObject } from "@bufbuild/protobuf";
import { type Route, variablesOf } from "../../src/rest/routes.ts";
import type { RequestFormat, ServiceMetadata } from "./api-metadata.ts";
import { readDescription } from "./comments.ts";
import { exampleOf } from "./examples.ts";
import { fieldSchema, isRequired, schemaName, schemaRef } from "./messages.ts";

/*
 * The service accepts every field in the query and in the body, and more media types. A multipart body is described
 * with the images only and everything else in the query, because generators would turn the same name in two places into
 * two parameters, and each of them writes lists in multipart bodies in another way. A JSON body that is the request
 * message has all fields. Multipart is the first of the two media types, because generators that support only one take
 * the first, and files are what most callers have.
 */

const IN_BODY_TOO = "A JSON body may have it instead; the query wins.";

/** The media type of a stream: a message in each line. */
export const JSON_LINES = "application/x-ndjson";

/** The HTTP method and path of any method. */
export type MethodRoute = Pick<Route, "verb" | "path"> & { readonly method: DescMethod };

/** Returns the fields of a request that are in its path. */
export function pathFieldsOf({ path, method: { input } }: MethodRoute): DescField[] {
  return variablesOf(path).map((name) => input.fields.find((field) => field.name === name)!);
}

/** Whether a request has a body. All fields of other requests are in the path and the query. */
export function hasBody({ verb }: MethodRoute): boolean {
  return verb !== "GET" && verb !== "DELETE";
}

/** Describes the parameters in the path. */
export function pathParameters(route: MethodRoute, metadata: ServiceMetadata): JsonObject[] {
  const { request } = exampleOf(route.method, metadata);
  return pathFieldsOf(route).map((field) => {
    const { description, ...schema } = fieldSchema(field, metadata);
    return {
      name: field.name,
      in: "path",
      required: true,
      ...(description && { description }),
      schema,
      example: request[field.jsonName]!,
    };
  });
}

/**
 * Describes the query parameters: every field that is not in the path and cannot be a file. A request whose body is
 * always JSON has none.
 */
export function queryParameters(route: Route, metadata: ServiceMetadata): JsonObject[] {
  if (hasBody(route) && !hasFiles(route.method, metadata)) return [];
  const inPath = pathFieldsOf(route);
  return route.method.input.fields
    .filter((field) => !inPath.includes(field) && !isFile(field, metadata))
    .map((field) => {
      const { description: comment, ...schema } = fieldSchema(field, metadata);
      const format = requestFormat(field, metadata);
      const description = [comment, hasBody(route) && metadata.hasMessageBodies && IN_BODY_TOO]
        .filter(Boolean)
        .join(" ");
      return {
        name: field.jsonName,
        in: "query",
        ...(description && { description }),
        ...(format ? formattedParameter(field, format) : { schema }),
      };
    });
}

/** Describes the request body: the images as files, or JSON. */
export function requestBody(route: Route, metadata: ServiceMetadata): JsonObject {
  const { method } = route;
  return {
    required: true,
    content: {
      ...(hasFiles(method, metadata) && { "multipart/form-data": filesBody(method, metadata) }),
      "application/json": {
        schema: schemaRef(method.input, metadata),
        example: bodyExample(route, metadata),
      },
    },
  };
}

/** The example of a request without the fields in its path. */
function bodyExample(route: MethodRoute, metadata: ServiceMetadata): JsonObject {
  const inPath = new Set(pathFieldsOf(route).map(({ jsonName }) => jsonName));
  const fields = Object.entries(exampleOf(route.method, metadata).request);
  return Object.fromEntries(fields.filter(([name]) => !inPath.has(name)));
}

function filesBody({ input }: DescMethod, metadata: ServiceMetadata): JsonObject {
  return {
    schema: { $ref: `#/components/schemas/${filesName(input, metadata)}` },
    encoding: Object.fromEntries(
      input.fields
        .filter((field) => isFile(field, metadata))
        .map((field) => [field.jsonName, { contentType: requestFormat(field, metadata)!.file!.join(", ") }]),
    ),
  };
}

/** Describes the request body of a stream. */
export function streamRequestBody(route: MethodRoute, metadata: ServiceMetadata): JsonObject {
  const { method } = route;
  return {
    required: true,
    description: `Lines of JSON. Each line is a \`${schemaName(method.input, metadata)}\`.`,
    content: linesContent(method.input, metadata, bodyExample(route, metadata)),
  };
}

/**
 * Describes lines of JSON, which OpenAPI 3.0 cannot: as a file, so that generated clients pass it on unchanged. The
 * extension has the schema of one line, as `itemSchema` of OpenAPI 3.2.
 */
export function linesContent(
  message: DescMessage,
  metadata: ServiceMetadata,
  example: JsonObject,
): JsonObject {
  const itemSchema = schemaRef(message, metadata);
  const schema = { type: "string", format: "binary" };
  const line = `${JSON.stringify(example)}\n`;
  return { [JSON_LINES]: { schema, "x-itemSchema": itemSchema, example: line } };
}

/** Creates the schemas of the request bodies that are not messages, by name. */
export function bodySchemas(
  requests: readonly DescMessage[],
  metadata: ServiceMetadata,
): Record<string, JsonObject> {
  return Object.fromEntries(
    requests.flatMap((request) => [
      ...(request.fields.some((field) => isFile(field, metadata))
        ? [[filesName(request, metadata), bodySchema(request, metadata, fileSchema)]]
        : []),
      ...(metadata.hasMessageBodies
        ? []
        : [[metadata.prefix + request.name, bodySchema(request, metadata, textSchema)]]),
    ]),
  );
}

/** Names the multipart form of a request, such as `MatchFacesFiles`. */
function filesName({ name }: DescMessage, { prefix }: ServiceMetadata): string {
  return prefix + name.replace(/Request$/, "Files");
}

function bodySchema(
  request: DescMessage,
  metadata: ServiceMetadata,
  createSchema: (field: DescField, format: RequestFormat) => JsonObject,
): JsonObject {
  const images = request.fields.filter((field) => isFile(field, metadata));
  const required = images.filter((field) => isRequired(field, metadata));
  return {
    type: "object",
    ...(required.length > 0 && { required: required.map(({ jsonName }) => jsonName) }),
    properties: Object.fromEntries(
      images.map((field) => [field.jsonName, createSchema(field, requestFormat(field, metadata)!)]),
    ),
  };
}

function fileSchema(field: DescField): JsonObject {
  return { type: "string", format: "binary", ...readDescription(field) };
}

function textSchema(field: DescField, { text }: RequestFormat): JsonObject {
  const description = [readDescription(field).description, text.description].filter(Boolean).join(" ");
  return { ...text, ...(description && { description }) };
}

function formattedParameter({ fieldKind }: DescField, { text, examples = [] }: RequestFormat): JsonObject {
  const isList = fieldKind === "list";
  const exampleValue = (value: string) => (isList ? [value].filter(Boolean) : value);
  return {
    schema: isList ? { type: "array", items: text } : text,
    ...(examples.length > 0 && {
      examples: Object.fromEntries(
        examples.map(({ name, summary, value }) => [name, { summary, value: exampleValue(value) }]),
      ),
    }),
  };
}

function hasFiles({ input }: DescMethod, metadata: ServiceMetadata): boolean {
  return input.fields.some((field) => isFile(field, metadata));
}

function isFile(field: DescField, metadata: ServiceMetadata): boolean {
  return requestFormat(field, metadata)?.file !== undefined;
}

function requestFormat(
  { message, fieldKind }: DescField,
  { formats }: ServiceMetadata,
): RequestFormat | undefined {
  return message && fieldKind !== "map" ? formats[message.typeName] : undefined;
}
