import type { TryField, TryForm } from "../../src/web/docs/try-form.ts";
import { EXAMPLES } from "../../src/web/samples/examples.ts";
import type { SampleValue } from "../../src/web/samples/sample-request.ts";
import { type Document, exampleOf, type Operation, resolveSchema, type Schema } from "./openapi.ts";
import { hasSamples } from "./sample-tabs.ts";

/**
 * Operations whose effects last, so that a reader must not try them by a click: they change keys, users and plans, or
 * need two galleries of the reader.
 */
const LASTING = ["v1CreateKey", "v1DeleteKey", "v1ReplaceGallery"];

/** Whether the page has a form for an operation. */
export function canBeTried({ operationId, tags }: Operation): boolean {
  return !LASTING.includes(operationId) && !tags.includes("AdminService");
}

/** What the page needs to build the form of each operation, by operation id. */
export function tryForms(document: Document): Record<string, TryForm> {
  return Object.fromEntries(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, operation]) => canBeTried(operation))
        .map(([method, operation]) => [
          operation.operationId,
          tryForm(document, method.toUpperCase(), path, operation),
        ]),
    ),
  );
}

function tryForm(document: Document, method: string, path: string, operation: Operation): TryForm {
  const { parameters = [], requestBody, operationId } = operation;
  const content = requestBody?.content ?? {};
  const example = hasSamples(operationId) ? EXAMPLES[operationId] : {};
  const files = content["multipart/form-data"];
  const defaults = example.fields ?? {};
  return {
    method,
    path,
    fields: parameters.map(({ name, in: place, required, schema }) =>
      tryField(document, name, schema, {
        place: place === "path" ? "path" : "query",
        isRequired: required ?? false,
        value: defaults[jsonName(name)],
      }),
    ),
    ...(files && { files: Object.keys(resolveSchema(document, files.schema).schema.properties ?? {}) }),
    ...(!files && content["application/json"] && { json: bodyDefault(path, defaults) }),
    ...(content["application/x-ndjson"] && { lines: exampleOf(content["application/x-ndjson"]) }),
    ...(operationId === "v1AnalyzeImages" && { isImageStream: true }),
  };
}

/** The fields of an example that are not in the path. */
function bodyDefault(path: string, fields: Readonly<Record<string, SampleValue>>): object {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => jsonName(name!));
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !inPath.includes(name)));
}

function tryField(
  document: Document,
  name: string,
  given: Schema,
  rest: Pick<TryField, "place" | "isRequired"> & { readonly value: SampleValue | undefined },
): TryField {
  const { schema } = resolveSchema(document, given);
  const { place, isRequired, value } = rest;
  const items = schema.items && resolveSchema(document, schema.items).schema;
  const values = schema.enum ?? items?.enum;
  return {
    name,
    place,
    isRequired,
    kind:
      schema.type === "array" && values
        ? "choices"
        : values
          ? "choice"
          : schema.type === "boolean"
            ? "switch"
            : numberKind(schema),
    ...(values && { values }),
    ...(value !== undefined && { value }),
  };
}

function numberKind({ type }: Schema): TryField["kind"] {
  return type === "integer" || type === "number" ? "number" : "text";
}

/** The name of a field in JSON. Only the ids in a path are written differently. */
function jsonName(name: string): string {
  return name.includes("_id")
    ? name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    : name;
}
