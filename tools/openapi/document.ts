import { isDeepStrictEqual } from "node:util";
import type { DescMethod, DescService, JsonObject } from "@bufbuild/protobuf";
import { type Route, readRoutes, readStreamRoute } from "../../src/rest/routes.ts";
import type { DocumentMetadata, ServiceMetadata } from "./api-metadata.ts";
import { firstSentence, readComment, readDescription } from "./comments.ts";
import { fullName, messageSchemas } from "./messages.ts";
import {
  bodySchemas,
  hasBody,
  type MethodRoute,
  pathFieldsOf,
  pathParameters,
  queryParameters,
  requestBody,
  streamRequestBody,
} from "./requests.ts";
import {
  errorResponses,
  errorSchemas,
  headerComponents,
  methodResponses,
  streamResponses,
} from "./responses.ts";

/** A service, and what its descriptors cannot express. */
export interface DescribedService {
  readonly service: DescService;
  readonly metadata: ServiceMetadata;
}

/**
 * Creates the OpenAPI document of services as they are served over plain HTTP. Comments become descriptions if the
 * descriptors have them. The version is 3.0, because many code generators do not support 3.1.
 *
 * Throws if an http rule is not supported, if the metadata names something that its service does not have, and if two
 * services have different paths, schemas, headers or responses of the same name.
 */
export function createDocument(
  services: readonly DescribedService[],
  metadata: DocumentMetadata,
): JsonObject {
  services.forEach(rejectUnknownNames);
  return {
    openapi: "3.0.3",
    info: metadata.info,
    servers: [{ url: "/" }],
    security: anyOf(metadata.security),
    tags: [...services.map(tag), ...metadata.otherTags],
    paths: merge(...services.map(paths), metadata.otherPaths),
    components: {
      securitySchemes: metadata.securitySchemes,
      schemas: merge(...services.map(schemas)),
      headers: merge(...services.map((described) => headerComponents(described.metadata))),
      responses: merge(...services.map(({ service, metadata: own }) => errorResponses(service, own))),
    },
  };
}

function tag({ service }: DescribedService): JsonObject {
  return {
    name: service.name,
    description: `${readComment(service.file)}\n\n${readComment(service)}`.trim(),
  };
}

function paths({ service, metadata }: DescribedService): JsonObject {
  const routes = readRoutes(service);
  const unary = routes.map(({ path }) => {
    const sharing = routes.filter((route) => route.path === path);
    const operations = sharing.map((route) => [route.verb.toLowerCase(), operation(route, metadata)]);
    return [path, Object.fromEntries(operations)] as const;
  });
  const streams = streamRoutes(service).map(
    (route) => [route.path, { [route.verb.toLowerCase()]: streamOperation(route, metadata) }] as const,
  );
  return Object.fromEntries([...unary, ...streams]);
}

/** The routes of methods that stream in one or both directions. */
function streamRoutes({ methods }: DescService): MethodRoute[] {
  return methods
    .filter(({ methodKind }) => methodKind !== "unary")
    .map((method) => ({ ...readStreamRoute(method), method }));
}

function schemas({ service, metadata }: DescribedService): JsonObject {
  const routes = readRoutes(service);
  const streams = streamRoutes(service);
  const unaryRequests = routes.filter(hasBody).map(({ method }) => method.input);
  const streamRequests = streams.filter(hasBody).map(({ method }) => method.input);
  const responses = service.methods.map(({ output }) => output);
  const jsonRequests = metadata.hasMessageBodies ? [...unaryRequests, ...streamRequests] : [];
  const inPath = new Set([...routes, ...streams].flatMap(pathFieldsOf));
  return merge(
    bodySchemas(unaryRequests, metadata),
    messageSchemas([...jsonRequests, ...responses], metadata, inPath),
    errorSchemas(metadata),
  );
}

function operation(route: Route, metadata: ServiceMetadata): JsonObject {
  return {
    ...operationHead(route.method, metadata),
    parameters: [...pathParameters(route, metadata), ...queryParameters(route, metadata)],
    ...(hasBody(route) && { requestBody: requestBody(route, metadata) }),
    responses: methodResponses(route.method, metadata),
  };
}

function streamOperation(route: MethodRoute, metadata: ServiceMetadata): JsonObject {
  const { method } = route;
  const parameters = pathParameters(route, metadata);
  return {
    ...operationHead(method, metadata),
    ...(parameters.length > 0 && { parameters }),
    ...(hasBody(route) && { requestBody: streamRequestBody(route, metadata) }),
    responses:
      method.methodKind === "bidi_streaming"
        ? streamResponses(method, metadata)
        : methodResponses(method, metadata),
  };
}

function anyOf(schemes: readonly string[]): JsonObject[] {
  return schemes.map((name) => ({ [name]: [] }));
}

function operationHead(method: DescMethod, { prefix, security }: ServiceMetadata): JsonObject {
  return {
    operationId: prefix ? `${prefix.toLowerCase()}${method.name}` : method.localName,
    summary: firstSentence(readComment(method)),
    ...readDescription(method),
    tags: [method.parent.name],
    ...(method.deprecated && { deprecated: true }),
    ...(security && { security: anyOf(security) }),
  };
}

/** Merges objects. Throws if two have different members of the same name. */
function merge(...objects: readonly JsonObject[]): JsonObject {
  const merged: JsonObject = {};
  for (const [name, value] of objects.flatMap(Object.entries)) {
    // Services of one package share messages.
    if (name in merged && !isDeepStrictEqual(merged[name], value))
      throw new Error(`The document would have two different entries "${name}".`);
    merged[name] = value;
  }
  return merged;
}

/** Otherwise the metadata of a renamed field would be lost without notice. */
function rejectUnknownNames({
  service: { file, typeName },
  metadata: { formats, fields, required, optional },
}: DescribedService): void {
  const messages = [file, ...file.dependencies].flatMap((described) => described.messages);
  const names = new Set(messages.flatMap(({ typeName, fields }) => [typeName, ...fields.map(fullName)]));
  const unknown = [...Object.keys(formats), ...Object.keys(fields), ...required, ...optional].filter(
    (name) => !names.has(name),
  );
  if (unknown.length > 0) throw new Error(`${typeName} has no ${unknown.join(", ")}.`);
}
