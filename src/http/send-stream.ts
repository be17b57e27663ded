import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { ServiceError } from "../service/service-error.ts";
import type { Exchange, WholeResponse } from "./exchange.ts";
import { LIMITS } from "./limits.ts";
import { discardBody, limitResponseTime, stopReading } from "./send-response.ts";

/** Options of a response in parts. */
export interface SendStreamOptions {
  readonly signal: AbortSignal;
  /** Called after the last part. */
  readonly trailers?: () => OutgoingHttpHeaders;
  /** Whether to send the head at once. Otherwise it is sent with the first part, until when it may change. */
  readonly isHeadFirst?: boolean;
  /** Makes the last part for a client that reads nothing for too long. Without it the response is destroyed. */
  readonly onSlowClient?: (error: ServiceError) => Uint8Array;
  /** Called when no more parts are taken, before the response ends. The rest of the request's body is discarded then. */
  readonly onPartsEnd?: () => void;
}

/**
 * Sends a response in parts, with backpressure. Throws the signal's reason when it is aborted, and ServiceError
 * `requestTooSlow` when the client reads nothing for too long.
 */
export async function sendStream(
  { request, response }: Exchange,
  head: Omit<WholeResponse, "body" | "trailers">,
  parts: AsyncIterable<Uint8Array>,
  { signal, trailers = () => ({}), isHeadFirst = false, onSlowClient, onPartsEnd }: SendStreamOptions,
): Promise<void> {
  const target = response as ServerResponse;
  const iterator = parts[Symbol.asyncIterator]();
  const sendHead = () => {
    // The client may still send when the last part has been sent. Then the connection cannot be used again.
    if (request.httpVersionMajor === 1 && !request.complete) target.setHeader("connection", "close");
    target.writeHead(head.status, head.headers);
  };
  try {
    if (isHeadFirst) {
      sendHead();
      target.flushHeaders();
    }
    let part = await iterator.next();
    signal.throwIfAborted();
    if (!isHeadFirst) sendHead();
    for (; !part.done; part = await iterator.next()) {
      signal.throwIfAborted();
      if (!target.write(part.value)) await waitForDrain(target, signal);
    }
    signal.throwIfAborted();
    target.addTrailers(trailers());
  } catch (error) {
    if (!onSlowClient || !(error instanceof ServiceError)) throw error;
    target.write(onSlowClient(error));
  } finally {
    onPartsEnd?.();
    await iterator.return?.();
  }
  end({ request, response });
}

/** Ends a response whose request may be incomplete. */
function end({ request, response }: Pick<Exchange, "request" | "response">): void {
  const target = response as ServerResponse;
  limitResponseTime(response);
  if ("stream" in response) {
    if (!request.readableEnded) stopReading(request as Http2ServerRequest, response.stream, true);
    target.end();
  } else if (request.complete) target.end();
  // Closing a socket with unread bytes would reset it, and the client would lose the last part.
  else discardBody(request as IncomingMessage, () => target.end());
}

function waitForDrain(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      response.off("drain", drain).off("close", close);
      signal.removeEventListener("abort", abort);
      settle();
    };
    const drain = () => finish(resolve);
    const abort = () => finish(() => reject(signal.reason));
    // The signal is not aborted any more once the outcome of the request is known.
    const close = () => finish(() => reject(new DOMException("The client left.", "AbortError")));
    const timeOut = () => finish(() => reject(new ServiceError("requestTooSlow", SLOW_CLIENT)));
    const timer = setTimeout(timeOut, LIMITS.streamIdleMs);
    response.on("drain", drain).on("close", close);
    signal.addEventListener("abort", abort, { once: true });
  });
}

const SLOW_CLIENT = "The client does not read the responses. It must send and read at the same time.";
