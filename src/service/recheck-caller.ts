import type { Interceptor } from "@connectrpc/connect";
import { recordFrom } from "./request-record.ts";

/** How often a stream checks its caller. With the age of cached accounts, a change has effect within five seconds. */
export const RECHECK_INTERVAL_MS = 1_000;

/**
 * Ends a stream of responses whose user was disabled or deleted, whose key was revoked or whose subscription has ended,
 * with the error that a new call would have. The edge stops reading the requests of such a user.
 */
export const recheckCaller: Interceptor = (next) => async (request) => {
  const recheck = recordFrom(request.contextValues)?.recheckCaller;
  const response = await next(request);
  if (!response.stream || !recheck || response.method.methodKind !== "server_streaming") return response;
  return { ...response, message: recheckBetween(response.message, recheck) };
};

async function* recheckBetween<T>(
  messages: AsyncIterable<T>,
  recheck: () => Promise<void>,
): AsyncGenerator<T> {
  let nextMs = performance.now() + RECHECK_INTERVAL_MS;
  for await (const message of messages) {
    if (performance.now() >= nextMs) {
      await recheck();
      nextMs = performance.now() + RECHECK_INTERVAL_MS;
    }
    yield message;
  }
}
