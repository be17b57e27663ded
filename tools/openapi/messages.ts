import {
  type DescEnum,
  type DescField,
  type DescMessage,
  getOption,
  type JsonObject,
  ScalarType,
} from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence as Presence, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { FieldBehavior, field_behavior } from "../../gen/ts/google/api/field_behavior_pb.ts";
import { StatusSchema } from "../../gen/ts/google/rpc/status_pb.ts";
import { flatten } from "../../gen/ts/rest/v1/options_pb.ts";
import type { ServiceMetadata } from "./api-metadata.ts";
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

/** Messages whose schema is not made of their fields, by full name. Undefined: the schema is made elsewhere. */
const WELL_KNOWN: Readonly<Record<string, JsonObject | undefined>> = {
  [TimestampSchema.typeName]: { type: "string", format: "date-time" },
  [StatusSchema.typeName]: undefined,
};

type FieldMetadata = Pick<ServiceMetadata, "prefix" | "fields" | "required" | "optional" | "errorSchemaName">;

/** Creates a reference to the schema of a message or enum. A status is written as error responses are. */
export function schemaRef(type: DescMessage | DescEnum, metadata: FieldMetadata): JsonObject {
  const { prefix, errorSchemaName } = metadata;
  const name =
    type.typeName === StatusSchema.typeName ? prefix + errorSchemaName : schemaName(type, metadata);
  return { $ref: `#/components/schemas/${name}` };
}

/**
 * Names the schema of a message or enum. Generators have types of their own that are named after an operation:
 * oapi-codegen with `Response` at the end, and typescript-fetch with `Request`, unless the body has this schema.
 */
export function schemaName(type: DescMessage | DescEnum, { prefix }: FieldMetadata): string {
  const request = isLine(type) ? "Line" : "Request";
  return prefix + type.name.replace(/Response$/, "Result").replace(/Request$/, request);
}

/** Whether a message is a line of a request. */
function isLine({ file, typeName }: DescMessage | DescEnum): boolean {
  const methods = file.services.flatMap((service) => service.methods);
  return methods.some(
    ({ input, methodKind }) =>
      input.typeName === typeName && (methodKind === "client_streaming" || methodKind === "bidi_streaming"),
  );
}

/**
 * Creates the schemas of messages and of all messages and enums inside them, by name. Fields that are in the path are
 * left out.
 */
export function messageSchemas(
  messages: readonly DescMessage[],
  metadata: FieldMetadata,
  pathFields: ReadonlySet<DescField> = new Set(),
): Record<string, JsonObject> {
  const schemas: Record<string, JsonObject> = {};
  const add = (message: DescMessage) => {
    if (schemaName(message, metadata) in schemas || message.typeName in WELL_KNOWN) return;
    Object.assign(schemas, messageSchema(message, metadata, pathFields));
    for (const field of message.fields) {
      if (field.message) add(field.message);
      if (field.enum) schemas[schemaName(field.enum, metadata)] = enumSchema(field.enum);
    }
  };
  messages.forEach(add);
  return schemas;
}

/**
 * Creates the schema of a field with its description. A single message or enum is a reference, which has no
 * description: in OpenAPI 3.0 a reference has no other keywords.
 */
export function fieldSchema(field: DescField, metadata: FieldMetadata): JsonObject {
  const type = fieldType(field, metadata);
  return "$ref" in type ? type : { ...type, ...metadata.fields[fullName(field)], ...readDescription(field) };
}

/** Returns the name by which the metadata identifies a field. */
export function fullName({ parent, name }: DescField): string {
  return `${parent.typeName}.${name}`;
}

/** Creates the schema of a message by its name. */
function messageSchema(
  message: DescMessage,
  metadata: FieldMetadata,
  pathFields: ReadonlySet<DescField>,
): Record<string, JsonObject> {
  const flattened = message.fields.find((field) => getOption(field, flatten));
  if (flattened) return flattenedSchema(message, flattened, metadata);
  const fields = message.fields.filter((field) => !pathFields.has(field));
  const required = fields.filter((field) => isRequired(field, metadata));
  return {
    [schemaName(message, metadata)]: {
      type: "object",
      ...readDescription(message),
      ...(required.length > 0 && { required: required.map(({ jsonName }) => jsonName) }),
      properties: Object.fromEntries(fields.map((field) => [field.jsonName, fieldSchema(field, metadata)])),
    },
  };
}

/** Whether every request or response has a field. Responses have all fields without presence. */
export function isRequired(field: DescField, metadata: FieldMetadata): boolean {
  const behavior = getOption(field, field_behavior);
  if (behavior.length > 0) return behavior.includes(FieldBehavior.REQUIRED);
  if (metadata.optional.includes(fullName(field))) return false;
  return field.presence === Presence.IMPLICIT || metadata.required.includes(fullName(field));
}

/** Creates the schema of an enum. Its first value means that there is none, and is never written. */
function enumSchema(desc: DescEnum): JsonObject {
  const values = desc.values.slice(1);
  const list = values.map((value) => `- \`${value.name}\`: ${readComment(value)}`).join("\n");
  return {
    type: "string",
    description: `${readComment(desc)}\n\n${list}`,
    enum: values.map(({ name }) => name),
  };
}

/**
 * Describes a message in which the entries of a map appear next to the other fields: as a map of anything. Generators
 * lose further entries of an object that has properties, and some make nothing that works of a map of several types.
 * Those types are in the extension `x-values`.
 */
function flattenedSchema(
  message: DescMessage,
  flattened: DescField,
  metadata: FieldMetadata,
): Record<string, JsonObject> {
  const others = message.fields.filter((field) => field !== flattened);
  const comments = [
    readComment(message),
    readComment(flattened),
    ...others.map((field) => `\`${field.jsonName}\`: ${readComment(field)}`),
  ];
  return {
    [schemaName(message, metadata)]: {
      type: "object",
      description: comments.filter(Boolean).join("\n\n"),
      additionalProperties: true,
      "x-values": [elementType(flattened, metadata), ...others.map((field) => fieldSchema(field, metadata))],
    },
  };
}

function fieldType(field: DescField, metadata: FieldMetadata): JsonObject {
  switch (field.fieldKind) {
    case "list":
      return { type: "array", items: elementType(field, metadata) };
    case "map":
      return { type: "object", additionalProperties: elementType(field, metadata) };
    default:
      return elementType(field, metadata);
  }
}

function elementType(field: DescField, metadata: FieldMetadata): JsonObject {
  const wellKnown = field.message && WELL_KNOWN[field.message.typeName];
  if (wellKnown) return wellKnown;
  const type = field.message ?? field.enum;
  return type ? schemaRef(type, metadata) : SCALARS[field.scalar!];
}
