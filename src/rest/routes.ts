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
  /** May have variables, each a whole segment: `/v1/galleries/{gallery_id}`. Their names are fields of the request. */
  readonly path: string;
  readonly method: DescMethodUnary;
}

/**
 * Reads the routes of a service's unary methods from their google.api.http rules. Throws for a rule that is not fully
 * supported, so that the start fails and not a request.
 */
export function readRoutes(service: DescService): readonly Route[] {
  const routes: Route[] = [];
  for (const route of service.methods.filter(isUnary).flatMap(readMethodRoutes)) {
    if (routes.some(({ verb, path }) => verb === route.verb && path === route.path))
      throw ruleError(route.method, `has the path ${route.path} of another rule`);
    routes.push(route);
  }
  return routes;
}

/** Reads the HTTP method and path of a method that streams from its google.api.http rule. */
export function readStreamRoute(method: DescMethod): { readonly verb: string; readonly path: string } {
  return readRule(method, getOption(method, http));
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
  const path = pattern.value;
  // A path may end with a custom verb (AIP-136), as in `/v1/images:analyze`.
  if (!/^(\/([^{}*:?#\s/]*|\{\w+\}))+(:[a-zA-Z]+)?$/.test(path))
    throw ruleError(method, `has the unsupported path template ${path}`);
  for (const name of variablesOf(path))
    if (!method.input.fields.some((field) => field.name === name && field.fieldKind === "scalar"))
      throw ruleError(method, `has the variable ${name}, which is not a field of its request`);
  const allowedBody = pattern.case === "get" || pattern.case === "delete" ? "" : "*";
  if (body !== allowedBody)
    throw ruleError(method, `has the body "${body}", and only "${allowedBody}" is supported`);
  return { verb: pattern.case.toUpperCase(), path };
}

/** The names of the variables in a path template. */
export function variablesOf(path: string): string[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name!);
}

/** Matches paths with a template. */
export type PathMatcher = (path: string) => Readonly<Record<string, string>> | undefined;

/** Creates the matcher of a path template. It returns the decoded variables; undefined if a path does not match. */
export function createPathMatcher(template: string): PathMatcher {
  const names = variablesOf(template);
  // Templates have no other characters that are special in regular expressions, except for dots.
  const pattern = new RegExp(`^${template.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "([^/:]+)")}$`);
  return (path) => {
    const match = pattern.exec(path);
    if (!match) return undefined;
    return Object.fromEntries(names.map((name, i) => [name, decodeSegment(match[i + 1]!)]));
  };
}

/** Malformed percent-encoding is kept as it is. */
function decodeSegment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function ruleError(method: DescMethod, reason: string): Error {
  return new Error(`${method.parent.typeName}.${method.name} cannot be served as REST: it ${reason}.`);
}
