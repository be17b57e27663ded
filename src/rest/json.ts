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
  if (!isObject(json) || !hasMarks(schema)) return json;
  const fields = new Map(schema.fields.map((field) => [field.jsonName, field]));
  // fromEntries defines keys, where an assignment to a map key `__proto__` would not.
  return Object.fromEntries(
    Object.entries(json).flatMap(([name, value]): [string, JsonValue][] => {
      const field = fields.get(name);
      const inner = field ? innerOf(field, value) : value;
      return field && isObject(inner) && isMarked(field) ? Object.entries(inner) : [[name, inner]];
    }),
  );
}

const marked = new WeakMap<DescMessage, boolean>();

/** Whether a message has marked maps anywhere in it; asked for every message, and so remembered by type. */
function hasMarks(schema: DescMessage): boolean {
  const found = marked.get(schema) ?? messagesIn(schema).some(({ fields }) => fields.some(isMarked));
  marked.set(schema, found);
  return found;
}

/** A type and all types within it. Well-known ones have a JSON form of their own, which fields do not describe. */
function messagesIn(schema: DescMessage): DescMessage[] {
  const all = new Set([schema]);
  for (const { fields } of all)
    for (const { message } of fields)
      if (message && !message.typeName.startsWith("google.protobuf.")) all.add(message);
  return [...all];
}

function isMarked(field: DescField): boolean {
  return getOption(field, flatten);
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
