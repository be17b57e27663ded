import {
  type DescField,
  type DescMessage,
  getOption,
  type JsonObject,
  type JsonValue,
  type Message,
  toJson,
} from "@bufbuild/protobuf";
import { flatten } from "../../gen/ts/rest/v1/options_pb.ts";

/**
 * Gives the plain JSON of a message: Protobuf's own with every implicit field in it, and the entries of a
 * map marked (rest.v1.flatten) in the place where the map would stand.
 */
export function jsonOf(schema: DescMessage, message: Message): JsonValue {
  return flattened(schema, toJson(schema, message, { alwaysEmitImplicit: true }));
}

function flattened(schema: DescMessage, json: JsonValue): JsonValue {
  // Well-known types have a JSON form of their own, which their fields do not describe.
  if (!isObject(json) || schema.typeName.startsWith("google.protobuf.")) return json;
  const fields = new Map(schema.fields.map((field) => [field.jsonName, field]));
  // fromEntries defines keys, where an assignment to a map key `__proto__` would not.
  return Object.fromEntries(
    Object.entries(json).flatMap(([name, value]): [string, JsonValue][] => {
      const field = fields.get(name);
      const inner = field ? innerOf(field, value) : value;
      return field && isObject(inner) && getOption(field, flatten) ? Object.entries(inner) : [[name, inner]];
    }),
  );
}

function innerOf(field: DescField, value: JsonValue): JsonValue {
  const schema = field.message;
  if (!schema) return value;
  if (field.fieldKind === "list" && Array.isArray(value)) return value.map((item) => flattened(schema, item));
  if (field.fieldKind === "map" && isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, flattened(schema, item)]));
  }
  return flattened(schema, value);
}

function isObject(json: JsonValue): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
