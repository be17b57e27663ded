import type { Request } from "./exchange.ts";

/** The scheme of the header Authorization that carries a key (RFC 6750). */
const BEARER = /^bearer +(\S+) *$/i;

/**
 * Returns the distinct keys of a request: from the headers `user_id`, `x-api-key` and `authorization` with the scheme
 * Bearer. Other schemes are ignored, because a proxy in front of the service may have its own authentication.
 */
export function keysFromHeaders(request: Pick<Request, "rawHeaders">): readonly string[] {
  return collectKeys(request, (name, value) =>
    name === "user_id" || name === "x-api-key" ? value : bearerFromHeader(name, value),
  );
}

/** Returns the distinct Bearer tokens of a request. */
export function bearerTokensFrom(request: Pick<Request, "rawHeaders">): readonly string[] {
  return collectKeys(request, bearerFromHeader);
}

function collectKeys(
  { rawHeaders }: Pick<Request, "rawHeaders">,
  keyFromHeader: (name: string, value: string) => string | undefined,
): readonly string[] {
  const keys: string[] = [];
  // Node drops a second Authorization header from `headers` and joins the values of the others.
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const key = keyFromHeader(rawHeaders[i]!.toLowerCase(), rawHeaders[i + 1]!);
    if (key && !keys.includes(key)) keys.push(key);
  }
  return keys;
}

function bearerFromHeader(name: string, value: string): string | undefined {
  return name === "authorization" ? BEARER.exec(value)?.[1] : undefined;
}
