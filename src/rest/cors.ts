import type { IncomingHttpHeaders } from "node:http";

/** Which pages of other origins may call, what they may send and what they may read. */
export interface CorsOptions {
  readonly corsOrigins: "*" | readonly string[];
  readonly corsHeaders: { readonly allow: readonly string[]; readonly expose: readonly string[] };
}

/** How long a browser may remember a preflight; no browser keeps it longer than this. */
const PREFLIGHT_SECONDS = 7200;

/** Gives the CORS headers of an answer; of a preflight's where the methods of the path are told. */
export function corsHeadersOf(
  request: IncomingHttpHeaders,
  { corsOrigins, corsHeaders }: CorsOptions,
  preflightVerbs?: readonly string[],
): Record<string, string> {
  const { origin } = request;
  // Also without an origin: a shared cache must not hand one page's answer to another.
  const vary: Record<string, string> = corsOrigins === "*" ? {} : { vary: "Origin" };
  if (origin === undefined || (corsOrigins !== "*" && !corsOrigins.includes(origin))) return vary;
  const allowed = { ...vary, "access-control-allow-origin": corsOrigins === "*" ? "*" : origin };
  if (!preflightVerbs) return { ...allowed, "access-control-expose-headers": corsHeaders.expose.join(", ") };
  return {
    ...allowed,
    "access-control-allow-methods": preflightVerbs.join(", "),
    "access-control-allow-headers": corsHeaders.allow.join(", "),
    "access-control-max-age": String(PREFLIGHT_SECONDS),
  };
}
