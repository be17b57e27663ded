import { REQUEST_ID } from "../service/interceptors.ts";
import { ServiceError } from "../service/service-error.ts";
import type { Protocol } from "../telemetry/request-summary.ts";
import { type CorsOrigins, createCorsHeaders } from "./cors.ts";
import type { Request } from "./exchange.ts";
import type { RequestContext } from "./request-context.ts";
import { hasEnvelope, type Route, type RouteMatch, type Router } from "./router.ts";

/** The head of a valid request. */
export interface Head {
  readonly route: Route;
  /** The methods that the path supports. */
  readonly methods: readonly string[];
  readonly target: Target;
  /** Whether the request is a CORS preflight or another OPTIONS request. */
  readonly isOptions: boolean;
}

/** The path and query of a request. */
export interface Target {
  readonly path: string;
  /** The variables in the path. */
  readonly variables: Readonly<Record<string, string>>;
  /** Without the question mark. */
  readonly query: string;
}

/**
 * The head stage: everything before the body that needs no account. Sets the route, protocol, request id and CORS
 * headers, and checks host, path and method. Throws ServiceError for a request that it rejects.
 */
export function readHead(context: RequestContext, router: Router, corsOrigins: CorsOrigins): Head {
  const { request, response } = context;
  const target = targetFromUrl(request.url ?? "");
  const match = target && router(target.path);
  const methods = match?.routes.flatMap((one) => one.methods) ?? [];
  const route = match && routeFor(match, request.method);
  context.route = route;
  context.hasEnvelope = route?.hasEnvelope ?? hasEnvelope(target?.path ?? "");
  context.protocol = protocolOf(request, route);
  response.setHeader(REQUEST_ID, context.id);
  request.headers[REQUEST_ID] = context.id;
  const isOptions = request.method === "OPTIONS";
  // Pages of other origins cannot call the paths of the operator, whatever the setting allows.
  const origins = route?.access === "admin" ? [] : corsOrigins;
  const cors = createCorsHeaders(request.headers, origins, isOptions && route ? methods : undefined);
  for (const [name, value] of Object.entries(cors)) response.setHeader(name, value);
  if (!hasValidAuthority(request)) throw new ServiceError("badRequest", "The request names no valid host.");
  if (!route) throw new ServiceError("noSuchPath");
  if (!isOptions && !route.methods.includes(request.method ?? ""))
    throw wrongMethodError(request, route, methods);
  if (route.access === "admin" && !isSameOrigin(request)) throw new ServiceError("crossOrigin");
  return { route, methods, target: { ...target, variables: match.variables }, isOptions };
}

/** The route for a method; another one of the same path if there is none. */
function routeFor({ routes }: RouteMatch, method = ""): Route {
  return routes.find(({ methods }) => methods.includes(method)) ?? routes[0]!;
}

/** The methods for the Allow header. */
export function allowedMethods(methods: readonly string[]): readonly string[] {
  return [...methods, "OPTIONS"];
}

/** Splits a request target; undefined if it has no path, such as `*`. */
export function targetFromUrl(url: string): Omit<Target, "variables"> | undefined {
  // A client that speaks to a proxy sends the whole URL.
  const target = url.replace(/^https?:\/\/[^/?#]*/i, "").replace(/#.*/s, "");
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  if (!path.startsWith("/")) return undefined;
  return { path, query: mark < 0 ? "" : target.slice(mark + 1) };
}

/** Decides the protocol by the content type and the route. */
function protocolOf({ headers }: Request, route: Route | undefined): Protocol {
  const type = headers["content-type"] ?? "";
  if (type.startsWith("application/grpc-web")) return "grpc-web";
  if (type.startsWith("application/grpc")) return "grpc";
  return route?.kind === "rpc" ? "connect" : "rest";
}

/** A host with an optional port (RFC 3986). */
const AUTHORITY = /^(?:[\w.~!$&'()*+,;=%-]{1,255}|\[[\da-f:.]{2,45}\])(?::\d{0,5})?$/i;

/**
 * Whether a request has a well-formed `:authority` or Host header, and no other one that differs: a proxy in front might
 * have used that one.
 */
function hasValidAuthority(request: Request): boolean {
  const authority = authorityOf(request);
  if (authority === undefined || !AUTHORITY.test(authority)) return false;
  const isOther = (value: string) => value.toLowerCase() !== authority.toLowerCase();
  // Node keeps only the first of several Host headers.
  return !request.rawHeaders.some(
    (name, i, raw) => i % 2 === 0 && /^host$/i.test(name) && isOther(raw[i + 1]!),
  );
}

function authorityOf(request: Request): string | undefined {
  return "authority" in request ? request.authority || request.headers.host : request.headers.host;
}

/** Whether a request does not come from a page of another origin. Programs other than browsers send no origin. */
function isSameOrigin(request: Request): boolean {
  const { origin, "sec-fetch-site": site } = request.headers;
  if (site !== undefined) return site === "same-origin" || site === "none";
  if (origin === undefined) return true;
  // A proxy that ends TLS hides the scheme, so only the hosts are compared.
  return URL.canParse(origin) && new URL(origin).host === authorityOf(request)?.toLowerCase();
}

function wrongMethodError({ method }: Request, { path }: Route, methods: readonly string[]): ServiceError {
  const message = `The path ${path} supports ${methods.join(" and ")} but not ${method}.`;
  return new ServiceError("wrongMethod", message, { allow: allowedMethods(methods) });
}
