import type { DescField, DescMessage, DescMethod, JsonObject } from "@bufbuild/protobuf";
import type { ApiMetadata, RequestFormat } from "./api-metadata.ts";
import { readDescription } from "./comments.ts";
import { fieldSchema, fullName } from "./messages.ts";

/*
 * The service accepts every field in the query and in the body, and more media types. The document has one place for
 * each field, because generators would turn the same name in two places into two parameters: images are in the body,
 * everything else is in the query. Multipart is the first of the two media types, because generators that support
 * only one take the first, and files are what most callers have.
 */

/** Describes the query parameters: every field that cannot be a file. */
export function queryParameters({ input }: DescMethod, metadata: ApiMetadata): JsonObject[] {
  return input.fields
    .filter((field) => !isFile(field, metadata))
    .map((field) => {
      const { description, ...schema } = fieldSchema(field, metadata);
      const format = requestFormat(field, metadata);
      return {
        name: field.name,
        in: "query",
        ...(description && { description }),
        ...(format ? formattedParameter(field, format) : { schema }),
      };
    });
}

/** Describes the request body: the images as files or as text. */
export function requestBody({ name, input }: DescMethod, metadata: ApiMetadata): JsonObject {
  const schema = (schemaName: string) => ({ $ref: `#/components/schemas/${schemaName}` });
  return {
    required: true,
    content: {
      "multipart/form-data": {
        schema: schema(filesName(input)),
        encoding: Object.fromEntries(
          input.fields
            .filter((field) => isFile(field, metadata))
            .map((field) => [field.name, { contentType: requestFormat(field, metadata)!.file!.join(", ") }]),
        ),
      },
      "application/json": { schema: schema(input.name), example: metadata.examples[name]!.request },
    },
  };
}

/** Creates the schemas of the request bodies, by name. */
export function bodySchemas(
  requests: readonly DescMessage[],
  metadata: ApiMetadata,
): Record<string, JsonObject> {
  return Object.fromEntries(
    requests.flatMap((request) => [
      [filesName(request), bodySchema(request, metadata, fileSchema)],
      [request.name, bodySchema(request, metadata, textSchema)],
    ]),
  );
}

/** Names the multipart form of a request, such as `MatchFacesFiles`. */
function filesName({ name }: DescMessage): string {
  return name.replace(/Request$/, "Files");
}

function bodySchema(
  request: DescMessage,
  metadata: ApiMetadata,
  createSchema: (field: DescField, format: RequestFormat) => JsonObject,
): JsonObject {
  const images = request.fields.filter((field) => isFile(field, metadata));
  const required = images.filter((field) => metadata.required.includes(fullName(field)));
  return {
    type: "object",
    ...(required.length > 0 && { required: required.map(({ name }) => name) }),
    properties: Object.fromEntries(
      images.map((field) => [field.name, createSchema(field, requestFormat(field, metadata)!)]),
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

function isFile(field: DescField, metadata: ApiMetadata): boolean {
  return requestFormat(field, metadata)?.file !== undefined;
}

function requestFormat(
  { message, fieldKind }: DescField,
  { formats }: ApiMetadata,
): RequestFormat | undefined {
  return message && fieldKind !== "map" ? formats[message.typeName] : undefined;
}
