import { STATUS_CODES } from "node:http";
import type { DescMethod, DescService, JsonObject } from "@bufbuild/protobuf";
import { reasonFromKind } from "../../src/service/error-table.ts";
import type { ErrorDescription, ServiceMetadata } from "./api-metadata.ts";
import { exampleOf } from "./examples.ts";
import { schemaRef } from "./messages.ts";
import { JSON_LINES } from "./requests.ts";

/** Errors of requests that reach no operation. */
const REASONS_WITHOUT_OPERATION: readonly string[] = [
  reasonFromKind("noSuchPath"),
  reasonFromKind("wrongMethod"),
];

/** Describes the responses of a method, by status. The response of an export has lines, with the schema of one line. */
export function methodResponses(method: DescMethod, metadata: ServiceMetadata): JsonObject {
  const success =
    method.methodKind === "server_streaming"
      ? successResponse(method, metadata, JSON_LINES, EXPORTED_LINES)
      : successResponse(method, metadata, "application/json", "Success.");
  return { 200: success, ...errorRefs(errorStatuses(method, metadata), metadata, method) };
}

const EXPORTED_LINES =
  "Lines of JSON. Each line has this schema. If the export fails after the first line, the last line has `error` instead.";

/** Describes the responses of a stream, by status. The schema of success is that of one line. */
export function streamResponses(method: DescMethod, metadata: ServiceMetadata): JsonObject {
  const description =
    "Lines of JSON, in the order in which the images are done. Each line has this schema. An error of the stream itself is the last line; it has `error` and no `key`.";
  return {
    200: successResponse(method, metadata, JSON_LINES, description),
    ...errorRefs(metadata.streamErrorStatuses, metadata),
  };
}

function successResponse(
  method: DescMethod,
  metadata: ServiceMetadata,
  mediaType: string,
  description: string,
): JsonObject {
  return {
    description,
    headers: headerRefs(metadata, 200, method),
    content: {
      [mediaType]: {
        schema: schemaRef(method.output, metadata),
        example: exampleOf(method, metadata).response,
      },
    },
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
export function errorResponses({ methods }: DescService, metadata: ServiceMetadata): JsonObject {
  const responses = [undefined, ...methods].map((method) => errorResponsesOf(method, metadata));
  return Object.assign({}, ...responses);
}

function errorResponsesOf(method: DescMethod | undefined, metadata: ServiceMetadata): JsonObject {
  return Object.fromEntries(
    errorStatuses(method, metadata).map((status) => {
      const errors = operationErrors(method, metadata).filter(({ http }) => http === status);
      const examples = errors.map((error) => [
        error.reason,
        { summary: error.text, value: metadata.errorExample(error) },
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

function errorStatuses(method: DescMethod | undefined, metadata: ServiceMetadata): number[] {
  const statuses = operationErrors(method, metadata).map(({ http }) => http);
  return [...new Set(statuses)].toSorted((a, b) => a - b);
}

/** The errors of a method, in the order of their codes; without a method, those that all methods share. */
function operationErrors(
  method: DescMethod | undefined,
  { errors, moreErrors = () => [] }: ServiceMetadata,
): readonly ErrorDescription[] {
  return [...errors, ...(method ? moreErrors(method) : [])]
    .filter(({ reason }) => !REASONS_WITHOUT_OPERATION.includes(reason))
    .toSorted((one, other) => Number(one.code) - Number(other.code));
}

/** Names the response of a status, such as `TooManyRequests` for 429, or `V1EnrolFaceNotFound` of one method. */
function responseName(status: number, metadata: ServiceMetadata, method?: DescMethod): string {
  const { prefix, responsePrefix, moreErrors } = metadata;
  const hasMore = method && moreErrors?.(method).some(({ http }) => http === status);
  const name = STATUS_CODES[status]!.replaceAll(/[^A-Za-z]/g, "");
  return (hasMore ? prefix + method.name : responsePrefix) + name;
}

function errorTable(errors: readonly ErrorDescription[]): string {
  const rows = errors.map(
    ({ code, reason, http, retryable, text }) =>
      `| ${code} | ${reason} | ${http} | ${retryable ? "yes" : "no"} | ${text} |`,
  );
  return ["| code | reason | HTTP | retry | meaning |", "|---|---|---|---|---|", ...rows].join("\n");
}
