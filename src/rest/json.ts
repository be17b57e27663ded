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
  const shape = shapeOf(schema);
  if (!shape || !isObject(json)) return json;
  // fromEntries defines keys, where an assignment to a map key `__proto__` would not.
  return Object.fromEntries(
    Object.entries(json).flatMap(([name, value]): [string, JsonValue][] => {
      const field = shape.fields.get(name);
      const inner = field ? innerOf(field, value) : value;
      return field && isObject(inner) && shape.marked.has(field) ? Object.entries(inner) : [[name, inner]];
    }),
  );
}

/** A type that has marked maps in it, or in a type within it: its fields by their names, and which of them are marked. */
interface Shape {
  readonly fields: ReadonlyMap<string, DescField>;
  readonly marked: ReadonlySet<DescField>;
}

/** Asked for every message, and so remembered; a type without marks anywhere has none. */
const shapes = new WeakMap<DescMessage, Shape | "plain">();

function shapeOf(schema: DescMessage): Shape | undefined {
  const known = shapes.get(schema) ?? findShape(schema);
  shapes.set(schema, known);
  return known === "plain" ? undefined : known;
}

function findShape(schema: DescMessage): Shape | "plain" {
  if (!messagesIn(schema).some(({ fields }) => fields.some(isMarked))) return "plain";
  return {
    fields: new Map(schema.fields.map((field) => [field.jsonName, field])),
    marked: new Set(schema.fields.filter(isMarked)),
  };
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
  if (!schema || !shapeOf(schema)) return value;
  if (field.fieldKind === "list" && Array.isArray(value)) return value.map((item) => flattened(schema, item));
  if (field.fieldKind === "map" && isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, flattened(schema, item)]));
  }
  return flattened(schema, value);
}

function isObject(json: JsonValue): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
