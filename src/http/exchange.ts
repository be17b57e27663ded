import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { constants, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";

export type Request = IncomingMessage | Http2ServerRequest;
export type Response = ServerResponse | Http2ServerResponse;
export type RequestListener = (request: Request, response: Response) => void;

/** A request and its response. */
export interface Exchange {
  readonly request: Request;
  readonly response: Response;
  /** Whether the service is shutting down, so that the connection ends with this response. */
  readonly isDraining: boolean;
}

/** A response whose body is complete. */
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

/** Calls back when the response has been sent or can no longer be sent. */
export function onClose(response: Response, callback: () => void): void {
  // An HTTP/2 response does not emit `close` for every HEAD request; its stream does.
  if ("stream" in response) response.stream.once("close", callback);
  else response.once("close", callback);
}

/** Resets the request's HTTP/2 stream, or destroys its HTTP/1.1 connection. */
export function destroy(response: Response): void {
  if ("stream" in response) response.stream?.close(constants.NGHTTP2_CANCEL);
  else response.socket?.destroy();
}

/** Sends `100 Continue` to a client that waits for it before it sends the body. */
export function sendContinue({ headers }: Request, response: Response): void {
  if (headers.expect && !isGone(response)) response.writeContinue();
}
