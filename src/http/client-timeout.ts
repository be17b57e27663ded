import type { IncomingHttpHeaders } from "node:http";
import type { RequestContext } from "./request-context.ts";

/** Headers by which gRPC and Connect clients set a timeout. */
export const TIMEOUT_HEADERS: readonly string[] = ["grpc-timeout", "connect-timeout-ms"];

/** Milliseconds by the unit of `grpc-timeout`. */
const UNIT_MS = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };

/** The timeout that the client sets in its headers; undefined if it sets none. */
export function clientTimeoutMs(headers: IncomingHttpHeaders): number | undefined {
  const grpc = /^(\d{1,8})([HMSmun])$/.exec(String(headers["grpc-timeout"] ?? ""));
  if (grpc) return Number(grpc[1]) * UNIT_MS[grpc[2] as keyof typeof UNIT_MS];
  const connect = /^\d{1,10}$/.exec(String(headers["connect-timeout-ms"] ?? ""));
  return connect ? Number(connect[0]) : undefined;
}

/**
 * Replaces the client's timeout by what is left of it. Removes a timeout beyond `maxMs`: the service's own limit
 * applies then, and a very long one would overflow Node's timers.
 */
export function setTimeoutHeader({ request, startMs }: RequestContext, header: Headers, maxMs: number): void {
  const timeoutMs = clientTimeoutMs(request.headers);
  if (timeoutMs === undefined) return;
  const leftMs = Math.max(0, Math.ceil(startMs + timeoutMs - performance.now()));
  for (const name of TIMEOUT_HEADERS) {
    if (!header.has(name)) continue;
    if (leftMs >= maxMs) header.delete(name);
    else header.set(name, name === "grpc-timeout" ? `${leftMs}m` : String(leftMs));
  }
}
