import {
  type DescField,
  type DescMessage,
  getOption,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence as Presence } from "@bufbuild/protobuf/wkt";
import { flatten } from "../../gen/ts/rest/v1/options_pb.ts";
import type { ApiMetadata } from "./api-metadata.ts";
import { readDescription } from "./comments.ts";

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
  [ScalarType.BYTES]: { type: "string", contentEncoding: "base64" },
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
    schemas[message.name] = messageSchema(message, metadata);
    for (const field of message.fields) if (field.message) add(field.message);
  };
  messages.forEach(add);
  return schemas;
}

/** Creates the schema of a field with its description. Well-known types are not supported. */
export function fieldSchema(field: DescField, metadata: FieldMetadata): JsonObject {
  return { ...fieldType(field), ...metadata.fields[fullName(field)], ...readDescription(field) };
}

/** Returns the name by which the metadata identifies a field. */
export function fullName({ parent, name }: DescField): string {
  return `${parent.typeName}.${name}`;
}

function messageSchema(message: DescMessage, metadata: FieldMetadata): JsonObject {
  const flattened = message.fields.find((field) => getOption(field, flatten));
  const plain = message.fields.filter((field) => field !== flattened);
  const required = plain.filter(
    (field) => field.presence === Presence.IMPLICIT || metadata.required.includes(fullName(field)),
  );
  return {
    type: "object",
    ...readDescription(message),
    ...(required.length > 0 && { required: required.map(({ jsonName }) => jsonName) }),
    properties: Object.fromEntries(plain.map((field) => [field.jsonName, fieldSchema(field, metadata)])),
    ...(flattened && flattenedEntries(flattened, metadata)),
  };
}

/** Describes the entries of a flattened map, which appear among the other fields. */
function flattenedEntries(field: DescField, metadata: FieldMetadata): JsonObject {
  const { propertyNames, additionalProperties, description } = fieldSchema(field, metadata) as {
    propertyNames: { pattern: string };
    additionalProperties: JsonObject;
    description: JsonValue;
  };
  return {
    patternProperties: { [propertyNames.pattern]: { ...additionalProperties, description } },
    additionalProperties: false,
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
