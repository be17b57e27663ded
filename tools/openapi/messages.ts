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
import { describing } from "./comments.ts";
import type { Words } from "./words.ts";

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

type FieldWords = Pick<Words, "fields" | "required">;

/** Refers to the schema of a message among the components. */
export function refOf({ name }: DescMessage): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** Gives the schemas of messages, and of all that they hold, as answers write them; by name. */
export function schemasOf(messages: readonly DescMessage[], words: FieldWords): Record<string, JsonObject> {
  const schemas: Record<string, JsonObject> = {};
  const add = (message: DescMessage) => {
    if (message.name in schemas) return;
    schemas[message.name] = schemaOf(message, words);
    for (const field of message.fields) if (field.message) add(field.message);
  };
  messages.forEach(add);
  return schemas;
}

/** The schema of a field's value, with its description. Well-known types are not supported. */
export function schemaOfField(field: DescField, words: FieldWords): JsonObject {
  return { ...typeOf(field), ...words.fields[fullNameOf(field)], ...describing(field) };
}

/** The name by which words speak of a field. */
export function fullNameOf({ parent, name }: DescField): string {
  return `${parent.typeName}.${name}`;
}

function schemaOf(message: DescMessage, words: FieldWords): JsonObject {
  const beside = message.fields.find((field) => getOption(field, flatten));
  const plain = message.fields.filter((field) => field !== beside);
  const required = plain.filter(
    (field) => field.presence === Presence.IMPLICIT || words.required.includes(fullNameOf(field)),
  );
  return {
    type: "object",
    ...describing(message),
    ...(required.length > 0 && { required: required.map(({ jsonName }) => jsonName) }),
    properties: Object.fromEntries(plain.map((field) => [field.jsonName, schemaOfField(field, words)])),
    ...(beside && entriesOf(beside, words)),
  };
}

/** The entries of a map that stand beside the other fields. */
function entriesOf(field: DescField, words: FieldWords): JsonObject {
  const { propertyNames, additionalProperties, description } = schemaOfField(field, words) as {
    propertyNames: { pattern: string };
    additionalProperties: JsonObject;
    description: JsonValue;
  };
  return {
    patternProperties: { [propertyNames.pattern]: { ...additionalProperties, description } },
    additionalProperties: false,
  };
}

function typeOf(field: DescField): JsonObject {
  switch (field.fieldKind) {
    case "list":
      return { type: "array", items: typeOfOne(field) };
    case "map":
      return { type: "object", additionalProperties: typeOfOne(field) };
    default:
      return typeOfOne(field);
  }
}

function typeOfOne(field: DescField): JsonObject {
  if (field.message) return refOf(field.message);
  if (field.enum) return { type: "string", enum: field.enum.values.map(({ name }) => name) };
  return SCALARS[field.scalar!];
}
