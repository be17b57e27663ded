import {
  type DescMessage,
  fromJson,
  fromJsonString,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { decodeBase64 } from "../bytes/base64.ts";
import { PLACEHOLDER_BYTES, type ScannedJson, scanJson } from "./json-scan.ts";
import { checkMembers } from "./names.ts";
import { MAX_TEXT_BYTES } from "./parse-limits.ts";
import { invalidJsonError, RestError } from "./rest-error.ts";
import type { TextBytes } from "./text-bytes.ts";

type LongStrings = ReadonlyMap<string, TextBytes>;

/** A JSON object that may have placeholders for its long strings. */
export class PartialJson {
  readonly json: JsonObject;
  readonly longStrings: LongStrings;

  constructor(json: JsonObject, longStrings: LongStrings) {
    this.json = json;
    this.longStrings = longStrings;
  }
}

/** Parses a JSON object into its members; objects become PartialJson, long strings TextBytes. Throws RestError `badRequest`. */
export async function parseJsonObject(
  bytes: Buffer,
): Promise<readonly (readonly [string, JsonValue | TextBytes | PartialJson])[]> {
  const { text, longStrings } = await scanJson(bytes);
  const json = parseJson(text.trim());
  if (!isObject(json)) throw new RestError("badRequest", "The JSON body must be an object.");
  return membersOf(new PartialJson(json, longStrings));
}

/** Returns the members of a JSON object; objects become PartialJson, long strings TextBytes. */
export function membersOf({
  json,
  longStrings,
}: PartialJson): (readonly [string, JsonValue | TextBytes | PartialJson])[] {
  return Object.entries(json).map(([name, value]) => {
    if (typeof value === "string") return [name, longStrings.get(value) ?? value];
    return [name, isObject(value) ? new PartialJson(value, longStrings) : value];
  });
}

function parseJson(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidJsonError(cause);
  }
}

function isObject(json: JsonValue): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/** Converts the JSON form of a message. Throws RestError, or whatever protobuf-es throws. */
export async function messageFromJson(
  schema: DescMessage,
  { json, longStrings }: PartialJson,
): Promise<Message> {
  const message = fromJson(schema, json);
  await replacePlaceholders(reflect(schema, message, false), longStrings);
  return message;
}

/** Checks the JSON form of a message before it is parsed: its limits and the names of its members. Throws RestError. */
export async function checkJson(bytes: Buffer, schema: DescMessage): Promise<ScannedJson> {
  const scanned = await scanJson(bytes);
  checkMembers(schema, parseJson(scanned.text.replace(BYTE_ORDER_MARK, "")));
  return scanned;
}

const BYTE_ORDER_MARK = /^\uFEFF/;

/**
 * Converts the JSON form of a message to its binary form, without blocking the event loop for large images. Rejects
 * duplicate members, like Connect. Overwrites the given bytes. Throws RestError `badRequest`.
 */
export async function binaryFromJson(bytes: Buffer, schema: DescMessage): Promise<Uint8Array> {
  const { text, longStrings } = await checkJson(bytes, schema);
  let message: Message;
  try {
    message = fromJsonString(schema, text.replace(BYTE_ORDER_MARK, ""), { ignoreUnknownFields: true });
  } catch (cause) {
    throw new RestError("badRequest", "The body is not the JSON form of the request.", { cause });
  }
  await replacePlaceholders(reflect(schema, message, false), longStrings);
  return toBinary(schema, message);
}

/** Replaces the placeholders of long strings. Does not look into maps: no request has any. */
async function replacePlaceholders(message: ReflectMessage, longStrings: LongStrings): Promise<void> {
  if (longStrings.size === 0) return;
  for (const field of message.fields) {
    if (!message.isSet(field)) continue;
    if (field.fieldKind === "message") await replacePlaceholders(message.get(field), longStrings);
    if (field.fieldKind !== "scalar") continue;
    const value: unknown = message.get(field);
    if (typeof value === "string") {
      const text = longStrings.get(value);
      if (text) message.set(field, await decodeText(text, field.name));
    } else if (field.scalar === ScalarType.BYTES && value instanceof Uint8Array) {
      const text =
        value.length === PLACEHOLDER_BYTES && longStrings.get(Buffer.from(value).toString("base64"));
      if (text) message.set(field, await decodeBytes(text, field.name));
    }
  }
}

async function decodeText(text: TextBytes, field: string): Promise<string> {
  if (text.length > MAX_TEXT_BYTES)
    throw new RestError("badRequest", `The field ${field} is longer than ${MAX_TEXT_BYTES} bytes.`, {
      field,
    });
  return (await text.decode()).toString();
}

async function decodeBytes(text: TextBytes, field: string): Promise<Uint8Array> {
  const bytes = await decodeBase64(await text.decode(), "nothing");
  if (!bytes) throw new RestError("badRequest", `The field ${field} is not Base64.`, { field });
  return bytes;
}
