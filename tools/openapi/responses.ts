import { STATUS_CODES } from "node:http";
import type { DescMethod, DescService, JsonObject } from "@bufbuild/protobuf";
import { ERRORS, type ErrorKind, reasonFromKind } from "../../src/service/error-table.ts";
import type { ServiceMetadata } from "./api-metadata.ts";
import { errorsOf } from "./errors.ts";
import { exampleOf } from "./examples.ts";
import { schemaName, schemaRef } from "./messages.ts";
import { linesContent } from "./requests.ts";

/** Describes the responses of a method, by status. The response of an export has lines. */
export function methodResponses(method: DescMethod, metadata: ServiceMetadata): JsonObject {
  const success =
    method.methodKind === "server_streaming"
      ? linesResponse(method, metadata, EXPORTED_LINES)
      : jsonResponse(method, metadata);
  return { 200: success, ...errorRefs(statusesOf(errorsOfMethod(method)), metadata, method) };
}

const EXPORTED_LINES = "If the export fails after the first line, the last line has `error` instead.";
const ANALYZED_LINES =
  "They are in the order in which the images are done. An error of the stream itself is the last line; it has `error` and no `key`.";

/** Describes the responses of a stream, by status. */
export function streamResponses(method: DescMethod, metadata: ServiceMetadata): JsonObject {
  return {
    200: linesResponse(method, metadata, ANALYZED_LINES),
    ...errorRefs(metadata.streamErrorStatuses, metadata),
  };
}

function jsonResponse(method: DescMethod, metadata: ServiceMetadata): JsonObject {
  const schema = schemaRef(method.output, metadata);
  return {
    description: "Success.",
    headers: headerRefs(metadata, 200, method),
    content: { "application/json": { schema, example: exampleOf(method, metadata).response } },
  };
}

function linesResponse(method: DescMethod, metadata: ServiceMetadata, note: string): JsonObject {
  return {
    description: `Lines of JSON. Each line is a \`${schemaName(method.output, metadata)}\`. ${note}`,
    headers: headerRefs(metadata, 200, method),
    content: linesContent(method.output, metadata, exampleOf(method, metadata).response),
  };
}

function errorRefs(statuses: readonly number[], metadata: ServiceMetadata, method?: DescMethod): JsonObject {
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      { $ref: `#/components/responses/${responseName(status, metadata, method)}` },
    ]),
  );
}

/** Describes the error responses by name: those that all methods share, and those of methods with more errors. */
export function errorResponses(service: DescService, metadata: ServiceMetadata): JsonObject {
  const shared = responsesTo(errorsOf(service.name), metadata);
  return Object.assign(
    shared,
    ...service.methods.map((method) => responsesTo(errorsOfMethod(method), metadata, method)),
  );
}

function responsesTo(
  kinds: readonly ErrorKind[],
  metadata: ServiceMetadata,
  method?: DescMethod,
): JsonObject {
  return Object.fromEntries(
    statusesOf(kinds).map((status) => {
      const errors = kinds.filter((kind) => ERRORS[kind].http === status);
      const examples = errors.map((kind) => [
        reasonFromKind(kind),
        { summary: ERRORS[kind].text, value: metadata.errorExample(kind) },
      ]);
      return [
        responseName(status, metadata, method),
        {
          description: `${STATUS_CODES[status]}.\n\n${errorTable(errors)}`,
          headers: headerRefs(metadata, status),
          content: {
            "application/json": {
              schema: { $ref: `#/components/schemas/${errorSchemaName(metadata)}` },
              examples: Object.fromEntries(examples),
            },
          },
        },
      ];
    }),
  );
}

/** Creates the schema of all error responses, by name. Its description has a table of the errors. */
export function errorSchemas(metadata: ServiceMetadata): JsonObject {
  const { description, ...schema } = metadata.errorSchema;
  return {
    [errorSchemaName(metadata)]: {
      description: `${description}\n\n${errorTable(metadata.errorsOfSchema)}`,
      ...schema,
    },
  };
}

function errorSchemaName({ prefix, errorSchemaName }: ServiceMetadata): string {
  return prefix + errorSchemaName;
}

/** Describes the response headers, by name. */
export function headerComponents({ headers }: ServiceMetadata): JsonObject {
  return Object.fromEntries(
    headers.map(({ name, description, schema, always }) => [
      name,
      { description, ...(always && { required: true }), schema },
    ]),
  );
}

function headerRefs({ headers }: ServiceMetadata, status: number, method?: DescMethod): JsonObject {
  return Object.fromEntries(
    headers
      .filter(({ appliesTo }) => appliesTo(status, method))
      .map(({ name }) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

function errorsOfMethod({ parent, localName }: DescMethod): readonly ErrorKind[] {
  return errorsOf(parent.name, localName);
}

function statusesOf(kinds: readonly ErrorKind[]): number[] {
  return [...new Set(kinds.map((kind) => ERRORS[kind].http))].toSorted((a, b) => a - b);
}

/** Names the response of a status, such as `TooManyRequests` for 429, or `V1EnrolFaceNotFound` of one method. */
function responseName(
  status: number,
  { prefix, responsePrefix }: ServiceMetadata,
  method?: DescMethod,
): string {
  const isOwn = method && errorsOf(method.localName).some((kind) => ERRORS[kind].http === status);
  const name = STATUS_CODES[status]!.replaceAll(/[^A-Za-z]/g, "");
  return (isOwn ? prefix + method.name : responsePrefix) + name;
}

function errorTable(kinds: readonly ErrorKind[]): string {
  const rows = kinds.map((kind) => {
    const { code, http, retryable, text } = ERRORS[kind];
    return `| ${code} | ${reasonFromKind(kind)} | ${http} | ${retryable ? "yes" : "no"} | ${text} |`;
  });
  return ["| code | reason | HTTP | retry | meaning |", "|---|---|---|---|---|", ...rows].join("\n");
}
