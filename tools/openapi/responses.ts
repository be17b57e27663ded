import { STATUS_CODES } from "node:http";
import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
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

/** Describes the responses of a method, by status. */
export function methodResponses(method: DescMethod, metadata: ServiceMetadata): JsonObject {
  return {
    200: successResponse(method, metadata, "application/json", "Success."),
    ...errorRefs(errorStatuses(metadata), metadata),
  };
}

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

function errorRefs(statuses: readonly number[], metadata: ServiceMetadata): JsonObject {
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${responseName(status, metadata)}` }]),
  );
}

/** Describes the error responses, which all methods of a service share, by name. */
export function errorResponses(metadata: ServiceMetadata): JsonObject {
  return Object.fromEntries(
    errorStatuses(metadata).map((status) => {
      const errors = operationErrors(metadata).filter(({ http }) => http === status);
      const examples = errors.map((error) => [
        error.reason,
        { summary: error.text, value: metadata.errorExample(error) },
      ]);
      return [
        responseName(status, metadata),
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

function errorStatuses(metadata: ServiceMetadata): number[] {
  const statuses = operationErrors(metadata).map(({ http }) => http);
  return [...new Set(statuses)].toSorted((a, b) => a - b);
}

function operationErrors({ errors }: ServiceMetadata): readonly ErrorDescription[] {
  return errors.filter(({ reason }) => !REASONS_WITHOUT_OPERATION.includes(reason));
}

/** Names the response of a status, such as `TooManyRequests` for 429. */
function responseName(status: number, { responsePrefix }: ServiceMetadata): string {
  return responsePrefix + STATUS_CODES[status]!.replaceAll(/[^A-Za-z]/g, "");
}

function errorTable(errors: readonly ErrorDescription[]): string {
  const rows = errors.map(
    ({ code, reason, http, retryable, text }) =>
      `| ${code} | ${reason} | ${http} | ${retryable ? "yes" : "no"} | ${text} |`,
  );
  return ["| code | reason | HTTP | retry | meaning |", "|---|---|---|---|---|", ...rows].join("\n");
}
