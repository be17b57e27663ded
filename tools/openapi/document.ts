import type { DescMethod, DescService, JsonObject } from "@bufbuild/protobuf";
import { type Route, readRoutes } from "../../src/rest/routes.ts";
import type { ApiMetadata } from "./api-metadata.ts";
import { firstSentence, readComment, readDescription } from "./comments.ts";
import { fullName, messageSchemas } from "./messages.ts";
import { bodySchemas, queryParameters, requestBody } from "./requests.ts";
import { errorResponses, errorSchema, headerComponents, methodResponses } from "./responses.ts";

/**
 * Creates the OpenAPI document of a service as `src/rest` serves it. Comments become descriptions if the descriptors
 * have them. The version is 3.0, because many code generators do not support 3.1.
 *
 * Throws if an http rule is not supported or the metadata names something that the service does not have.
 */
export function describeService(service: DescService, metadata: ApiMetadata): JsonObject {
  const routes = [...readRoutes(service).values()];
  const requests = service.methods.map(({ input }) => input);
  const responses = service.methods.map(({ output }) => output);
  rejectUnknownNames(service, metadata);
  return {
    openapi: "3.0.3",
    info: { ...metadata.info, ...readDescription(service.file) },
    servers: [{ url: "/" }],
    security: Object.keys(metadata.securitySchemes).map((name) => ({ [name]: [] })),
    tags: [{ name: service.name, ...readDescription(service) }, ...metadata.otherTags],
    paths: {
      ...Object.fromEntries(routes.map((route) => [route.path, pathItem(route, metadata)])),
      ...metadata.otherPaths,
    },
    components: {
      securitySchemes: metadata.securitySchemes,
      schemas: {
        ...bodySchemas(requests, metadata),
        ...messageSchemas(responses, metadata),
        ErrorResponse: errorSchema(metadata),
      },
      headers: headerComponents(metadata),
      responses: errorResponses(metadata),
    },
  };
}

function pathItem({ verb, method }: Route, metadata: ApiMetadata): JsonObject {
  return { [verb.toLowerCase()]: operation(method, metadata) };
}

function operation(method: DescMethod, metadata: ApiMetadata): JsonObject {
  return {
    operationId: method.localName,
    summary: firstSentence(readComment(method)),
    ...readDescription(method),
    tags: [method.parent.name],
    ...(method.deprecated && { deprecated: true }),
    parameters: queryParameters(method, metadata),
    requestBody: requestBody(method, metadata),
    responses: methodResponses(method, metadata),
  };
}

/** Otherwise the metadata of a renamed field would be lost without notice. */
function rejectUnknownNames(
  { file, typeName }: DescService,
  { formats, fields, required }: ApiMetadata,
): void {
  const names = new Set(file.messages.flatMap(({ typeName, fields }) => [typeName, ...fields.map(fullName)]));
  const unknown = [...Object.keys(formats), ...Object.keys(fields), ...required].filter(
    (name) => !names.has(name),
  );
  if (unknown.length > 0) throw new Error(`${typeName} has no ${unknown.join(", ")}.`);
}
