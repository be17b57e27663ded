import { type DescField, type DescMessage, type JsonObject, ScalarType } from "@bufbuild/protobuf";
import { commentOf, describing } from "./comments.ts";
import { fullNameOf, refOf, schemaOfField } from "./messages.ts";
import type { FormWords, Words } from "./words.ts";

/** What a switch may be as text, and in JSON; the last are the same as none. */
const SWITCH_TEXT = { type: "string", enum: ["1", "0", "true", "false", ""] };
const SWITCH_JSON = { enum: [true, false, 1, 0, "1", "0", "true", "false", "", null] };

/** Ways in which a request is written. */
type Medium = "query" | "multipart/form-data" | "application/x-www-form-urlencoded" | "application/json";

/** Gives the query of a method's request: every field but those that may come as files. None is required there. */
export function parametersOf(request: DescMessage, words: Words): JsonObject[] {
  return request.fields
    .filter((field) => !formOf(field, words)?.file)
    .map((field) => {
      const { description, ...schema } = valueSchemaOf(field, "query", words);
      return { name: field.name, in: "query", ...(description && { description }), schema };
    });
}

/** Gives the body of a method's request: the same fields in each of three media types. */
export function requestBodyOf(request: DescMessage, words: Words): JsonObject {
  const media = ["multipart/form-data", "application/x-www-form-urlencoded", "application/json"] as const;
  return {
    required: true,
    content: Object.fromEntries(
      media.map((medium) => [
        medium,
        {
          schema: bodyOf(request, medium, words),
          ...(medium === "multipart/form-data"
            ? { encoding: encodingOf(request, words) }
            : { example: exampleOf(request, words) }),
        },
      ]),
    ),
  };
}

/** Gives the schemas of the texts that requests write messages as, by the name of the message. */
export function textSchemasOf(requests: readonly DescMessage[], words: Words): Record<string, JsonObject> {
  const fields = requests.flatMap((request) => request.fields);
  return Object.fromEntries(
    fields.flatMap((field) => {
      const form = formOf(field, words);
      return form ? [[field.message!.name, { ...describing(field.message!), ...form.text }]] : [];
    }),
  );
}

function bodyOf(request: DescMessage, medium: Medium, words: Words): JsonObject {
  const required = requiredOf(request, words).map(({ name }) => name);
  return {
    type: "object",
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(
      request.fields.map((field) => [field.name, valueSchemaOf(field, medium, words)]),
    ),
  };
}

function requiredOf(request: DescMessage, words: Words): DescField[] {
  return request.fields.filter((field) => words.required.includes(fullNameOf(field)));
}

/** What is required and no more, so that tools do not make up the rest. */
function exampleOf(request: DescMessage, words: Words): JsonObject {
  return Object.fromEntries(
    requiredOf(request, words).flatMap((field) => {
      const example = formOf(field, words)?.example;
      return example === undefined ? [] : [[field.name, example]];
    }),
  );
}

function encodingOf(request: DescMessage, words: Words): JsonObject {
  return Object.fromEntries(
    request.fields.flatMap((field) => {
      const types = formOf(field, words)?.file;
      return types ? [[field.name, { contentType: types.join(", ") }]] : [];
    }),
  );
}

function valueSchemaOf(field: DescField, medium: Medium, words: Words): JsonObject {
  const form = formOf(field, words);
  if (form?.file && medium === "multipart/form-data") return fileSchemaOf(field);
  if (form) return { ...formSchemaOf(field, medium, form, words), ...describing(field) };
  if (field.scalar !== ScalarType.BOOL) return schemaOfField(field, words);
  return { ...(medium === "application/json" ? SWITCH_JSON : SWITCH_TEXT), ...describing(field) };
}

/** Tools know by this type alone to offer a choice of files, so that its being text as well is told in words. */
function fileSchemaOf(field: DescField): JsonObject {
  const description = `${commentOf(field)} A file; or text, as in the other kinds of body.`.trimStart();
  return { type: "string", format: "binary", description };
}

function formSchemaOf(field: DescField, medium: Medium, form: FormWords, words: Words): JsonObject {
  const text = refOf(field.message!);
  const isList = field.fieldKind === "list";
  if (medium !== "application/json") return isList ? { type: "array", items: text } : text;
  // Null is the same as none.
  const none = words.required.includes(fullNameOf(field)) ? [] : [{ type: "null" }];
  const ways = [text, ...(form.json ? [form.json] : []), ...none];
  const one = ways.length === 1 ? text : { anyOf: ways };
  return isList ? { anyOf: [{ type: "array", items: one }, text, ...none] } : one;
}

function formOf({ message, fieldKind }: DescField, { forms }: Words): FormWords | undefined {
  return message && fieldKind !== "map" ? forms[message.typeName] : undefined;
}
