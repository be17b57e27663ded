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
import { invalidJson, PLACEHOLDER_BYTES, scanJson } from "./json-scan.ts";
import { MAX_TEXT_BYTES } from "./parse-limits.ts";
import { RestError } from "./rest-error.ts";
import type { TextBytes } from "./text-bytes.ts";

type LongStrings = ReadonlyMap<string, TextBytes>;

/** A JSON object with placeholders for its long strings. */
export class PartialJson {
  readonly json: JsonObject;
  readonly longStrings: LongStrings;

  constructor(json: JsonObject, longStrings: LongStrings) {
    this.json = json;
    this.longStrings = longStrings;
  }
}

/** Reads the members of a JSON object; long strings become TextBytes or PartialJson. Throws RestError `badRequest`. */
export async function readJsonObject(
  bytes: Buffer,
): Promise<readonly (readonly [string, JsonValue | TextBytes | PartialJson])[]> {
  const { text, longStrings } = await scanJson(bytes);
  const json = parseJson(text.trim());
  if (!isObject(json)) throw new RestError("badRequest", "The JSON body must be an object.");
  return Object.entries(json).map(([name, value]) => {
    if (typeof value === "string") return [name, longStrings.get(value) ?? value];
    const isPartial =
      isObject(value) &&
      Object.values(value).some((member) => typeof member === "string" && longStrings.has(member));
    return [name, isPartial ? new PartialJson(value, longStrings) : value];
  });
}

function parseJson(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidJson(cause);
  }
}

function isObject(json: JsonValue): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/** Reads a message from the JSON form of Protobuf. Throws RestError, or whatever the parser throws. */
export async function messageFromJson(
  schema: DescMessage,
  { json, longStrings }: PartialJson,
): Promise<Message> {
  const message = fromJson(schema, json);
  await fillIn(reflect(schema, message, false), longStrings);
  return message;
}

/**
 * Converts a message from the JSON form of Protobuf to its binary form, without blocking the event loop where it holds
 * large images. Unknown members are ignored and duplicate ones rejected, as Connect does it. The given bytes are
 * overwritten. Throws RestError `badRequest`.
 */
export async function binaryFromJson(bytes: Buffer, schema: DescMessage): Promise<Uint8Array> {
  const { text, longStrings } = await scanJson(bytes);
  let message: Message;
  try {
    message = fromJsonString(schema, text.replace(/^\uFEFF/, ""), { ignoreUnknownFields: true });
  } catch (cause) {
    throw new RestError("badRequest", "The body is not the JSON form of the request.", { cause });
  }
  await fillIn(reflect(schema, message, false), longStrings);
  return toBinary(schema, message);
}

/** Replaces placeholders by the strings they stand for. Requests have no maps, where placeholders would stay. */
async function fillIn(message: ReflectMessage, longStrings: LongStrings): Promise<void> {
  if (longStrings.size === 0) return;
  for (const field of message.fields) {
    if (!message.isSet(field)) continue;
    if (field.fieldKind === "message") await fillIn(message.get(field), longStrings);
    if (field.fieldKind !== "scalar") continue;
    const value: unknown = message.get(field);
    if (typeof value === "string") {
      const text = longStrings.get(value);
      if (text) message.set(field, await shortTextOf(text, field.name));
    } else if (field.scalar === ScalarType.BYTES && value instanceof Uint8Array) {
      const text =
        value.length === PLACEHOLDER_BYTES && longStrings.get(Buffer.from(value).toString("base64"));
      if (text) message.set(field, await bytesOf(text, field.name));
    }
  }
}

async function shortTextOf(text: TextBytes, field: string): Promise<string> {
  if (text.length > MAX_TEXT_BYTES)
    throw new RestError("badRequest", `The field ${field} is longer than ${MAX_TEXT_BYTES} bytes.`, {
      field,
    });
  return (await text.decode()).toString();
}

async function bytesOf(text: TextBytes, field: string): Promise<Uint8Array> {
  const bytes = await decodeBase64(await text.decode(), "nothing");
  if (!bytes) throw new RestError("badRequest", `The field ${field} is not Base64.`, { field });
  return bytes;
}
