import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { ServiceError } from "../service/service-error.ts";
import type { Exchange, WholeResponse } from "./exchange.ts";
import { LIMITS } from "./limits.ts";
import { limitResponseTime, stopReading } from "./send-response.ts";

/**
 * Sends a response in parts, with backpressure. `trailers` is called after the last part. Throws the signal's reason
 * when it is aborted, and ServiceError `requestTooSlow` when the client reads nothing for too long.
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
    // The handler may set headers until it yields the first part.
    let part = await iterator.next();
    signal.throwIfAborted();
    target.writeHead(head.status, head.headers);
    for (; !part.done; part = await iterator.next()) {
      signal.throwIfAborted();
      if (!target.write(part.value)) await waitForDrain(target, signal);
    }
    signal.throwIfAborted();
    target.addTrailers(trailers());
    limitResponseTime(response);
    if ("stream" in response && !request.readableEnded)
      stopReading(request as Http2ServerRequest, response.stream, true);
    target.end();
  } finally {
    await iterator.return?.();
  }
}

function waitForDrain(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      response.off("drain", drain);
      signal.removeEventListener("abort", abort);
      settle();
    };
    const drain = () => finish(resolve);
    const abort = () => finish(() => reject(signal.reason));
    const timeOut = () => finish(() => reject(new ServiceError("requestTooSlow")));
    const timer = setTimeout(timeOut, LIMITS.streamIdleMs);
    response.on("drain", drain);
    signal.addEventListener("abort", abort, { once: true });
  });
}
