import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import {
  constants,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type Http2Session,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { ServiceError } from "../service/service-error.ts";
import { LIMITS } from "./limits.ts";

export type Request = IncomingMessage | Http2ServerRequest;
export type Response = ServerResponse | Http2ServerResponse;

/** A request, and where its response goes. */
export interface Exchange {
  readonly request: Request;
  readonly response: Response;
  /** Whether the connection is to end with this response, as the service is shutting down. */
  readonly isDraining: boolean;
}

/** A response that is known as a whole. */
export interface WholeResponse {
  readonly status: number;
  readonly headers: Readonly<OutgoingHttpHeaders>;
  readonly body?: Uint8Array | string | undefined;
  readonly trailers?: Readonly<OutgoingHttpHeaders> | undefined;
}

/** Whether nothing more can be sent to the client. */
export function isGone(response: Response): boolean {
  // An HTTP/2 response has no `destroyed`, although its type says so.
  if ("stream" in response) return !response.stream || response.stream.destroyed || response.stream.closed;
  return response.destroyed || response.writableEnded;
}

/** Calls back when the response has ended or cannot be sent any more. */
export function onClose(response: Response, callback: () => void): void {
  // An HTTP/2 response does not emit `close` for every HEAD request; its stream does.
  if ("stream" in response) response.stream.once("close", callback);
  else response.once("close", callback);
}

/** Ends the request's connection, or its stream where the connection has others. */
export function destroy(response: Response, code: number = constants.NGHTTP2_CANCEL): void {
  if ("stream" in response) response.stream?.close(code);
  else response.socket?.destroy();
}

/** Asks a client that waits for `100 Continue` to send the body. */
export function askForBody({ headers }: Request, response: Response): void {
  if (headers.expect && !isGone(response)) response.writeContinue();
}

/**
 * Sends a response. What the client still sends of its request is discarded for a while, so that it can read the
 * response: closing a socket with unread bytes would reset it.
 */
export function send({ request, response, isDraining }: Exchange, whole: WholeResponse): void {
  if (isGone(response)) return;
  if ("stream" in response) sendHttp2(request as Http2ServerRequest, response, whole);
  else sendHttp1(request as IncomingMessage, response, whole, isDraining);
}

function sendHttp2(request: Http2ServerRequest, response: Http2ServerResponse, whole: WholeResponse): void {
  const { stream } = response;
  if (stream.endAfterHeaders || request.readableEnded) {
    respond(request, response, whole);
    return;
  }
  const respondAndStop = () => {
    if (isGone(response)) return;
    respond(request, response, whole);
    stopReading(request, stream, whole.trailers !== undefined);
  };
  if (isCrowded(stream)) discardBody(request, respondAndStop);
  else respondAndStop();
}

/**
 * Whether a connection is near its limit of streams. A client that has its response opens the next stream at once, and
 * nghttp2 ends the connection if it still counts the last one, which it does until the client has sent all of it or the
 * reset is on its way. So in a crowd a client sends its body first.
 */
function isCrowded({ session }: ServerHttp2Stream): boolean {
  return session !== undefined && (openStreams.get(session) ?? 0) > LIMITS.streamsPerConnection / 2;
}

const openStreams = new WeakMap<Http2Session, number>();

/** Counts the open streams of a connection. */
export function countStreams(session: ServerHttp2Session): void {
  session.on("stream", (stream) => {
    openStreams.set(session, (openStreams.get(session) ?? 0) + 1);
    stream.once("close", () => openStreams.set(session, openStreams.get(session)! - 1));
  });
}

function respond(request: Http2ServerRequest, response: Http2ServerResponse, whole: WholeResponse): void {
  const { stream } = response;
  const { status, headers, body, trailers } = whole;
  if (trailers) {
    response.addTrailers(trailers);
    response.writeHead(status, headers);
    response.end(body ?? "");
  } else {
    const all = { ...response.getHeaders(), ":status": status, ...headers };
    const isEmpty = body === undefined || request.method === "HEAD";
    stream.respond(all, { endStream: isEmpty });
    if (!isEmpty) stream.end(body);
  }
  limitResponse(response);
}

/**
 * Tells an HTTP/2 client that has its response to stop sending, without calling that an error. Not before its trailers
 * are sent: Node drops those of a stream that is closed, and nghttp2 then writes empty frames for ever.
 */
function stopReading(request: Http2ServerRequest, stream: ServerHttp2Stream, hasTrailers: boolean): void {
  const close = () => stream.close(constants.NGHTTP2_NO_ERROR);
  if (hasTrailers) stream.once("wantTrailers", () => setImmediate(close));
  else close();
  // Node closes a stream only when what has come of it has been read.
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
  // A client that waits for `100 Continue` may send the body after all, or the next request in its place.
  const isClosing = isUnread && (request.headers.expect !== undefined || !isShort(request));
  if (isClosing || isDraining) response.setHeader("connection", "close");
  if (trailers) response.writeHead(status, headers).addTrailers(trailers);
  else {
    const length = body === undefined ? 0 : Buffer.byteLength(body);
    const hasBody = status !== 204 && status !== 304;
    response.writeHead(status, { ...headers, ...(hasBody && { "content-length": length }) });
  }
  const content = request.method === "HEAD" ? undefined : body;
  limitResponse(response);
  if (!isUnread) response.end(content);
  else if (isClosing) {
    // The whole response is sent now, but the socket is closed only when the client has stopped sending.
    if (content !== undefined && Buffer.byteLength(content) > 0) response.write(content);
    else response.flushHeaders();
    discardBody(request, (isComplete) => (isComplete ? response.end() : request.socket.destroy()));
  } else {
    response.end(content);
    discardBody(request, (isComplete) => isComplete || request.socket.destroy());
  }
}

/** Whether the rest of a body is known to be little enough to be discarded, so that the connection can stay. */
function isShort({ headers }: IncomingMessage): boolean {
  const length = headers["transfer-encoding"] ? Number.NaN : Number(headers["content-length"] ?? 0);
  return length <= LIMITS.discardBytes;
}

/**
 * Reads and drops the rest of a body, within limits; calls back once, with whether all of it has come. An HTTP/1.1 client
 * that sends more than the limit is slowed down by flow control until the time is over: a socket that is closed under
 * a client that writes is reset, and the response lost.
 */
function discardBody(request: Request, onEnd: (isComplete: boolean) => void): void {
  let bytes = 0;
  const take = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= LIMITS.discardBytes) return;
    if ("stream" in request) finish();
    else request.pause();
  };
  const finish = () => {
    clearTimeout(timer);
    request.off("data", take).off("end", finish).off("close", finish);
    onEnd(request.complete);
  };
  const timer = setTimeout(finish, LIMITS.discardMs);
  request.on("data", take).on("end", finish).on("close", finish).resume();
}

/** Ends a response that the client does not read. */
function limitResponse(response: Response): void {
  const timer = setTimeout(() => destroy(response), LIMITS.responseMs);
  onClose(response, () => clearTimeout(timer));
}

/**
 * Sends the parts of a response as they come, no faster than the client reads them; throws the signal's reason when
 * that is aborted, and ServiceError where the client reads nothing for too long. The trailers are read when the last
 * part has come.
 */
export async function sendStream(
  { request, response }: Exchange,
  head: Omit<WholeResponse, "body" | "trailers">,
  parts: AsyncIterable<Uint8Array>,
  trailers: () => OutgoingHttpHeaders,
  signal: AbortSignal,
): Promise<void> {
  const target = response as ServerResponse;
  const iterator = parts[Symbol.asyncIterator]();
  try {
    // Headers may be set until the first part is there.
    let part = await iterator.next();
    signal.throwIfAborted();
    target.writeHead(head.status, head.headers);
    for (; !part.done; part = await iterator.next()) {
      signal.throwIfAborted();
      if (!target.write(part.value)) await drained(target, signal);
    }
    signal.throwIfAborted();
    target.addTrailers(trailers());
    limitResponse(response);
    if ("stream" in response && !request.readableEnded)
      stopReading(request as Http2ServerRequest, response.stream, true);
    target.end();
  } finally {
    await iterator.return?.();
  }
}

function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      response.off("drain", drain);
      signal.removeEventListener("abort", abort);
      settle();
    };
    const drain = () => finish(resolve);
    const abort = () => finish(() => reject(signal.reason));
    const late = () => finish(() => reject(new ServiceError("requestTooSlow")));
    const timer = setTimeout(late, LIMITS.streamIdleMs);
    response.on("drain", drain);
    signal.addEventListener("abort", abort, { once: true });
  });
}
