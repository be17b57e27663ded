import { STATUS_CODES } from "node:http";
import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import type { ApiMetadata, ErrorDescription } from "./api-metadata.ts";
import { schemaRef } from "./messages.ts";

/** Errors of requests that reach no operation. */
const STATUSES_WITHOUT_OPERATION: readonly number[] = [404, 405];

/** Describes the responses of a method, by status. */
export function methodResponses(method: DescMethod, metadata: ApiMetadata): JsonObject {
  return {
    200: {
      description: "Success.",
      headers: headerRefs(metadata, 200, method),
      content: {
        "application/json": {
          schema: schemaRef(method.output),
          example: metadata.examples[method.name]!.response,
        },
      },
    },
    ...Object.fromEntries(
      errorStatuses(metadata).map((status) => [
        status,
        { $ref: `#/components/responses/${responseName(status)}` },
      ]),
    ),
  };
}

/** Describes the error responses, which all methods share, by name. */
export function errorResponses(metadata: ApiMetadata): JsonObject {
  return Object.fromEntries(
    errorStatuses(metadata).map((status) => {
      const errors = metadata.errors.filter(({ http }) => http === status);
      const examples = errors.map((error) => [
        error.reason,
        { summary: error.text, value: metadata.errorExample(error) },
      ]);
      return [
        responseName(status),
        {
          description: `${STATUS_CODES[status]}.\n\n${errorTable(errors)}`,
          headers: headerRefs(metadata, status),
          content: {
            "application/json": {
              schema: { $ref: "#/components/schemas/ErrorResponse" },
              examples: Object.fromEntries(examples),
            },
          },
        },
      ];
    }),
  );
}

/** Creates the schema of all error responses. Its description has a table of the errors. */
export function errorSchema({ errors, errorEnvelope }: ApiMetadata): JsonObject {
  const description = `Every error response, also for other paths and methods.\n\n${errorTable(errors)}`;
  return { description, ...errorEnvelope };
}

/** Describes the response headers, by name. */
export function headerComponents({ headers }: ApiMetadata): JsonObject {
  return Object.fromEntries(
    headers.map(({ name, description, schema, always }) => [
      name,
      { description, ...(always && { required: true }), schema },
    ]),
  );
}

function headerRefs({ headers }: ApiMetadata, status: number, method?: DescMethod): JsonObject {
  return Object.fromEntries(
    headers
      .filter(({ appliesTo }) => appliesTo(status, method))
      .map(({ name }) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

function errorStatuses({ errors }: ApiMetadata): number[] {
  const statuses = errors
    .map(({ http }) => http)
    .filter((status) => !STATUSES_WITHOUT_OPERATION.includes(status));
  return [...new Set(statuses)].toSorted((a, b) => a - b);
}

/** Names the response of a status, such as `TooManyRequests` for 429. */
function responseName(status: number): string {
  return STATUS_CODES[status]!.replaceAll(/[^A-Za-z]/g, "");
}

function errorTable(errors: readonly ErrorDescription[]): string {
  const rows = errors.map(
    ({ code, reason, http, retryable, text }) =>
      `| ${code} | ${reason} | ${http} | ${retryable ? "yes" : "no"} | ${text} |`,
  );
  return ["| code | reason | HTTP | retry | meaning |", "|---|---|---|---|---|", ...rows].join("\n");
}
