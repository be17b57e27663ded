import { type DescField, type DescMessage, type JsonObject, ScalarType } from "@bufbuild/protobuf";
import type { ApiMetadata, RequestFormat } from "./api-metadata.ts";
import { readComment, readDescription } from "./comments.ts";
import { fieldSchema, fullName, schemaRef } from "./messages.ts";

/** Values of a bool field as text and in JSON. Empty text and null mean that the field is not set. */
const BOOL_TEXT = { type: "string", enum: ["1", "0", "true", "false", ""] };
const BOOL_JSON = { enum: [true, false, 1, 0, "1", "0", "true", "false", "", null] };

/** Where the fields of a request are written. */
type Medium = "query" | "multipart/form-data" | "application/x-www-form-urlencoded" | "application/json";

/** Describes the query parameters: every field that cannot be a file. None is required, as the body may have it. */
export function queryParameters(request: DescMessage, metadata: ApiMetadata): JsonObject[] {
  return request.fields
    .filter((field) => !requestFormat(field, metadata)?.file)
    .map((field) => {
      const { description, ...schema } = requestFieldSchema(field, "query", metadata);
      return { name: field.name, in: "query", ...(description && { description }), schema };
    });
}

/** Describes the request body: the same fields in each of three media types. */
export function requestBody(request: DescMessage, metadata: ApiMetadata): JsonObject {
  const media = ["multipart/form-data", "application/x-www-form-urlencoded", "application/json"] as const;
  return {
    required: true,
    content: Object.fromEntries(
      media.map((medium) => [
        medium,
        {
          schema: bodySchema(request, medium, metadata),
          ...(medium === "multipart/form-data"
            ? { encoding: fileEncoding(request, metadata) }
            : { example: bodyExample(request, metadata) }),
        },
      ]),
    ),
  };
}

/** Creates the schemas of messages that requests write as text, by the name of the message. */
export function textSchemas(
  requests: readonly DescMessage[],
  metadata: ApiMetadata,
): Record<string, JsonObject> {
  const fields = requests.flatMap((request) => request.fields);
  return Object.fromEntries(
    fields.flatMap((field) => {
      const format = requestFormat(field, metadata);
      return format ? [[field.message!.name, { ...readDescription(field.message!), ...format.text }]] : [];
    }),
  );
}

function bodySchema(request: DescMessage, medium: Medium, metadata: ApiMetadata): JsonObject {
  const required = requiredFields(request, metadata).map(({ name }) => name);
  return {
    type: "object",
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(
      request.fields.map((field) => [field.name, requestFieldSchema(field, medium, metadata)]),
    ),
  };
}

function requiredFields(request: DescMessage, metadata: ApiMetadata): DescField[] {
  return request.fields.filter((field) => metadata.required.includes(fullName(field)));
}

/** Contains only the required fields, so that tools do not invent values for the others. */
function bodyExample(request: DescMessage, metadata: ApiMetadata): JsonObject {
  return Object.fromEntries(
    requiredFields(request, metadata).flatMap((field) => {
      const example = requestFormat(field, metadata)?.example;
      return example === undefined ? [] : [[field.name, example]];
    }),
  );
}

function fileEncoding(request: DescMessage, metadata: ApiMetadata): JsonObject {
  return Object.fromEntries(
    request.fields.flatMap((field) => {
      const types = requestFormat(field, metadata)?.file;
      return types ? [[field.name, { contentType: types.join(", ") }]] : [];
    }),
  );
}

function requestFieldSchema(field: DescField, medium: Medium, metadata: ApiMetadata): JsonObject {
  const format = requestFormat(field, metadata);
  if (format?.file && medium === "multipart/form-data") return fileSchema(field);
  if (format) return { ...formattedSchema(field, medium, format, metadata), ...readDescription(field) };
  if (field.scalar !== ScalarType.BOOL) return fieldSchema(field, metadata);
  return { ...(medium === "application/json" ? BOOL_JSON : BOOL_TEXT), ...readDescription(field) };
}

/** Tools offer a file picker only for this type, so the description says that text works too. */
function fileSchema(field: DescField): JsonObject {
  const description =
    `${readComment(field)} Sent as a file, or as text as in the other media types.`.trimStart();
  return { type: "string", format: "binary", description };
}

function formattedSchema(
  field: DescField,
  medium: Medium,
  format: RequestFormat,
  metadata: ApiMetadata,
): JsonObject {
  const text = schemaRef(field.message!);
  const isList = field.fieldKind === "list";
  if (medium !== "application/json") return isList ? { type: "array", items: text } : text;
  // Null means that the field is not set.
  const none = metadata.required.includes(fullName(field)) ? [] : [{ type: "null" }];
  const forms = [text, ...(format.json ? [format.json] : []), ...none];
  const element = forms.length === 1 ? text : { anyOf: forms };
  return isList ? { anyOf: [{ type: "array", items: element }, text, ...none] } : element;
}

function requestFormat(
  { message, fieldKind }: DescField,
  { formats }: ApiMetadata,
): RequestFormat | undefined {
  return message && fieldKind !== "map" ? formats[message.typeName] : undefined;
}
