/** A request that a form describes. */
export interface TryRequest {
  readonly method: string;
  /** Path and query, relative to the page. */
  readonly path: string;
  readonly contentType?: string;
  readonly body?: FormData | string;
}

/** A response, whatever its status. */
export interface TryResponse {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  readonly isJson: boolean;
  readonly roundTripMs: number;
}

/** The headers that tell a caller something. */
const SHOWN_HEADERS =
  /^(content-type|x-request-id|x-visage-.*|ratelimit-.*|retry-after|www-authenticate|deprecation|sunset|link|allow)$/;

/** Fills the braces of a path and adds the query. */
export function requestPath(
  template: string,
  inPath: ReadonlyMap<string, string>,
  inQuery: readonly (readonly [name: string, value: string])[],
): string {
  const path = template
    .slice(1)
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(inPath.get(name) ?? ""));
  const query = new URLSearchParams(inQuery.map(([name, value]) => [name, value])).toString();
  // A colon in the first segment would make the path a URL of its own.
  return `./${path}${query && `?${query}`}`;
}

/** How a request is sent. */
export interface SendOptions {
  readonly key: string;
  readonly signal: AbortSignal;
}

/** Sends a request with the key. Throws only if there is no response. */
export async function sendTry(
  { method, path, contentType, body }: TryRequest,
  { key, signal }: SendOptions,
): Promise<TryResponse> {
  const startMs = performance.now();
  const response = await fetch(new URL(path, document.baseURI), {
    method,
    // x-api-key, because a proxy may use `authorization` itself.
    headers: { ...(key && { "x-api-key": key }), ...(contentType && { "content-type": contentType }) },
    signal,
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: [...response.headers].filter(([name]) => SHOWN_HEADERS.test(name)),
    body: text,
    isJson: /json/.test(response.headers.get("content-type") ?? ""),
    roundTripMs: performance.now() - startMs,
  };
}
