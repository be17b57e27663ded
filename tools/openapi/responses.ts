import { STATUS_CODES } from "node:http";
import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { refOf } from "./messages.ts";
import type { ErrorWords, Words } from "./words.ts";

/** Errors at a path or with a method that is no operation's. */
const OF_NO_OPERATION: readonly number[] = [404, 405];

/** Gives the answers of a method, by status. */
export function responsesOf(method: DescMethod, words: Words): JsonObject {
  return {
    200: {
      description: "Success.",
      headers: headersOn(words, 200, method),
      content: { "application/json": { schema: refOf(method.output) } },
    },
    ...Object.fromEntries(
      statusesOf(words).map((status) => [status, { $ref: `#/components/responses/${nameOf(status)}` }]),
    ),
  };
}

/** Gives the answers to errors, which are the same for every method, by name. */
export function errorResponsesOf(words: Words): JsonObject {
  return Object.fromEntries(
    statusesOf(words).map((status) => {
      const errors = words.errors.filter(({ http }) => http === status);
      const code = { enum: codesOf(errors) };
      const schema = { allOf: [{ $ref: "#/components/schemas/Error" }, { properties: { code } }] };
      return [
        nameOf(status),
        {
          description: `${STATUS_CODES[status]}.\n\n${tableOf(errors)}`,
          headers: headersOn(words, status),
          content: { "application/json": { schema } },
        },
      ];
    }),
  );
}

/** Gives the schema of any error, with the table of all. */
export function errorSchemaOf({ errors, errorEnvelope }: Words): JsonObject {
  const description = `Every error, also at other paths and with other methods.\n\n${tableOf(errors)}`;
  return { description, ...errorEnvelope(codesOf(errors)) };
}

/** Gives the headers of answers, by name. */
export function headerComponentsOf({ headers }: Words): JsonObject {
  return Object.fromEntries(
    headers.map(({ name, description, schema, always }) => [
      name,
      { description, ...(always && { required: true }), schema },
    ]),
  );
}

function headersOn({ headers }: Words, status: number, method?: DescMethod): JsonObject {
  return Object.fromEntries(
    headers
      .filter(({ on }) => on(status, method))
      .map(({ name }) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

function statusesOf({ errors }: Words): number[] {
  const statuses = errors.map(({ http }) => http).filter((status) => !OF_NO_OPERATION.includes(status));
  return [...new Set(statuses)].toSorted((one, other) => one - other);
}

/** `TooManyRequests` for 429. */
function nameOf(status: number): string {
  return STATUS_CODES[status]!.replaceAll(/[^A-Za-z]/g, "");
}

function codesOf(errors: readonly ErrorWords[]): string[] {
  return [...new Set(errors.map(({ code }) => code))];
}

function tableOf(errors: readonly ErrorWords[]): string {
  const rows = errors.map(
    ({ code, reason, http, retry, text }) =>
      `| ${code} | ${reason} | ${http} | ${retry ? "yes" : "no"} | ${text} |`,
  );
  return ["| code | reason | HTTP | retry | meaning |", "|---|---|---|---|---|", ...rows].join("\n");
}
