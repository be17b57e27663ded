import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";

/** How long a caller may go on sending a body that nobody wants, so that the answer still reaches it. */
const LINGER_MS = 5000;

/**
 * Reads the rest of a body without keeping it, for a while. To stop at once would lose answers: a socket that is
 * closed with unread bytes is reset, and clients of HTTP/2 take a stream that is reset under them for broken.
 */
export function dropBody(request: IncomingMessage | Http2ServerRequest): void {
  const isHttp2 = "stream" in request;
  // A stream of which nothing was read is closed by Node itself, in good order, with the end of the answer.
  if (request.readableEnded || (isHttp2 && request.readableFlowing === null)) return;
  const timer = setTimeout(() => (isHttp2 ? request.stream.close() : request.destroy()), LINGER_MS).unref();
  request.once("end", () => clearTimeout(timer)).once("close", () => clearTimeout(timer));
  request.on("error", () => {});
  request.resume();
}
