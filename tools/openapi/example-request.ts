import type { JsonObject } from "@bufbuild/protobuf";
import { hasBody, type MethodRoute, pathFieldsOf } from "./requests.ts";

/** A request as `fetch` takes it, with the target instead of the whole URL. */
export interface ExampleRequest {
  readonly target: string;
  readonly method: string;
  readonly body?: string;
}

/** Converts a request message to an HTTP request: fields of the path, and the others in a JSON body or the query. */
export function createExampleRequest(route: MethodRoute, message: JsonObject): ExampleRequest {
  const { path, verb } = route;
  const inPath = pathFieldsOf(route);
  const target = inPath.reduce(
    (template, { name, jsonName }) =>
      template.replace(`{${name}}`, encodeURIComponent(String(message[jsonName]))),
    path,
  );
  const others = Object.entries(message).filter(([key]) => !inPath.some(({ jsonName }) => jsonName === key));
  if (hasBody(route)) return { target, method: verb, body: JSON.stringify(Object.fromEntries(others)) };
  const query = new URLSearchParams(Object.fromEntries(others.map(([key, value]) => [key, String(value)])));
  return { target: query.size > 0 ? `${target}?${query}` : target, method: verb };
}
