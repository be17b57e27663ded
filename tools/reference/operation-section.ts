import { SAMPLE_OPERATIONS } from "../../src/web/samples/sample-request.ts";
import { codeBlock } from "./highlight.ts";
import { code, element, escapeHtml, link } from "./html.ts";
import { shortJson } from "./json-example.ts";
import { markdownToHtml } from "./markdown.ts";
import {
  type Document,
  exampleOf,
  type MediaType,
  type Operation,
  type PlacedOperation,
  resolveResponse,
  type Schema,
} from "./openapi.ts";
import { exampleRequest, hasClientSamples, hasSamples, sampleTabs } from "./sample-tabs.ts";
import { parameterFields, requestFields, responseFields } from "./schema-fields.ts";
import { canBeTried } from "./try-forms.ts";

const MEDIA_NAMES: Readonly<Record<string, string>> = {
  "multipart/form-data": "Form with files",
  "application/json": "JSON body",
  "application/x-ndjson": "Lines of JSON",
};

/** The section of one operation. On a wide screen, samples and results are beside the description. */
export function operationSection(document: Document, placed: PlacedOperation): string {
  const { method, path, operation } = placed;
  const { operationId: id, deprecated } = operation;
  const title = operationTitle(placed);
  const heading = [
    `<h3 id="${id}">${link(`#${id}`, escapeHtml(title))}</h3>`,
    deprecated ? '<p class="deprecated">Deprecated</p>' : "",
    `<p class="route">${methodLabel(method)} ${code(path)}</p>`,
    hasSamples(id) ? `<p class="hint">gRPC ${code(SAMPLE_OPERATIONS[id].rpc)}</p>` : "",
  ];
  const description = markdownToHtml(operation.description || `${operation.summary}.`);
  const text = [
    requestPart(document, operation),
    responsePart(document, operation),
    errorPart(document, operation),
  ];
  const samples = [
    hasSamples(id) ? sampleTabs(exampleRequest(id)) : "",
    hasSamples(id) && !hasClientSamples(id)
      ? '<p class="hint">The clients do not offer this operation.</p>'
      : "",
    canBeTried(operation) ? element("div", { class: "try", id: `try-${id}`, "data-operation": id }) : "",
    responseExample(document, placed),
  ];
  // An article is not a landmark. A landmark for each operation would be too many.
  return element(
    "article",
    { class: "operation", "aria-labelledby": id },
    ...heading,
    `<div class="columns"><div class="description">${description}</div><div class="code">${samples.join("")}</div><div class="text">${text.join("")}</div></div>`,
  );
}

/** An HTTP method in its colour. */
export function methodLabel(method: string): string {
  return element("span", { class: "method", "data-method": method }, method);
}

/** The name of an operation: that of its RPC, or the path of a probe. */
export function operationTitle({ path, operation }: PlacedOperation): string {
  const { operationId: id } = operation;
  if (hasSamples(id)) return SAMPLE_OPERATIONS[id].rpc.split("/")[1]!;
  return id.startsWith("v1") ? id.slice(2) : path;
}

function requestPart(document: Document, { parameters = [], requestBody }: Operation): string {
  const inPath = parameters.filter((parameter) => parameter.in === "path");
  const inQuery = parameters.filter((parameter) => parameter.in === "query");
  const bodies = Object.entries(requestBody?.content ?? {}).map(([type, media]) => {
    const fields = requestFields(document, schemaOf(media));
    const name = `${MEDIA_NAMES[type] ?? type} ${code(type)}`;
    return `<details class="body"${type === "application/json" && inQuery.length > 0 ? "" : " open"}><summary>${name}</summary>${fields}</details>`;
  });
  return [
    inPath.length > 0 ? `<h4>Path</h4>${parameterFields(document, inPath)}` : "",
    bodies.length > 0
      ? `<h4>Body</h4>${requestBody?.description ? markdownToHtml(requestBody.description) : ""}${bodies.join("")}`
      : "",
    inQuery.length > 0 ? `<h4>Query</h4>${parameterFields(document, inQuery)}` : "",
  ].join("");
}

function responsePart(document: Document, operation: Operation): string {
  const content = successContent(document, operation);
  const fields = content ? responseFields(document, schemaOf(content)) : "";
  const { description } = resolveResponse(document, operation.responses["200"]!);
  const text = description === "Success." ? "" : markdownToHtml(description);
  return `<h4>Response</h4>${text}${fields || "<p>An empty object.</p>"}`;
}

/** The schema of a body, or of one line of it. */
function schemaOf({ schema, "x-itemSchema": ofLine = schema }: MediaType): Schema {
  return ofLine;
}

function responseExample(document: Document, placed: PlacedOperation): string {
  const content = successContent(document, placed.operation);
  const example = content && exampleOf(content);
  if (example === undefined) return "";
  const block = codeBlock("json", shortJson(example), `Response of ${operationTitle(placed)}`, {
    class: "tall",
  });
  return `<h4>Example of a response</h4>${block}`;
}

function successContent(document: Document, { responses }: Operation): MediaType | undefined {
  return Object.values(resolveResponse(document, responses["200"]!).content ?? {})[0];
}

/** The errors of an operation by status. The document has an example of each reason. */
function errorPart(document: Document, { responses }: Operation): string {
  let count = 0;
  const rows = Object.entries(responses).flatMap(([status, response]) => {
    const content = Object.values(resolveResponse(document, response).content ?? {})[0];
    const reasons = Object.keys(content?.examples ?? {});
    if (status === "200" || reasons.length === 0) return [];
    count += reasons.length;
    const links = reasons.map((reason) => link(`#error-${reason}`, code(reason)));
    return [`<dt>${status}</dt><dd>${links.join(" ")}</dd>`];
  });
  if (count === 0) return "";
  return `<details class="errors"><summary>Errors (${count})</summary><dl>${rows.join("")}</dl></details>`;
}
