import {
  type DescMethod,
  type DescMethodUnary,
  type DescService,
  getOption,
  hasOption,
} from "@bufbuild/protobuf";
import { http } from "../../gen/ts/google/api/annotations_pb.ts";
import type { HttpRule } from "../../gen/ts/google/api/http_pb.ts";

/** Where a method is served. */
export interface Route {
  /** The HTTP method in capitals. */
  readonly verb: string;
  readonly path: string;
  readonly method: DescMethodUnary;
}

/**
 * Reads the routes of a service from its google.api.http rules, by path.
 *
 * Throws for a rule that cannot be honoured in full, so that it fails at the start and not at a request.
 */
export function routesOf(service: DescService): ReadonlyMap<string, Route> {
  const routes = new Map<string, Route>();
  for (const method of service.methods) {
    for (const route of routesOfMethod(method)) {
      if (routes.has(route.path)) throw refusal(method, `has the path ${route.path} of another rule`);
      routes.set(route.path, route);
    }
  }
  return routes;
}

function routesOfMethod(method: DescMethod): Route[] {
  if (!hasOption(method, http)) throw refusal(method, "has no http rule");
  if (!isUnary(method)) throw refusal(method, "is not unary");
  const rule = getOption(method, http);
  return [rule, ...rule.additionalBindings].map((binding) => ({ ...placeOf(method, binding), method }));
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

function placeOf(method: DescMethod, { pattern, body }: HttpRule): { verb: string; path: string } {
  if (pattern.case === undefined || pattern.case === "custom")
    throw refusal(method, "has no verb that is known");
  if (!/^\/[^{}*:?#\s]*$/.test(pattern.value))
    throw refusal(method, `has the path template ${pattern.value}`);
  if (body !== "*") throw refusal(method, `has the body "${body}" where only "*" is served`);
  return { verb: pattern.case.toUpperCase(), path: pattern.value };
}

function refusal(method: DescMethod, reason: string): Error {
  return new Error(`${method.parent.typeName}.${method.name} cannot be served as REST: it ${reason}.`);
}
