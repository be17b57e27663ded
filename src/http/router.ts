import type { DescMethod } from "@bufbuild/protobuf";
import type { RestHandler } from "../rest/handler.ts";
import { readPath } from "../rest/routes.ts";
import type { RpcHandlers } from "./rpc.ts";

/** What serves a path. */
export type RouteKind = "page" | "probe" | "rpc" | "rest" | "lines";

/** A path that is served. */
export interface Route {
  readonly kind: RouteKind;
  readonly path: string;
  readonly methods: readonly string[];
  /** The operation's name in usage, metrics and the log, such as `get_face_vec`; `none` if it is not an operation. */
  readonly operation: string;
  /** Whether anyone may call it, without a user id. */
  readonly isOpen: boolean;
  /** Whether its errors over REST have the envelope of face.v1. */
  readonly hasEnvelope: boolean;
}

/** The operation of paths that are not an operation. */
export const NO_OPERATION = "none";

const PROBE_PATHS = ["/healthz", "/readyz"];
const READ_METHODS = ["GET", "HEAD"];

/** What a router routes to. */
export interface RouterOptions {
  readonly pagePaths: readonly string[];
  readonly rpcHandlers: RpcHandlers;
  readonly openRpcHandlers: RpcHandlers;
  readonly restRoutes: RestHandler["routes"];
  readonly typedRestRoutes: RestHandler["routes"];
  /** The method that is served as JSON lines. */
  readonly jsonLinesMethod: DescMethod;
}

/** Creates the table of all paths. Throws if two routes have the same path. */
export function createRouter(options: RouterOptions): ReadonlyMap<string, Route> {
  const router = new Map<string, Route>();
  const add = (route: Route) => {
    if (router.has(route.path)) throw new Error(`Two routes have the path ${route.path}.`);
    router.set(route.path, route);
  };
  const open = { operation: NO_OPERATION, isOpen: true, hasEnvelope: true };
  for (const path of PROBE_PATHS) add({ kind: "probe", path, methods: READ_METHODS, ...open });
  for (const path of options.pagePaths) add({ kind: "page", path, methods: READ_METHODS, ...open });
  for (const { requestPath: path, allowedMethods: methods } of options.openRpcHandlers.values())
    add({ kind: "rpc", path, methods, ...open });
  for (const { requestPath: path, allowedMethods: methods, method } of options.rpcHandlers.values())
    add({ kind: "rpc", path, methods, ...operationOf(method) });
  for (const { path, verb, method } of options.restRoutes.values())
    add({ kind: "rest", path, methods: [verb], ...operationOf(method), hasEnvelope: true });
  for (const { path, verb, method } of options.typedRestRoutes.values())
    add({ kind: "rest", path, methods: [verb], ...operationOf(method) });
  const { jsonLinesMethod } = options;
  add({
    kind: "lines",
    path: readPath(jsonLinesMethod),
    methods: ["POST"],
    ...operationOf(jsonLinesMethod),
  });
  return router;
}

/** The package whose operations have no prefix: the names are those of the original paths. */
const UNPREFIXED_PACKAGE = "face.v1";

function operationOf(method: DescMethod): Pick<Route, "operation" | "isOpen" | "hasEnvelope"> {
  return { operation: operationName(method), isOpen: false, hasEnvelope: false };
}

/** The name of a method in usage, metrics and the log: `get_face_vec` for face.v1, otherwise `visage.v1.analyze_image`. */
function operationName({ name, parent }: DescMethod): string {
  const snakeCase = name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
  const { package: packageName } = parent.file.proto;
  return packageName === UNPREFIXED_PACKAGE ? snakeCase : `${packageName}.${snakeCase}`;
}
