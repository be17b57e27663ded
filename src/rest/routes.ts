import {
  type DescMethod,
  type DescMethodUnary,
  type DescService,
  getOption,
  hasOption,
} from "@bufbuild/protobuf";
import { http } from "../../gen/ts/google/api/annotations_pb.ts";
import type { HttpRule } from "../../gen/ts/google/api/http_pb.ts";

/** The HTTP method and path of an RPC method. */
export interface Route {
  /** The HTTP method in upper case. */
  readonly verb: string;
  readonly path: string;
  readonly method: DescMethodUnary;
}

/**
 * Reads the routes of a service's unary methods from their google.api.http rules, by path. Throws for a rule that is not
 * fully supported, so that the start fails and not a request.
 */
export function readRoutes(service: DescService): ReadonlyMap<string, Route> {
  const routes = new Map<string, Route>();
  for (const method of service.methods.filter(isUnary)) {
    for (const route of readMethodRoutes(method)) {
      if (routes.has(route.path)) throw ruleError(method, `has the path ${route.path} of another rule`);
      routes.set(route.path, route);
    }
  }
  return routes;
}

/** Reads the path of a method from its google.api.http rule. */
export function readPath(method: DescMethod): string {
  return readRule(method, getOption(method, http)).path;
}

function readMethodRoutes(method: DescMethodUnary): Route[] {
  if (!hasOption(method, http)) throw ruleError(method, "has no http rule");
  const rule = getOption(method, http);
  return [rule, ...rule.additionalBindings].map((binding) => ({ ...readRule(method, binding), method }));
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

function readRule(method: DescMethod, { pattern, body }: HttpRule): { verb: string; path: string } {
  if (pattern.case === undefined || pattern.case === "custom")
    throw ruleError(method, "has no known HTTP method");
  // A path may end with a custom verb (AIP-136), as in `/v1/images:analyze`.
  if (!/^\/[^{}*:?#\s]*(:[a-zA-Z]+)?$/.test(pattern.value))
    throw ruleError(method, `has the unsupported path template ${pattern.value}`);
  if (body !== "*") throw ruleError(method, `has the body "${body}", and only "*" is supported`);
  return { verb: pattern.case.toUpperCase(), path: pattern.value };
}

function ruleError(method: DescMethod, reason: string): Error {
  return new Error(`${method.parent.typeName}.${method.name} cannot be served as REST: it ${reason}.`);
}
