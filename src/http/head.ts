import { REQUEST_ID } from "../service/interceptors.ts";
import { ServiceError } from "../service/service-error.ts";
import type { Protocol } from "../telemetry/request-summary.ts";
import { type CorsOrigins, createCorsHeaders } from "./cors.ts";
import type { Request } from "./exchange.ts";
import type { RequestContext } from "./request-context.ts";
import { type Route, type Target, targetFromUrl } from "./route.ts";
import type { RouteMatch, Router } from "./router.ts";

/** The head of a valid request. */
export interface Head<R extends Route> {
  readonly route: R;
  /** The methods that the path supports. */
  readonly methods: readonly string[];
  readonly target: Target;
  /** Whether the request is a CORS preflight or another OPTIONS request. */
  readonly isOptions: boolean;
}

/**
 * The head stage: everything before the body that needs no account. Sets the route, protocol, request id and CORS
 * headers, and checks host, path and method. Throws ServiceError for a request that it rejects.
 */
export function readHead<R extends Route>(
  context: RequestContext,
  router: Router<R>,
  corsOrigins: CorsOrigins,
): Head<R> {
  const { request, response } = context;
  const target = targetFromUrl(request.url ?? "");
  const match = target && router(target.path);
  const methods = match?.routes.flatMap((one) => one.methods) ?? [];
  const route = match && routeFor(match, request.method);
  context.route = route;
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
function routeFor<R extends Route>({ routes }: RouteMatch<R>, method = ""): R {
  return routes.find(({ methods }) => methods.includes(method)) ?? routes[0]!;
}

/** The methods for the Allow header. */
export function allowedMethods(methods: readonly string[]): readonly string[] {
  return [...methods, "OPTIONS"];
}

/** Decides the protocol by the content type and the route. */
function protocolOf({ headers }: Request, route: Route | undefined): Protocol {
  const type = headers["content-type"] ?? "";
  if (type.startsWith("application/grpc-web")) return "grpc-web";
  if (type.startsWith("application/grpc")) return "grpc";
  return route?.isRpc ? "connect" : "rest";
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
