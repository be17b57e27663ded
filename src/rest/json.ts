import {
  type DescField,
  type DescMessage,
  getOption,
  isFieldSet,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { base64Encode } from "@bufbuild/protobuf/wire";
import { FeatureSet_FieldPresence as Presence } from "@bufbuild/protobuf/wkt";
import { flatten } from "../../gen/ts/rest/v1/options_pb.ts";

/** Writes a value of one kind as JSON. */
export type JsonWriter<Value> = (value: Value) => JsonValue;

/** Adds what a field of a message is in JSON to the message's object. */
type FieldWriter = (message: Message, json: JsonObject) => void;

/** Those made so far, by type: a type can hold itself. */
type Writers = Map<DescMessage, JsonWriter<Message>>;

/**
 * Makes what writes messages of a type as plain JSON: Protobuf's own with every implicit field in it, and the entries
 * of a map marked (rest.v1.flatten) in the place where the map would stand. Throws for a type with one of Protobuf's
 * well-known types in it, which have forms of their own.
 *
 * Protobuf's `toJson` finds out about the type again for each message, and a face has 68 points.
 */
export function jsonWriterOf(schema: DescMessage, writers: Writers = new Map()): JsonWriter<Message> {
  const known = writers.get(schema);
  if (known) return known;
  if (schema.typeName.startsWith("google.protobuf."))
    throw new TypeError(`${schema} has a form of its own in JSON`);
  const fields: FieldWriter[] = [];
  const write = (message: Message) => {
    const json: JsonObject = {};
    for (const add of fields) add(message, json);
    return json;
  };
  writers.set(schema, write);
  const inOrder = schema.fields.toSorted((one, other) => one.number - other.number);
  fields.push(...inOrder.map((field) => fieldWriterOf(field, writers)));
  return write;
}

function fieldWriterOf(field: DescField, writers: Writers): FieldWriter {
  const { jsonName } = field;
  const write = valueWriterOf(field, writers);
  const isMarked = field.fieldKind === "map" && getOption(field, flatten);
  return (message, json) => {
    if (field.presence !== Presence.IMPLICIT && !isFieldSet(message, field)) return;
    const value = write(readFrom(message, field));
    if (isMarked) addMembers(json, value as JsonObject);
    else json[jsonName] = value;
  };
}

function addMembers(
  json: JsonObject,
  values: Readonly<Record<string, unknown>>,
  write: JsonWriter<unknown> = (value) => value as JsonValue,
): JsonObject {
  for (const key of Object.keys(values)) {
    const value = write(values[key]);
    // To assign it would set the object's prototype.
    if (key === "__proto__") Object.defineProperty(json, key, { value, enumerable: true });
    else json[key] = value;
  }
  return json;
}

/** The value of a field that is set. */
function readFrom(message: Message, { localName, oneof }: DescField): unknown {
  const members = message as unknown as Readonly<Record<string, unknown>>;
  return oneof ? (members[oneof.localName] as { readonly value: unknown }).value : members[localName];
}

function valueWriterOf(field: DescField, writers: Writers): JsonWriter<unknown> {
  const write = itemWriterOf(field, writers);
  switch (field.fieldKind) {
    case "list":
      return (list) => (list as unknown[]).map(write);
    case "map":
      return (map) => addMembers({}, map as Readonly<Record<string, unknown>>, write);
    default:
      return write;
  }
}

/** Writes the value of a field, or one of its values. */
function itemWriterOf({ message, enum: choice, scalar }: DescField, writers: Writers): JsonWriter<unknown> {
  if (message) return jsonWriterOf(message, writers) as JsonWriter<unknown>;
  if (choice) return (number) => choice.value[number as number]?.name ?? (number as number);
  switch (scalar) {
    case ScalarType.BYTES:
      return (bytes) => base64Encode(bytes as Uint8Array);
    case ScalarType.FLOAT:
    case ScalarType.DOUBLE:
      return (number) => (Number.isFinite(number) ? (number as number) : String(number));
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return String;
    default:
      return (value) => value as JsonValue;
  }
}
