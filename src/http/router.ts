import type { DescMethod } from "@bufbuild/protobuf";
import type { Protocol } from "../telemetry/request-end.ts";
import type { Request } from "./exchange.ts";

/** What answers a path. */
export type RouteKind = "page" | "probe" | "rpc" | "rest";

/** A path that is served. */
export interface Route {
  readonly kind: RouteKind;
  readonly path: string;
  readonly methods: readonly string[];
  /** What usage, metrics and the log call the operation: `get_face_vec`; `none` for what is no operation. */
  readonly operation: string;
  /** Whether anyone may call it, without a user id. */
  readonly isOpen: boolean;
}

/** What a request is for. */
export interface Target {
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
}

/** The name of a path that is no operation. */
export const NO_OPERATION = "none";

/** Every path that is served, each once. */
export class Router {
  readonly #routes = new Map<string, Route>();

  /** Throws for a path that another route has. */
  add(...routes: readonly Route[]): this {
    for (const route of routes) {
      if (this.#routes.has(route.path)) throw new Error(`Two routes have the path ${route.path}.`);
      this.#routes.set(route.path, route);
    }
    return this;
  }

  find(path: string): Route | undefined {
    return this.#routes.get(path);
  }
}

/** What usage, metrics and the log call a method: `get_face_vec` for GetFaceVec. */
export function operationOf({ name }: DescMethod): string {
  return name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}

/** Splits a request's target; undefined for one that names no path, such as `*`. */
export function targetOf(url: string): Target | undefined {
  // A client that speaks to a proxy writes the whole URL.
  const target = url.replace(/^https?:\/\/[^/?#]*/i, "").replace(/#.*/s, "");
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  if (!path.startsWith("/")) return undefined;
  return { path, query: mark < 0 ? "" : target.slice(mark + 1) };
}

/** The protocol of a request, by its content type and what its path is. */
export function protocolOf({ headers }: Pick<Request, "headers">, route: Route | undefined): Protocol {
  const type = headers["content-type"] ?? "";
  if (type.startsWith("application/grpc-web")) return "grpc-web";
  if (type.startsWith("application/grpc")) return "grpc";
  return route?.kind === "rpc" ? "connect" : "rest";
}

/** A host with an optional port, as RFC 3986 writes them. */
const AUTHORITY = /^(?:[\w.~!$&'()*+,;=%-]{1,255}|\[[\da-f:.]{2,45}\])(?::\d{0,5})?$/i;

/** Whether a request names the host that it is for, in a form that can be one. */
export function hasValidAuthority(request: Request): boolean {
  const named = "authority" in request ? request.authority || request.headers.host : request.headers.host;
  return named !== undefined && AUTHORITY.test(named);
}
