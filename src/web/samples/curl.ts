import { messageOf, streamMessagesOf } from "./message-json.ts";
import {
  type SampleDestination,
  type SampleImage,
  type SampleOperation,
  type SampleRequest,
  type SampleValue,
  sampleOperation,
  splitFields,
} from "./sample-request.ts";
import { commandLines, indent, keyHeader, printMessage, shellQuote } from "./shell.ts";

const JSON_TYPE = '-H "Content-Type: application/json"';
const LINES_TYPE = '-H "Content-Type: application/x-ndjson"';

/** Writes a request as a curl command. */
export function curlSample(request: SampleRequest, destination: SampleDestination): string {
  const operation = sampleOperation(request.operation);
  const { path, rest } = splitFields(request);
  const url = (query = "") => shellQuote(`${destination.address}${path}${query}`);
  const isOriginal = operation.rpc.startsWith("face.v1");
  const header = keyHeader(request.operation, destination, isOriginal ? "user_id:" : undefined);
  const curl = `curl -H ${header}`;
  const method = isDefaultMethod(operation) ? undefined : `-X ${operation.method}`;
  if (operation.body === "lines") return linesSample(request, operation, curl, url());
  if (operation.body === "form" && needsJson(request, operation)) {
    const send = commandLines(curl, `${JSON_TYPE} -d @-`, url());
    return `${printMessage(messageOf(request, rest))} \\\n  | ${send}`;
  }
  if (operation.body === "form") {
    const files = (request.images ?? []).map(({ field, file, url: source }) =>
      source === undefined ? `-F ${formFile(field, file)}` : formField([field, source]),
    );
    // One line each. A query would be long, and proxies log it, which must not have names.
    const fields = parametersOf(operation, request.images ?? [], rest).map(formField);
    return commandLines(curl, ...files, ...fields, url());
  }
  if (operation.body === "json") {
    const message = JSON.stringify({ ...rest, limits: request.limits });
    return commandLines(curl, method, JSON_TYPE, `-d ${shellQuote(message)}`, url());
  }
  return commandLines(
    [curl, method].filter(Boolean).join(" "),
    url(queryOf(parametersOf(operation, [], rest))),
  );
}

/** Over plain HTTP, the box of a source can only be in JSON. */
function needsJson({ images = [] }: SampleRequest, { imageKind }: SampleOperation): boolean {
  return imageKind === "source" && images.some(({ boxes = [] }) => boxes.length > 0);
}

/** curl sends GET without a body and POST with one. */
function isDefaultMethod({ method }: SampleOperation): boolean {
  return method === "GET" || method === "POST";
}

function linesSample(request: SampleRequest, { method }: SampleOperation, curl: string, url: string): string {
  const file = shellQuote(request.linesFile ?? "faces.jsonl");
  if (method === "GET") return commandLines(curl, `${url} > ${file}`);
  if (!request.images) return commandLines(curl, `${LINES_TYPE} --data-binary @${file}`, url);
  // -T . sends while it reads; -d would wait for the end of the input.
  const send = commandLines(`${curl} -N -X POST -T .`, LINES_TYPE, url);
  const lines = streamMessagesOf(request).map(printMessage).join("\n");
  return `{\n${indent(lines)}\n} | ${send}`;
}

/** The boxes and fields of a request by their names, one entry for each item of a list. */
function parametersOf(
  { boxFields = {} }: SampleOperation,
  images: readonly SampleImage[],
  fields: Readonly<Record<string, SampleValue>>,
): [name: string, text: string][] {
  const boxes = images.flatMap(({ field, boxes = [] }): [string, string][] => {
    const boxField = boxFields[field];
    if (!boxField) return [];
    return (boxField.isList ? boxes : boxes.slice(0, 1)).map((box) => [boxField.name, box.join(",")]);
  });
  const others = Object.entries(fields).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((item): [string, string] => [name, queryText(item)]),
  );
  return [...boxes, ...others];
}

function queryOf(parameters: readonly (readonly [name: string, text: string])[]): string {
  const written = parameters.map(([name, text]) => `${name}=${encodeURIComponent(text)}`);
  return written.length > 0 ? `?${written.join("&")}` : "";
}

/** Switches of the original API are 0 and 1, which the typed API accepts as well. */
function queryText(value: SampleValue): string {
  return typeof value === "boolean" ? (value ? "1" : "0") : String(value);
}

/** A field of a form. `-F` gives some characters a meaning. */
function formField([name, text]: readonly [name: string, text: string]): string {
  return `${/^[\w.,-]*$/.test(text) ? "-F" : "--form-string"} ${shellQuote(`${name}=${text}`)}`;
}

/** A file part of a form. Some characters of file names are special in `-F`. */
function formFile(field: string, file: string): string {
  const name = /[";,\\]/.test(file) ? `"${file.replaceAll(/["\\]/g, "\\$&")}"` : file;
  return shellQuote(`${field}=@${name}`);
}
