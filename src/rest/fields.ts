import {
  create,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonValue,
  type Message,
  mergeFromJson,
  ScalarType,
} from "@bufbuild/protobuf";
import { decodeBase64 } from "../bytes/base64.ts";
import type { Entry, EntryValue } from "./entry.ts";
import { messageFromJson, PartialJson } from "./json-message.ts";
import { FIELD_ERRORS, MAX_LIST_VALUES, MAX_TEXT_BYTES } from "./parse-limits.ts";
import { RestError } from "./rest-error.ts";
import { TextBytes } from "./text-bytes.ts";

/** How text becomes a message of a type. May throw RestError. */
export interface TextForm {
  /** Takes the text as it was decoded: in text from a form, a space may stand for a `+`. Never blank. */
  fromText(text: string): Message;
}

/** How a file, or text of any length, becomes a message of a type. Both may throw RestError. */
export interface FileForm {
  /** Takes short text as a string and long text as UTF-8, which it may overwrite. */
  fromText(text: string | Uint8Array): Message | Promise<Message>;
  /** Takes the content of a file. */
  fromBytes(bytes: Uint8Array): Message;
}

/** The text forms by the full name of their message type. */
export type TextForms = Readonly<Record<string, TextForm | FileForm>>;

type Form = TextForm | FileForm | undefined;

const BOOLS = new Map<unknown, boolean>([
  ["1", true],
  ["true", true],
  [1, true],
  ["0", false],
  ["false", false],
  [0, false],
]);

/**
 * Makes the reader of a message from the entries of a query and a body. A field in the query wins over
 * the body's; names that are no field of the message are left out.
 */
export function createMessageReader(
  schema: DescMessage,
  forms: TextForms,
): (query: Iterable<Entry>, body: Iterable<Entry>) => Promise<Message> {
  const fields = new Map(
    schema.fields.flatMap((field) => [[field.name, field] as const, [field.jsonName, field]]),
  );
  return async (query, body) => {
    const message = create(schema);
    const given = new Map([...(await gather(fields, forms, body)), ...(await gather(fields, forms, query))]);
    for (const [field, values] of given) await setField(schema, message, field, values, formOf(field, forms));
    return message;
  };
}

/** Sorts entries by field. Values that count as absent leave no trace. */
async function gather(
  fields: ReadonlyMap<string, DescField>,
  forms: TextForms,
  entries: Iterable<Entry>,
): Promise<Map<DescField, EntryValue[]>> {
  const given = new Map<DescField, EntryValue[]>();
  let latest: DescField | undefined;
  for (const { name, value } of entries) {
    const field = fields.get(name);
    // `bboxes=1,2,3,4&5,6,7,8` arrives as a field and a key alone: the key is one more value.
    const more = !field && value === undefined && latest && goesOn(formOf(latest, forms), name);
    if (!more) latest = field;
    if (!latest) continue;
    const form = formOf(latest, forms);
    const values = valuesOf(latest, await shortValueOf(latest, more ? name : (value ?? null), form), form);
    if (values.length > 0) given.set(latest, withinLimit(latest, [...(given.get(latest) ?? []), ...values]));
  }
  return given;
}

/** A form that also takes files reads any word as Base64, so that it cannot tell a value from a parameter. */
function goesOn(form: Form, text: string): boolean {
  if (!form || isFileForm(form)) return false;
  try {
    return Boolean(form.fromText(text));
  } catch {
    return false;
  }
}

/** Gives long text and files as a string for all fields but those of images and bytes. */
async function shortValueOf(field: DescField, value: EntryValue, form: Form): Promise<EntryValue> {
  if (!(value instanceof TextBytes || value instanceof Uint8Array)) return value;
  if (isFileForm(form) || field.scalar === ScalarType.BYTES) return value;
  if (value.length > MAX_TEXT_BYTES) throw faultOf(field, `is longer than ${MAX_TEXT_BYTES} bytes`);
  return (value instanceof TextBytes ? await value.decode() : Buffer.from(value)).toString();
}

function valuesOf(field: DescField, value: EntryValue, form: Form): EntryValue[] {
  let values: EntryValue[] = [value];
  if (field.fieldKind === "list") {
    if (Array.isArray(value) && !(form && isNumbers(value))) values = value;
    else if (form && typeof value === "string") values = value.split("&", MAX_LIST_VALUES + 1);
  }
  return withinLimit(field, values).filter((one) => !isAbsent(field, one));
}

function withinLimit(field: DescField, values: EntryValue[]): EntryValue[] {
  if (values.length > MAX_LIST_VALUES) throw faultOf(field, `has more than ${MAX_LIST_VALUES} values`);
  return values;
}

function isAbsent(field: DescField, value: EntryValue): boolean {
  if (value === null) return true;
  const blankCounts = field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES;
  return typeof value === "string" && !blankCounts && value.trim() === "";
}

async function setField(
  schema: DescMessage,
  message: Message,
  field: DescField,
  values: readonly EntryValue[],
  form: Form,
): Promise<void> {
  const isList = field.fieldKind === "list";
  if (!isList && values.length > 1) throw faultOf(field, "takes one value and was given several");
  const items: unknown[] = [];
  if (field.message && (form || values[0] instanceof PartialJson)) {
    for (const value of values) items.push(await messageOf(field, field.message, value, form));
  } else if (field.scalar === ScalarType.BYTES) {
    for (const value of values) items.push(await bytesOf(field, value));
  } else {
    const json = values.map((value) => protoJsonOf(field, value));
    orFault(field, () => mergeFromJson(schema, message, { [field.jsonName]: isList ? json : json[0]! }));
    return;
  }
  const members = message as unknown as Record<string, unknown>;
  if (field.oneof) members[field.oneof.localName] = { case: field.localName, value: items[0] };
  else members[field.localName] = isList ? items : items[0];
}

async function messageOf(
  field: DescField,
  schema: DescMessage,
  value: EntryValue,
  form: Form,
): Promise<Message> {
  if (value instanceof PartialJson) {
    return messageFromJson(schema, value).catch((cause: unknown) => {
      throw cause instanceof RestError ? cause : unreadable(field, cause);
    });
  }
  if (isFileForm(form)) {
    if (value instanceof Uint8Array) return orNamed(field, async () => form.fromBytes(value));
    if (value instanceof TextBytes) return orNamed(field, async () => form.fromText(await value.decode()));
  }
  const json = value as JsonValue;
  if (form && typeof json === "string") return orNamed(field, async () => form.fromText(json));
  // Numbers are how answers write what requests write as text: a rectangle is [1, 2, 3, 4] there.
  if (form && Array.isArray(json) && isNumbers(json))
    return orNamed(field, async () => form.fromText(json.join(",")));
  return orFault(field, () => fromJson(schema, json));
}

async function bytesOf(field: DescField, value: EntryValue): Promise<Uint8Array> {
  if (value instanceof Uint8Array) return value;
  const text = value instanceof TextBytes ? await value.decode() : value;
  const encoded = typeof text === "string" ? Buffer.from(text) : text;
  const bytes = encoded instanceof Buffer && (await decodeBase64(encoded, "plus"));
  if (!bytes) throw unreadable(field);
  return bytes;
}

/** Gives what Protobuf's JSON expects of a field where a request may say it more loosely. */
function protoJsonOf(field: DescField, value: EntryValue): JsonValue {
  const json = value as JsonValue;
  if (field.scalar === ScalarType.BOOL) {
    return BOOLS.get(typeof json === "string" ? json.trim().toLowerCase() : json) ?? json;
  }
  if (typeof json !== "string" || field.scalar === ScalarType.STRING) return json;
  return field.enum && /^-?\d+$/.test(json.trim()) ? Number(json) : json.trim();
}

function isNumbers(values: readonly JsonValue[]): boolean {
  return values.length > 0 && values.every((value) => typeof value === "number");
}

function isFileForm(form: Form): form is FileForm {
  return form !== undefined && "fromBytes" in form;
}

function formOf(field: DescField, forms: TextForms): Form {
  if (!field.message || field.fieldKind === "map") return undefined;
  return Object.hasOwn(forms, field.message.typeName) ? forms[field.message.typeName] : undefined;
}

function orFault<T>(field: DescField, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw unreadable(field, cause);
  }
}

function unreadable(field: DescField, cause?: unknown): RestError {
  return faultOf(field, "has a value that cannot be read", cause);
}

/** A form does not know which field it reads for; other errors than RestError are the service's own words. */
async function orNamed<T>(field: DescField, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (!(cause instanceof RestError) || cause.field !== undefined) throw cause;
    throw new RestError(cause.kind, `${field.name}: ${cause.message}`, { field: field.name, cause });
  }
}

function faultOf(field: DescField, fault: string, cause?: unknown): RestError {
  const kind = FIELD_ERRORS[field.message?.typeName ?? ""] ?? "badRequest";
  return new RestError(kind, `The field ${field.name} ${fault}.`, { field: field.name, cause });
}
