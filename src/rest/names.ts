import type { DescField, DescMessage, JsonValue } from "@bufbuild/protobuf";
import { RestError } from "./rest-error.ts";

/** Programs of the original service send names that are no fields; they are ignored. */
const TOLERANT_PACKAGE = "face.v1";

/** Characters of a name that are compared and printed. It is a stranger's and may be long. */
const MAX_NAME_LENGTH = 40;
/** An error lists all fields of a request if there are no more. */
const MAX_LISTED_FIELDS = 12;

/** Finds a field by its name in Protobuf or in JSON. */
export function findField(schema: DescMessage, name: string): DescField | undefined {
  return schema.fields.find((field) => field.name === name || field.jsonName === name);
}

/**
 * Checks that every member of a JSON value, at any depth, is a field of its message. Throws RestError `badRequest`.
 * `path` is that of the value, with a dot at its end.
 */
export function checkMembers(schema: DescMessage, json: JsonValue, path = ""): void {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return;
  for (const [name, value] of Object.entries(json)) {
    const field = findField(schema, name);
    if (!field) rejectUnknownName(schema, name, path);
    else if (field.message) checkValues(field, value, `${path}${name}.`);
  }
}

/** Checks the members of the values of a field like `checkMembers`. */
export function checkValues(field: DescField, value: JsonValue, path = `${field.name}.`): void {
  if (!field.message) return;
  for (const item of Array.isArray(value) ? value : [value]) checkMembers(field.message, item, path);
}

/** Throws RestError `badRequest` for a name that is no field, unless the API ignores such names. */
export function rejectUnknownName(schema: DescMessage, name: string, path = ""): void {
  if (schema.file.proto.package === TOLERANT_PACKAGE) return;
  const isLong = name.length > MAX_NAME_LENGTH;
  const printed = name.slice(0, MAX_NAME_LENGTH).replaceAll(/[^\w.-]/g, "?") + (isLong ? "..." : "");
  const field = path + printed;
  throw new RestError("badRequest", `Unknown parameter ${field}${adviceFor(schema, name)}`, { field });
}

function adviceFor(schema: DescMessage, name: string): string {
  const nearest = nearestField(schema, name.slice(0, MAX_NAME_LENGTH));
  if (nearest) return `: did you mean ${/[A-Z]/.test(name) ? nearest.jsonName : nearest.name}?`;
  const known = schema.fields.map((field) => field.name);
  if (known.length > MAX_LISTED_FIELDS) return ".";
  return known.length === 0 ? ": there are none." : `: known are ${known.join(", ")}.`;
}

/** Finds the field whose name differs by at most two letters, or a third of them. */
function nearestField({ fields }: DescMessage, name: string): DescField | undefined {
  const wanted = lettersOf(name);
  const distances = fields.map((field) => ({ field, distance: editDistance(wanted, lettersOf(field.name)) }));
  const [nearest] = distances.toSorted((a, b) => a.distance - b.distance);
  if (!nearest || nearest.distance > Math.max(2, wanted.length / 3)) return undefined;
  return nearest.distance < wanted.length ? nearest.field : undefined;
}

/** What the names `max_faces`, `maxFaces` and `max-faces` have in common. */
function lettersOf(name: string): string {
  return name.replaceAll(/[_-]/g, "").toLowerCase();
}

/** The number of letters to add, remove or replace (Levenshtein). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + Number(a[i - 1] !== b[j - 1])));
    row = next;
  }
  return row[b.length]!;
}
