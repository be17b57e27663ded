import type { Permission } from "../../src/permissions.ts";
import { ATTRIBUTE_NAMES } from "../../src/web/photos/attributes.ts";
import { code, element } from "./html.ts";
import { markdownToHtml } from "./markdown.ts";
import { type Document, type Parameter, resolveSchema, type Schema } from "./openapi.ts";

/** Deep enough for every message of the API. */
const MAX_DEPTH = 6;

/** What every description of a query parameter ends with. The guide says it once. */
const QUERY_NOTE = " A JSON body may have it instead; the query wins.";

/** Fields that are neither sent nor returned without a permission. The page hides them if it is switched off. */
const PERMITTED_FIELDS: readonly (readonly [schema: string, field: string, Permission])[] = [
  ["V1Image", "url", "urls"],
  ["V1Face", "landmarks", "landmarks"],
  ...ATTRIBUTE_NAMES.map((name) => ["V1Face", name, "attributes"] as const),
  ["V1Face", "embedding", "embeddings"],
];

/** Lists the fields of a request's body. Fields that are objects themselves open on demand. */
export function requestFields(document: Document, schema: Schema): string {
  return schemaFields(document, schema, { isRequest: true, depth: 0 });
}

/** Lists the fields of a response. */
export function responseFields(document: Document, schema: Schema): string {
  return schemaFields(document, schema, { isRequest: false, depth: 0 });
}

/** Lists parameters of the path or the query. */
export function parameterFields(document: Document, parameters: readonly Parameter[]): string {
  const entries = parameters.map(({ name, schema, required = false, description }) =>
    fieldEntry(document, { name, schema, isRequired: required, description }, { isRequest: true, depth: 0 }),
  );
  return element("dl", { class: "fields" }, ...entries);
}

interface Place {
  /** Requests mark required fields. In responses, most fields are always there. */
  readonly isRequest: boolean;
  readonly depth: number;
}

function schemaFields(document: Document, given: Schema, place: Place): string {
  const { properties = {}, required = [] } = resolveSchema(document, given).schema;
  const entries = Object.entries(properties).map(([name, schema]) =>
    fieldEntry(document, { name, schema, isRequired: required.includes(name) }, place),
  );
  return entries.length > 0 ? element("dl", { class: "fields" }, ...entries) : "";
}

/** The object in a schema: itself, the items of a list or the values of a map. */
function objectIn(document: Document, given: Schema): Schema | undefined {
  const { schema } = resolveSchema(document, given);
  if (schema.properties) return schema;
  if (schema.items) return objectIn(document, schema.items);
  const values = valuesOf(schema).map((value) => objectIn(document, value));
  return values.find((found) => found !== undefined);
}

/** The types of the values of a map; none if the schema is no map. */
function valuesOf({ additionalProperties, "x-values": types }: Schema): readonly Schema[] {
  if (types) return types;
  return typeof additionalProperties === "object" ? [additionalProperties] : [];
}

interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly description?: string | undefined;
}

function fieldEntry(document: Document, field: Field, { isRequest, depth }: Place): string {
  const { schema } = resolveSchema(document, field.schema);
  const name = code(field.name);
  const type = element("span", { class: "type" }, typeText(document, field.schema) + rangeText(schema));
  const required = isRequest && field.isRequired ? ' <span class="required">required</span>' : "";
  // Descriptions of error schemas end with a table, which the guide has.
  const text = (field.description ?? schema.description ?? "").split("\n\n|")[0]!.replace(QUERY_NOTE, "");
  const nested = depth < MAX_DEPTH ? objectIn(document, field.schema) : undefined;
  const fields = nested && schemaFields(document, nested, { isRequest, depth: depth + 1 });
  const details = fields ? `<details><summary>Fields of ${name}</summary>${fields}</details>` : "";
  const { schemas } = document.components;
  const permitted = PERMITTED_FIELDS.find(([of, own]) => schemas[of]?.properties?.[own] === field.schema);
  const [term, description] = [`${name} ${type}${required}`, markdownToHtml(text) + details];
  return element("div", { "data-permission": permitted?.[2] }, `<dt>${term}</dt><dd>${description}</dd>`);
}

/** The name of a type: `list of Face`, `text`, `number`. */
function typeText(document: Document, given: Schema): string {
  const { schema, name } = resolveSchema(document, given);
  if (schema.type === "array" && schema.items) return `list of ${typeText(document, schema.items)}`;
  const values = valuesOf(schema).map((value) => typeText(document, value));
  if (values.length > 0) return `map of ${values.join(" or ")}`;
  if (name) return name;
  if (schema.format === "binary") return "file";
  if (schema.format === "byte") return "Base64";
  if (schema.format === "date-time") return "time";
  return schema.type === "string" ? "text" : (schema.type ?? "any");
}

function rangeText({ minimum, maximum, maxLength }: Schema): string {
  if (minimum !== undefined && maximum !== undefined) return `, ${minimum} to ${maximum}`;
  return maxLength === undefined ? "" : `, at most ${maxLength} characters`;
}
