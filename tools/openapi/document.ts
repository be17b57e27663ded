import type { DescMethod, DescService, JsonObject } from "@bufbuild/protobuf";
import { type Route, readRoutes } from "../../src/rest/routes.ts";
import { commentOf, describing, firstSentenceOf } from "./comments.ts";
import { fullNameOf, schemasOf } from "./messages.ts";
import { parametersOf, requestBodyOf, textSchemasOf } from "./requests.ts";
import { errorResponsesOf, errorSchemaOf, headerComponentsOf, responsesOf } from "./responses.ts";
import type { Words } from "./words.ts";

/**
 * Describes a service in OpenAPI 3.1 as `src/rest` serves it, by its http rules. Comments become descriptions where
 * the descriptors have them.
 *
 * Throws for a rule that is not served, and for words about what the service does not have.
 */
export function describeService(service: DescService, words: Words): JsonObject {
  const routes = [...readRoutes(service).values()];
  const requests = service.methods.map(({ input }) => input);
  const answers = service.methods.map(({ output }) => output);
  refuseUnknown(service, words);
  return {
    openapi: "3.1.0",
    info: { ...words.info, ...describing(service.file) },
    servers: [{ url: "/" }],
    security: [Object.fromEntries(Object.keys(words.securitySchemes).map((name) => [name, []]))],
    tags: [{ name: service.name, ...describing(service) }, ...words.otherTags],
    paths: {
      ...Object.fromEntries(routes.map((route) => [route.path, pathItemOf(route, words)])),
      ...words.otherPaths,
    },
    components: {
      securitySchemes: words.securitySchemes,
      schemas: {
        ...textSchemasOf(requests, words),
        ...schemasOf(answers, words),
        Error: errorSchemaOf(words),
      },
      headers: headerComponentsOf(words),
      responses: errorResponsesOf(words),
    },
  };
}

function pathItemOf({ verb, method }: Route, words: Words): JsonObject {
  return { [verb.toLowerCase()]: operationOf(method, words) };
}

function operationOf(method: DescMethod, words: Words): JsonObject {
  return {
    operationId: method.localName,
    summary: firstSentenceOf(commentOf(method)),
    ...describing(method),
    tags: [method.parent.name],
    ...(method.deprecated && { deprecated: true }),
    parameters: parametersOf(method.input, words),
    requestBody: requestBodyOf(method.input, words),
    responses: responsesOf(method, words),
  };
}

/** A field that was renamed would otherwise lose its words without notice. */
function refuseUnknown({ file, typeName }: DescService, { forms, fields, required }: Words): void {
  const names = new Set(file.messages.flatMap((one) => [one.typeName, ...one.fields.map(fullNameOf)]));
  const unknown = [...Object.keys(forms), ...Object.keys(fields), ...required].filter(
    (name) => !names.has(name),
  );
  if (unknown.length > 0) throw new Error(`${typeName} has no ${unknown.join(", ")}.`);
}
