import {
  create,
  type DescField,
  type DescMessage,
  type Message,
  mergeFromJson,
  ScalarType,
} from "@bufbuild/protobuf";
import type { Entry, EntryValue } from "./entry.ts";
import {
  bytesFromValue,
  fieldError,
  isNumberList,
  messageFromValue,
  orUnreadable,
  protoJsonFromValue,
  withFieldName,
} from "./field-value.ts";
import { membersOf, PartialJson } from "./json-message.ts";
import { checkValues, findField, rejectUnknownName } from "./names.ts";
import { MAX_LIST_VALUES, MAX_TEXT_BYTES } from "./parse-limits.ts";
import { TextBytes } from "./text-bytes.ts";
import { type FieldParser, isFileParser, parserFor, type TextParsers } from "./text-parser.ts";

/** Reads a message from the entries of a query and of a body. Throws RestError. */
export type MessageReader = (query: Iterable<Entry>, body: Iterable<Entry>) => Promise<Message>;

/**
 * Creates the reader of a message type. A field in the query replaces the same field in the body. A name that is no
 * field of the message, or of a message in it, is an error, except in face.v1.
 */
export function createMessageReader(schema: DescMessage, parsers: TextParsers): MessageReader {
  return async (query, body) => {
    const message = create(schema);
    const values = new Map([
      ...(await collectValues(schema, parsers, body)),
      ...(await collectValues(schema, parsers, query)),
    ]);
    for (const [field, list] of values) await setField(schema, message, field, list, parsers);
    return message;
  };
}

/** Collects the values of each field. Values that count as absent are left out. */
async function collectValues(
  schema: DescMessage,
  parsers: TextParsers,
  entries: Iterable<Entry>,
): Promise<Map<DescField, EntryValue[]>> {
  const collected = new Map<DescField, EntryValue[]>();
  let current: DescField | undefined;
  for (const { name, value } of entries) {
    const field = findField(schema, name);
    // `bboxes=1,2,3,4&5,6,7,8` is parsed as a field and a name without a value: the name is one more value.
    const isContinued =
      !field && value === undefined && current && canParse(parserFor(current, parsers), name);
    if (!isContinued) current = field;
    if (!current) {
      rejectUnknownName(schema, name);
      continue;
    }
    if (value instanceof PartialJson) checkValues(current, value.json);
    else if (Array.isArray(value)) checkValues(current, value);
    const parser = parserFor(current, parsers);
    const short = await shortenValue(current, isContinued ? name : (value ?? null), parser);
    const values = splitValue(current, short, parser);
    if (values.length > 0)
      collected.set(current, checkCount(current, [...(collected.get(current) ?? []), ...values]));
  }
  return collected;
}

/** Whether a parser accepts a text. A file parser reads any word as Base64, so it cannot decide this. */
function canParse(parser: FieldParser, text: string): boolean {
  if (!parser || isFileParser(parser)) return false;
  try {
    return Boolean(parser.fromText(text));
  } catch {
    return false;
  }
}

/** Converts long text and files to a string, except for fields that take images or bytes. */
async function shortenValue(field: DescField, value: EntryValue, parser: FieldParser): Promise<EntryValue> {
  if (!(value instanceof TextBytes || value instanceof Uint8Array)) return value;
  if (isFileParser(parser) || field.scalar === ScalarType.BYTES) return value;
  if (value.length > MAX_TEXT_BYTES) throw fieldError(field, `is longer than ${MAX_TEXT_BYTES} bytes`);
  return (value instanceof TextBytes ? await value.decode() : Buffer.from(value)).toString();
}

/** Splits the value of a repeated field: a JSON list, texts with `&` between them, or names of an enum with commas. */
function splitValue(field: DescField, value: EntryValue, parser: FieldParser): EntryValue[] {
  let values: EntryValue[] = [value];
  if (field.fieldKind === "list") {
    if (Array.isArray(value) && !(parser && isNumberList(value))) values = value;
    else if (typeof value === "string" && (parser || field.enum))
      values = value.split(parser ? "&" : ",", MAX_LIST_VALUES + 1);
  }
  return checkCount(field, values).filter((one) => !isAbsent(field, one));
}

function checkCount(field: DescField, values: EntryValue[]): EntryValue[] {
  if (values.length > MAX_LIST_VALUES) throw fieldError(field, `has more than ${MAX_LIST_VALUES} values`);
  return values;
}

/** Null is absent, and so is blank text unless the field holds text or bytes. */
function isAbsent(field: DescField, value: EntryValue): boolean {
  if (value === null) return true;
  const mayBeBlank = field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES;
  return typeof value === "string" && !mayBeBlank && value.trim() === "";
}

async function setField(
  schema: DescMessage,
  message: Message,
  field: DescField,
  values: readonly EntryValue[],
  parsers: TextParsers,
): Promise<void> {
  const isList = field.fieldKind === "list";
  if (!isList && values.length > 1) throw fieldError(field, "takes one value and was given several");
  const items: unknown[] = [];
  if (field.message && field.fieldKind !== "map") {
    for (const value of values) items.push(await readItem(field, field.message, value, parsers));
  } else if (field.scalar === ScalarType.BYTES) {
    for (const value of values) items.push(await bytesFromValue(field, value));
  } else {
    const json = values.map((value) => protoJsonFromValue(field, value));
    orUnreadable(field, () => mergeFromJson(schema, message, { [field.jsonName]: isList ? json : json[0]! }));
    return;
  }
  const members = message as unknown as Record<string, unknown>;
  if (field.oneof) members[field.oneof.localName] = { case: field.localName, value: items[0] };
  else members[field.localName] = isList ? items : items[0];
}

/** Reads a message of a field. An object is read member by member if its members may have a text form. */
async function readItem(
  field: DescField,
  schema: DescMessage,
  value: EntryValue,
  parsers: TextParsers,
): Promise<Message> {
  const isReadByMember = schema.fields.some((member) => parserFor(member, parsers) !== undefined);
  if (!isReadByMember || !(value instanceof PartialJson))
    return messageFromValue(field, schema, value, parserFor(field, parsers));
  const members = membersOf(value).map(([name, member]) => ({ name, value: member }));
  return withFieldName(field, () => createMessageReader(schema, parsers)([], members));
}
