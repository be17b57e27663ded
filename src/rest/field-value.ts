import {
  type DescField,
  type DescMessage,
  fromJson,
  type JsonValue,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { decodeBase64 } from "../bytes/base64.ts";
import type { EntryValue } from "./entry.ts";
import { messageFromJson, PartialJson } from "./json-message.ts";
import { FIELD_ERRORS } from "./parse-limits.ts";
import { RestError } from "./rest-error.ts";
import { TextBytes } from "./text-bytes.ts";
import { type FieldParser, isFileParser } from "./text-parser.ts";

const BOOLEANS = new Map<unknown, boolean>([
  ["1", true],
  ["true", true],
  [1, true],
  ["0", false],
  ["false", false],
  [0, false],
]);

/** Converts a value to a message for a field of this type. Throws RestError. */
export async function messageFromValue(
  field: DescField,
  schema: DescMessage,
  value: EntryValue,
  parser: FieldParser,
): Promise<Message> {
  if (value instanceof PartialJson) {
    return messageFromJson(schema, value).catch((cause: unknown) => {
      throw cause instanceof RestError ? cause : unreadableError(field, cause);
    });
  }
  if (isFileParser(parser)) {
    if (value instanceof Uint8Array) return withFieldName(field, async () => parser.fromBytes(value));
    if (value instanceof TextBytes)
      return withFieldName(field, async () => parser.fromText(await value.decode()));
  }
  const json = value as JsonValue;
  if (parser && typeof json === "string") return withFieldName(field, async () => parser.fromText(json));
  // Responses write a rectangle as [1, 2, 3, 4], and clients send it back like that.
  if (parser && Array.isArray(json) && isNumberList(json))
    return withFieldName(field, async () => parser.fromText(json.join(",")));
  return orUnreadable(field, () => fromJson(schema, json));
}

/** Converts a value to the bytes of a field: a file as it is, text by decoding Base64. Throws RestError. */
export async function bytesFromValue(field: DescField, value: EntryValue): Promise<Uint8Array> {
  if (value instanceof Uint8Array) return value;
  const text = value instanceof TextBytes ? await value.decode() : value;
  const encoded = typeof text === "string" ? Buffer.from(text) : text;
  const bytes = encoded instanceof Buffer && (await decodeBase64(encoded, "plus"));
  if (!bytes) throw unreadableError(field);
  return bytes;
}

/** Converts a leniently written value to the JSON form that Protobuf expects of the field. */
export function protoJsonFromValue(field: DescField, value: EntryValue): JsonValue {
  const json = value instanceof PartialJson ? value.json : (value as JsonValue);
  if (field.scalar === ScalarType.BOOL)
    return BOOLEANS.get(typeof json === "string" ? json.trim().toLowerCase() : json) ?? json;
  if (typeof json !== "string" || field.scalar === ScalarType.STRING) return json;
  return field.enum && /^-?\d+$/.test(json.trim()) ? Number(json) : json.trim();
}

export function isNumberList(values: readonly JsonValue[]): boolean {
  return values.length > 0 && values.every((value) => typeof value === "number");
}

/** Runs a conversion. Whatever it throws becomes a RestError about the field. */
export function orUnreadable<T>(field: DescField, convert: () => T): T {
  try {
    return convert();
  } catch (cause) {
    throw unreadableError(field, cause);
  }
}

/** Makes the error of a field. `problem` completes the sentence "The field x ...". */
export function fieldError(field: DescField, problem: string, cause?: unknown): RestError {
  const kind = FIELD_ERRORS[field.message?.typeName ?? ""] ?? "badRequest";
  return new RestError(kind, `The field ${field.name} ${problem}.`, { field: field.name, cause });
}

function unreadableError(field: DescField, cause?: unknown): RestError {
  const choices = field.enum?.values.slice(1).map(({ name }) => name);
  const problem = choices ? `must be one of ${choices.join(" and ")}` : "has a value that cannot be read";
  return fieldError(field, problem, cause);
}

/** Adds the field to the RestError of a parser, which does not know which field it parses, or of a nested message. */
export async function withFieldName<T>(field: DescField, parse: () => Promise<T>): Promise<T> {
  try {
    return await parse();
  } catch (cause) {
    if (!(cause instanceof RestError)) throw cause;
    const path = cause.field === undefined ? field.name : `${field.name}.${cause.field}`;
    throw new RestError(cause.kind, `${field.name}: ${cause.message}`, { field: path, cause });
  }
}
