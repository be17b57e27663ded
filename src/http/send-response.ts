import type { IncomingMessage, ServerResponse } from "node:http";
import {
  constants,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Stream,
} from "node:http2";
import { destroy, type Exchange, isGone, onClose, type Response, type WholeResponse } from "./exchange.ts";
import { countOpenStreams } from "./http2-sessions.ts";
import { LIMITS } from "./limits.ts";

/** Sends a complete response. The client may still be sending its body. */
export function sendResponse({ request, response, isDraining }: Exchange, whole: WholeResponse): void {
  if (isGone(response)) return;
  if ("stream" in response) sendHttp2(request as Http2ServerRequest, response, whole);
  else sendHttp1(request as IncomingMessage, response, whole, isDraining);
}

function sendHttp2(request: Http2ServerRequest, response: Http2ServerResponse, whole: WholeResponse): void {
  const { stream } = response;
  if (stream.endAfterHeaders || request.readableEnded) respond(request, response, whole);
  else if (isNearStreamLimit(stream)) respondAfterBody(request, response, whole);
  else {
    respond(request, response, whole);
    // Without a body, RST_STREAM(NO_ERROR) can follow the head at once.
    if (whole.body === undefined && !whole.trailers) stream.destroy();
    else stopReading(request, stream, whole.trailers !== undefined);
  }
}

/**
 * Whether a connection has more than half of the allowed streams. A client of grpc-go that has its response opens the
 * next stream at once, although it has not ended this one. nghttp2 counts the old stream until the RST_STREAM is
 * written, and ends the connection if there are too many.
 */
function isNearStreamLimit({ session }: ServerHttp2Stream): boolean {
  return session !== undefined && countOpenStreams(session) > LIMITS.streamsPerConnection / 2;
}

/** Responds when the client has sent its body, or else resets the stream, so that the client may try again. */
function respondAfterBody(
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  whole: WholeResponse,
): void {
  const refuse = () => response.stream.close(constants.NGHTTP2_REFUSED_STREAM);
  const timer = setTimeout(refuse, LIMITS.rejectedBodyMs);
  onClose(response, () => clearTimeout(timer));
  request.once("end", () => {
    clearTimeout(timer);
    if (!isGone(response)) respond(request, response, whole);
  });
  request.resume();
}

function respond(request: Http2ServerRequest, response: Http2ServerResponse, whole: WholeResponse): void {
  const { stream } = response;
  const { status, headers, body, trailers } = whole;
  if (trailers) {
    response.addTrailers(trailers);
    response.writeHead(status, headers);
    response.end(body ?? "");
  } else {
    const allHeaders = { ...response.getHeaders(), ":status": status, ...headers };
    const isEmpty = body === undefined || request.method === "HEAD";
    stream.respond(allHeaders, { endStream: isEmpty });
    if (!isEmpty) stream.end(body);
  }
  limitResponseTime(response);
}

/**
 * Stops an HTTP/2 client that has its response from sending more, with RST_STREAM(NO_ERROR). Closes the stream only when
 * the whole response has been written. Until then Node itself would delay the RST_STREAM, and drop it if the session
 * ends meanwhile; nghttp2 then writes empty frames forever. Node also drops the trailers of a closed stream.
 */
export function stopReading(
  request: Http2ServerRequest,
  stream: ServerHttp2Stream,
  hasTrailers: boolean,
): void {
  const close = () => {
    if (stream.writableFinished) stream.close(constants.NGHTTP2_NO_ERROR);
    else stream.once("finish", close);
  };
  if (hasTrailers) stream.once("wantTrailers", () => setImmediate(close));
  else close();
  // Node closes a stream only when all received bytes have been read.
  request.resume();
}

function sendHttp1(
  request: IncomingMessage,
  response: ServerResponse,
  whole: WholeResponse,
  isDraining: boolean,
): void {
  const { status, headers, body, trailers } = whole;
  const isUnread = !request.complete;
  // A client that waits for `100 Continue` may send either the body or its next request.
  const isClosing = isUnread && (request.headers.expect !== undefined || !isDiscardable(request));
  if (isClosing || isDraining) response.setHeader("connection", "close");
  if (trailers) response.writeHead(status, headers).addTrailers(trailers);
  else {
    const length = body === undefined ? 0 : Buffer.byteLength(body);
    const hasBody = status !== 204 && status !== 304;
    response.writeHead(status, { ...headers, ...(hasBody && { "content-length": length }) });
  }
  const content = request.method === "HEAD" ? undefined : body;
  limitResponseTime(response);
  if (!isUnread) response.end(content);
  else if (isClosing) {
    // Sends everything now, but closes the socket only when the client has stopped sending.
    if (content !== undefined && Buffer.byteLength(content) > 0) response.write(content);
    else response.flushHeaders();
    discardBody(request, (isComplete) => (isComplete ? response.end() : request.socket.destroy()));
  } else {
    response.end(content);
    discardBody(request, (isComplete) => isComplete || request.socket.destroy());
  }
}

/** Whether the announced body is small enough to be discarded, so that the connection can stay open. */
function isDiscardable({ headers }: IncomingMessage): boolean {
  const length = headers["transfer-encoding"] ? Number.NaN : Number(headers["content-length"] ?? 0);
  return length <= LIMITS.discardBytes;
}

/**
 * Reads and drops the rest of an HTTP/1.1 body within the discard limits, because closing a socket while the client
 * writes would reset it, and the response would be lost. Calls back once and reports whether the body is complete. Beyond
 * the byte limit the client is held back by flow control until the time is over.
 */
export function discardBody(request: IncomingMessage, onEnd: (isComplete: boolean) => void): void {
  let bytes = 0;
  const drop = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LIMITS.discardBytes) request.pause();
  };
  const finish = () => {
    clearTimeout(timer);
    request.off("data", drop).off("end", finish).off("close", finish);
    onEnd(request.complete);
  };
  const timer = setTimeout(finish, LIMITS.discardMs);
  request.on("data", drop).on("end", finish).on("close", finish).resume();
}

/** Destroys a response that the client does not read in time. */
export function limitResponseTime(response: Response): void {
  const timer = setTimeout(() => destroy(response), LIMITS.responseMs);
  onClose(response, () => clearTimeout(timer));
}
