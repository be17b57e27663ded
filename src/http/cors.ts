import type { IncomingHttpHeaders } from "node:http";

/** Pages that may call the service from a browser: any, or those of these origins. */
export type CorsOrigins = "*" | readonly string[];

/** How long a browser may remember a preflight; no browser keeps it longer than this. */
const PREFLIGHT_SECONDS = 7200;

/** Headers that pages may send. */
const ALLOWED = [
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

/** Headers of a response that pages may read. */
const EXPOSED = [
  "grpc-status",
  "grpc-message",
  "grpc-status-details-bin",
  "grpc-retry-pushback-ms",
  "x-request-id",
  "x-visage-model",
  "x-visage-image",
  "x-visage-faces-found",
  "retry-after",
  "ratelimit-limit",
  "ratelimit-remaining",
  "ratelimit-reset",
].join(", ");

/** The CORS headers of a response; those of a preflight where the path's methods are given. */
export function corsHeadersOf(
  { origin }: IncomingHttpHeaders,
  origins: CorsOrigins,
  preflightMethods?: readonly string[],
): Record<string, string> {
  // Also without an origin: a shared cache must not hand one page's response to another.
  const vary: Record<string, string> = origins === "*" ? {} : { vary: "Origin" };
  if (origin === undefined || (origins !== "*" && !origins.includes(origin))) return vary;
  const allowed = { ...vary, "access-control-allow-origin": origins === "*" ? "*" : origin };
  if (!preflightMethods) return { ...allowed, "access-control-expose-headers": EXPOSED };
  return {
    ...allowed,
    "access-control-allow-methods": preflightMethods.join(", "),
    "access-control-allow-headers": ALLOWED,
    "access-control-max-age": String(PREFLIGHT_SECONDS),
  };
}
