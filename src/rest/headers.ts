import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";

/** Hop-by-hop headers, and those that describe the encoding of one body. */
const HOP_BY_HOP =
  /^(:.*|content-.*|connection|keep-alive|proxy-.*|te|trailers?|transfer-encoding|upgrade|http2-settings)$/;
/** Request headers that Connect would interpret itself. */
const NOT_FOR_METHOD =
  /^(host|expect|accept-encoding|connect-(protocol-version|accept-encoding|content-encoding))$/;
/** Response headers that Connect or Node sets. */
const NOT_FOR_CALLER = /^(date|server|accept-.*|connect-.*|grpc-.*)$/;

/** Selects the request headers that the method sees. */
export function headersForMethod(incoming: IncomingHttpHeaders): Headers {
  const connectionHeaders = new Set((incoming.connection ?? "").toLowerCase().split(/\s*,\s*/));
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming)) {
    if (
      value === undefined ||
      HOP_BY_HOP.test(name) ||
      NOT_FOR_METHOD.test(name) ||
      connectionHeaders.has(name)
    )
      continue;
    for (const one of [value].flat()) headers.append(name, one);
  }
  return headers;
}

/** Selects the method's headers and trailers that the caller sees. */
export function headersForCaller(...sources: readonly Headers[]): OutgoingHttpHeaders {
  const outgoing: Record<string, string | string[]> = {};
  for (const [name, value] of sources.flatMap((source) => [...source])) {
    if (HOP_BY_HOP.test(name) || NOT_FOR_CALLER.test(name)) continue;
    const previous = outgoing[name];
    outgoing[name] = previous === undefined ? value : [previous, value].flat();
  }
  return outgoing;
}
