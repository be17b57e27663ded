import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";

/** What belongs to one connection or to the encoding of one body, and so ends here in either direction. */
const NOT_PASSED =
  /^(:.*|content-.*|connection|keep-alive|proxy-.*|te|trailers?|transfer-encoding|upgrade|http2-settings)$/;
/** What the hop in the process would take as meant for itself. */
const NOT_ASKED =
  /^(host|expect|accept-encoding|connect-(protocol-version|accept-encoding|content-encoding))$/;
const NOT_ANSWERED = /^(date|server|accept-.*|connect-.*|grpc-.*)$/;

/** Gives the headers of a request that the method is to see. */
export function headersForMethod(incoming: IncomingHttpHeaders): Headers {
  const ofConnection = new Set((incoming.connection ?? "").toLowerCase().split(/\s*,\s*/));
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming)) {
    if (value === undefined || NOT_PASSED.test(name) || NOT_ASKED.test(name) || ofConnection.has(name))
      continue;
    for (const one of [value].flat()) headers.append(name, one);
  }
  return headers;
}

/** Gives those of the method's headers and trailers that the caller is to see. */
export function headersForCaller(...sources: readonly Headers[]): OutgoingHttpHeaders {
  const outgoing: Record<string, string | string[]> = {};
  for (const [name, value] of sources.flatMap((source) => [...source])) {
    if (NOT_PASSED.test(name) || NOT_ANSWERED.test(name)) continue;
    const before = outgoing[name];
    outgoing[name] = before === undefined ? value : [before, value].flat();
  }
  return outgoing;
}
