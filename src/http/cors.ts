import type { IncomingHttpHeaders } from "node:http";

/** The origins whose pages may call the service from a browser; `*` for all. */
export type CorsOrigins = "*" | readonly string[];

/** How long a browser may cache a preflight response; no browser caches it for longer. */
const PREFLIGHT_SECONDS = 7200;

/** Request headers that pages may send. */
const ALLOWED_HEADERS = [
  "authorization",
  "x-api-key",
  "user_id",
  "user_key",
  "content-type",
  "connect-protocol-version",
  "connect-timeout-ms",
  "grpc-timeout",
  "x-grpc-web",
  "x-user-agent",
  "x-request-id",
].join(", ");

/** Response headers that pages may read. */
const EXPOSED_HEADERS = [
  "grpc-status",
  "grpc-message",
  "grpc-status-details-bin",
  "grpc-retry-pushback-ms",
  "x-request-id",
  "x-visage-model",
  // The Connect protocol sends trailers as headers with this prefix.
  "trailer-x-visage-model",
  "x-visage-image",
  "x-visage-faces-found",
  "retry-after",
  "www-authenticate",
  "ratelimit-limit",
  "ratelimit-remaining",
  "ratelimit-reset",
  "deprecation",
  "sunset",
  "link",
].join(", ");

/** Makes the CORS headers of a response; with the methods of the path, those of a preflight response. */
export function createCorsHeaders(
  { origin }: IncomingHttpHeaders,
  origins: CorsOrigins,
  preflightMethods?: readonly string[],
): Record<string, string> {
  // Also without an origin: a shared cache must not reuse the response for another origin.
  const vary: Record<string, string> = origins === "*" ? {} : { vary: "Origin" };
  if (origin === undefined || (origins !== "*" && !origins.includes(origin))) return vary;
  const allowed = { ...vary, "access-control-allow-origin": origins === "*" ? "*" : origin };
  if (!preflightMethods) return { ...allowed, "access-control-expose-headers": EXPOSED_HEADERS };
  return {
    ...allowed,
    "access-control-allow-methods": preflightMethods.join(", "),
    "access-control-allow-headers": ALLOWED_HEADERS,
    "access-control-max-age": String(PREFLIGHT_SECONDS),
  };
}
