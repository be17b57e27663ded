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
import { base64Encode } from "@bufbuild/protobuf/wire";
import type { Entry } from "./entry.ts";
import { RestError } from "./rest-error.ts";

/** How text, and for files bytes, becomes a message of a type. Both may throw RestError. */
export interface TextForm {
  /** Takes the text as it was decoded: in text from a form, a space may stand for a `+`. Never blank. */
  fromText(text: string): Message;
  /** Takes the content of a file; without it a file is taken as text. */
  fromBytes?(bytes: Uint8Array): Message;
}

/** The text forms by the full name of their message type. */
export type TextForms = Readonly<Record<string, TextForm>>;

type Value = JsonValue | Uint8Array;

/** No honest request has more parts, parameters or values of a field. */
const MOST_VALUES = 1000;

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
): (query: Iterable<Entry>, body: Iterable<Entry>) => Message {
  const fields = new Map(
    schema.fields.flatMap((field) => [[field.name, field] as const, [field.jsonName, field]]),
  );
  return (query, body) => {
    const message = create(schema);
    const given = new Map([...gather(fields, forms, body), ...gather(fields, forms, query)]);
    for (const [field, values] of given) setField(schema, message, field, values, formOf(field, forms));
    return message;
  };
}

/** Sorts entries by field. Values that count as absent leave no trace. */
function gather(
  fields: ReadonlyMap<string, DescField>,
  forms: TextForms,
  entries: Iterable<Entry>,
): Map<DescField, Value[]> {
  const given = new Map<DescField, Value[]>();
  let count = 0;
  let latest: DescField | undefined;
  for (const { name, value } of entries) {
    if (++count > MOST_VALUES)
      throw new RestError("badRequest", `The request has more than ${MOST_VALUES} fields.`);
    const field = fields.get(name);
    // `bboxes=1,2,3,4&5,6,7,8` arrives as a field and a key alone: the key is one more value.
    const more = !field && value === undefined && latest && goesOn(formOf(latest, forms), name);
    if (!more) latest = field;
    if (!latest) continue;
    const values = valuesOf(latest, more ? name : (value ?? null), formOf(latest, forms));
    if (values.length > 0) given.set(latest, withinLimit(latest, [...(given.get(latest) ?? []), ...values]));
  }
  return given;
}

/** A form that also takes files reads any word as Base64, so that it cannot tell a value from a parameter. */
function goesOn(form: TextForm | undefined, text: string): boolean {
  if (!form || form.fromBytes) return false;
  try {
    form.fromText(text);
    return true;
  } catch {
    return false;
  }
}

function valuesOf(field: DescField, value: Value, form: TextForm | undefined): Value[] {
  let values: Value[] = [value];
  if (field.fieldKind === "list") {
    if (Array.isArray(value) && !(form && isNumbers(value))) values = value;
    else if (form && typeof value === "string") values = value.split("&", MOST_VALUES + 1);
  }
  return withinLimit(field, values).filter((one) => !isAbsent(field, one));
}

function withinLimit(field: DescField, values: Value[]): Value[] {
  if (values.length > MOST_VALUES) throw faultOf(field, `has more than ${MOST_VALUES} values`);
  return values;
}

function isAbsent(field: DescField, value: Value): boolean {
  if (value === null) return true;
  const blankCounts = field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES;
  return typeof value === "string" && !blankCounts && value.trim() === "";
}

function setField(
  schema: DescMessage,
  message: Message,
  field: DescField,
  values: readonly Value[],
  form: TextForm | undefined,
): void {
  const isList = field.fieldKind === "list";
  if (!isList && values.length > 1) throw faultOf(field, "takes one value and was given several");
  if (form && field.message) {
    const inner = field.message;
    const items = values.map((value) => messageOf(field, inner, value, form));
    const members = message as unknown as Record<string, unknown>;
    if (field.oneof) members[field.oneof.localName] = { case: field.localName, value: items[0] };
    else members[field.localName] = isList ? items : items[0];
    return;
  }
  const json = values.map((value) => protoJsonOf(field, value));
  orFault(field, () => mergeFromJson(schema, message, { [field.jsonName]: isList ? json : json[0]! }));
}

function messageOf(field: DescField, schema: DescMessage, value: Value, form: TextForm): Message {
  if (value instanceof Uint8Array && form.fromBytes) return orNamed(field, () => form.fromBytes!(value));
  const text = value instanceof Uint8Array ? Buffer.from(value).toString() : value;
  if (typeof text === "string") return orNamed(field, () => form.fromText(text));
  // Numbers are how answers write what requests write as text: a rectangle is [1, 2, 3, 4] there.
  if (Array.isArray(text) && isNumbers(text)) return orNamed(field, () => form.fromText(text.join(",")));
  return orFault(field, () => fromJson(schema, text));
}

/** Gives what Protobuf's JSON expects of a field where a request may say it more loosely. */
function protoJsonOf(field: DescField, value: Value): JsonValue {
  if (value instanceof Uint8Array) {
    if (field.scalar === ScalarType.BYTES) return base64Encode(value);
    return protoJsonOf(field, Buffer.from(value).toString());
  }
  if (field.scalar === ScalarType.BOOL) {
    return BOOLS.get(typeof value === "string" ? value.trim().toLowerCase() : value) ?? value;
  }
  if (typeof value !== "string" || field.scalar === ScalarType.STRING) return value;
  if (field.scalar === ScalarType.BYTES) return value.replaceAll(" ", "+");
  return field.enum && /^-?\d+$/.test(value.trim()) ? Number(value) : value.trim();
}

function isNumbers(values: readonly JsonValue[]): boolean {
  return values.length > 0 && values.every((value) => typeof value === "number");
}

function formOf(field: DescField, forms: TextForms): TextForm | undefined {
  if (!field.message || field.fieldKind === "map") return undefined;
  return Object.hasOwn(forms, field.message.typeName) ? forms[field.message.typeName] : undefined;
}

function orFault<T>(field: DescField, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw faultOf(field, "has a value that cannot be read", cause);
  }
}

/** A form does not know which field it reads for; other errors than RestError are the service's own words. */
function orNamed<T>(field: DescField, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof RestError) || cause.field !== undefined) throw cause;
    throw new RestError(cause.kind, `${field.name}: ${cause.message}`, { field: field.name, cause });
  }
}

function faultOf(field: DescField, fault: string, cause?: unknown): RestError {
  return new RestError("badRequest", `The field ${field.name} ${fault}.`, { field: field.name, cause });
}
