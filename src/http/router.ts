import type { DescMethod } from "@bufbuild/protobuf";
import { AccountService } from "../../gen/ts/visage/v1/account_pb.ts";
import { AdminService } from "../../gen/ts/visage/v1/admin_pb.ts";
import type { RestHandler } from "../rest/handler.ts";
import {
  createPathMatcher,
  type PathMatcher,
  type Route as RestRoute,
  readStreamRoute,
} from "../rest/routes.ts";
import type { JsonLines } from "./json-lines.ts";
import type { RpcHandlers } from "./rpc.ts";

/** What serves a path. */
export type RouteKind = "page" | "probe" | "rpc" | "rest" | "lines";

/**
 * Who may call a path: anyone, a user within its plan, a user whatever its plan (for its own account), or the operator
 * by the admin key.
 */
export type Access = "open" | "operation" | "account" | "admin";

/** A path that is served, with the methods of HTTP for which it is this route. */
export interface Route {
  readonly kind: RouteKind;
  /** The template of the path, for a route with variables. */
  readonly path: string;
  readonly methods: readonly string[];
  /** The operation's name in usage, metrics and the log, such as `get_face_vec`; `none` if it is not an operation. */
  readonly operation: string;
  readonly access: Access;
  /** Whether its body and its response are streams of messages. */
  readonly isStream: boolean;
  /** Whether its errors over REST have the envelope of face.v1. */
  readonly hasEnvelope: boolean;
  /** The route over REST, if it is one. */
  readonly rest?: RestRoute;
  /** Serves lines of JSON, if it does. */
  readonly lines?: JsonLines;
}

/** The routes of a path. */
export interface RouteMatch {
  /** One for each group of methods. */
  readonly routes: readonly Route[];
  /** The variables in the path. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Finds the routes of a path. */
export type Router = (path: string) => RouteMatch | undefined;

const NO_VARIABLES = {};

/** The operation of paths that are not an operation. */
export const NO_OPERATION = "none";

/** The paths of the typed API, whose errors over REST are a google.rpc.Status. */
const TYPED_PREFIX = "/v1/";

/** Whether errors of a path over REST have the envelope of face.v1, also if no route has the path. */
export function hasEnvelope(path: string): boolean {
  return !path.startsWith(TYPED_PREFIX);
}

const PROBE_PATHS = ["/healthz", "/readyz"];
const READ_METHODS = ["GET", "HEAD"];

/** What a router routes to. */
export interface RouterOptions {
  readonly pagePaths: readonly string[];
  readonly rpcHandlers: RpcHandlers;
  readonly openRpcHandlers: RpcHandlers;
  readonly restRoutes: RestHandler["routes"];
  readonly typedRestRoutes: RestHandler["routes"];
  /** What is served as lines of JSON. */
  readonly lines: readonly JsonLines[];
}

/** Creates the router of all paths. Throws if two routes have the same path and method. */
export function createRouter(options: RouterOptions): Router {
  const fixed = new Map<string, Route[]>();
  const templates = new Map<string, { readonly match: PathMatcher; readonly routes: Route[] }>();
  const add = (route: Route) => {
    const routes = routesOf(route.path);
    if (routes.some(({ methods }) => methods.some((method) => route.methods.includes(method))))
      throw new Error(`Two routes have the path ${route.path}.`);
    routes.push(route);
  };
  const routesOf = (path: string): Route[] => {
    const known = fixed.get(path) ?? templates.get(path)?.routes;
    if (known) return known;
    const routes: Route[] = [];
    if (path.includes("{")) templates.set(path, { match: createPathMatcher(path), routes });
    else fixed.set(path, routes);
    return routes;
  };
  for (const route of listRoutes(options)) add(route);
  return (path) => {
    const routes = fixed.get(path);
    if (routes) return { routes, variables: NO_VARIABLES };
    for (const template of templates.values()) {
      const variables = template.match(path);
      if (variables) return { routes: template.routes, variables };
    }
    return undefined;
  };
}

function* listRoutes(options: RouterOptions): Generator<Route> {
  const open = { operation: NO_OPERATION, access: "open", isStream: false, hasEnvelope: true } as const;
  for (const path of PROBE_PATHS) yield { kind: "probe", path, methods: READ_METHODS, ...open };
  for (const path of options.pagePaths) yield { kind: "page", path, methods: READ_METHODS, ...open };
  for (const { requestPath: path, allowedMethods: methods } of options.openRpcHandlers.values())
    yield { kind: "rpc", path, methods, ...open };
  for (const { requestPath: path, allowedMethods: methods, method } of options.rpcHandlers.values())
    yield { kind: "rpc", path, methods, ...operationOf(method) };
  for (const rest of options.restRoutes) yield { ...restRouteFrom(rest), hasEnvelope: true };
  for (const rest of options.typedRestRoutes) yield restRouteFrom(rest);
  for (const lines of options.lines) {
    const { verb, path } = readStreamRoute(lines.method);
    yield { kind: "lines", path, methods: [verb], ...operationOf(lines.method), lines };
  }
}

function restRouteFrom(rest: RestRoute): Route {
  return { kind: "rest", path: rest.path, methods: [rest.verb], ...operationOf(rest.method), rest };
}

/** The package whose operations have no prefix: the names are those of the original paths. */
const UNPREFIXED_PACKAGE = "face.v1";

/** Services that are not for users within their plans. */
const ACCESS: Readonly<Record<string, Access>> = {
  [AccountService.typeName]: "account",
  [AdminService.typeName]: "admin",
};

function operationOf(method: DescMethod): Pick<Route, "operation" | "access" | "isStream" | "hasEnvelope"> {
  const isStream = method.methodKind !== "unary";
  const access = ACCESS[method.parent.typeName] ?? "operation";
  return { operation: operationName(method), access, isStream, hasEnvelope: false };
}

/** The name of a method in usage, metrics and the log: `get_face_vec` for face.v1, otherwise `visage.v1.analyze_image`. */
function operationName({ name, parent }: DescMethod): string {
  const snakeCase = name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
  const { package: packageName } = parent.file.proto;
  return packageName === UNPREFIXED_PACKAGE ? snakeCase : `${packageName}.${snakeCase}`;
}
