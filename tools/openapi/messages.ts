import { type DescField, type DescMessage, getOption, type JsonObject, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence as Presence } from "@bufbuild/protobuf/wkt";
import { flatten } from "../../gen/ts/rest/v1/options_pb.ts";
import type { ApiMetadata } from "./api-metadata.ts";
import { readComment, readDescription } from "./comments.ts";

const WIDE_INTEGER = { type: "string", pattern: "^-?[0-9]+$" };
const INTEGER = { type: "integer", format: "int32" };
const SCALARS: Readonly<Record<ScalarType, JsonObject>> = {
  [ScalarType.DOUBLE]: { type: "number", format: "double" },
  [ScalarType.FLOAT]: { type: "number", format: "float" },
  [ScalarType.INT32]: INTEGER,
  [ScalarType.SINT32]: INTEGER,
  [ScalarType.SFIXED32]: INTEGER,
  [ScalarType.UINT32]: { type: "integer", minimum: 0 },
  [ScalarType.FIXED32]: { type: "integer", minimum: 0 },
  [ScalarType.INT64]: WIDE_INTEGER,
  [ScalarType.SINT64]: WIDE_INTEGER,
  [ScalarType.SFIXED64]: WIDE_INTEGER,
  [ScalarType.UINT64]: WIDE_INTEGER,
  [ScalarType.FIXED64]: WIDE_INTEGER,
  [ScalarType.BOOL]: { type: "boolean" },
  [ScalarType.STRING]: { type: "string" },
  [ScalarType.BYTES]: { type: "string", format: "byte" },
};

type FieldMetadata = Pick<ApiMetadata, "fields" | "required">;

/** Creates a reference to the schema of a message. */
export function schemaRef({ name }: DescMessage): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** Creates the response schemas of messages and of all messages inside them, by name. */
export function messageSchemas(
  messages: readonly DescMessage[],
  metadata: FieldMetadata,
): Record<string, JsonObject> {
  const schemas: Record<string, JsonObject> = {};
  const add = (message: DescMessage) => {
    if (message.name in schemas) return;
    Object.assign(schemas, messageSchema(message, metadata));
    for (const field of message.fields) if (field.message) add(field.message);
  };
  messages.forEach(add);
  return schemas;
}

/**
 * Creates the schema of a field with its description. A single message is a reference, which has no description: in
 * OpenAPI 3.0 a reference has no other keywords. Well-known types are not supported.
 */
export function fieldSchema(field: DescField, metadata: FieldMetadata): JsonObject {
  if (field.fieldKind === "message") return schemaRef(field.message);
  return { ...fieldType(field), ...metadata.fields[fullName(field)], ...readDescription(field) };
}

/** Returns the name by which the metadata identifies a field. */
export function fullName({ parent, name }: DescField): string {
  return `${parent.typeName}.${name}`;
}

/** Creates the schema of a message, and of what it needs beside it, by name. */
function messageSchema(message: DescMessage, metadata: FieldMetadata): Record<string, JsonObject> {
  const flattened = message.fields.find((field) => getOption(field, flatten));
  if (flattened) return flattenedSchema(message, flattened, metadata);
  const required = message.fields.filter(
    (field) => field.presence === Presence.IMPLICIT || metadata.required.includes(fullName(field)),
  );
  return {
    [message.name]: {
      type: "object",
      ...readDescription(message),
      ...(required.length > 0 && { required: required.map(({ jsonName }) => jsonName) }),
      properties: Object.fromEntries(
        message.fields.map((field) => [field.jsonName, fieldSchema(field, metadata)]),
      ),
    },
  };
}

/**
 * Describes a message in which the entries of a map appear next to the other fields: as a map of everything, because
 * most generators lose or do not type further entries of an object that has properties.
 */
function flattenedSchema(
  message: DescMessage,
  flattened: DescField,
  metadata: FieldMetadata,
): Record<string, JsonObject> {
  const others = message.fields.filter((field) => field !== flattened);
  const valueName = `${message.name}Value`;
  const comments = [
    readComment(message),
    readComment(flattened),
    ...others.map((field) => `\`${field.jsonName}\`: ${readComment(field)}`),
  ];
  return {
    [message.name]: {
      type: "object",
      description: comments.filter(Boolean).join("\n\n"),
      additionalProperties: { $ref: `#/components/schemas/${valueName}` },
    },
    [valueName]: { oneOf: [elementType(flattened), ...others.map((field) => fieldSchema(field, metadata))] },
  };
}

function fieldType(field: DescField): JsonObject {
  switch (field.fieldKind) {
    case "list":
      return { type: "array", items: elementType(field) };
    case "map":
      return { type: "object", additionalProperties: elementType(field) };
    default:
      return elementType(field);
  }
}

function elementType(field: DescField): JsonObject {
  if (field.message) return schemaRef(field.message);
  if (field.enum) return { type: "string", enum: field.enum.values.map(({ name }) => name) };
  return SCALARS[field.scalar!];
}
