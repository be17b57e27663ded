// The entry for Node. It has the same exports as web-client.ts.
import { readFile } from "node:fs/promises";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { ImageStream } from "./image-stream.ts";
import { apiKeyInterceptors, checkAddress, createOperations } from "./operations.ts";
import type { VisageClient, VisageClientOptions } from "./types.ts";

export type * from "./gallery-types.ts";
export type { ImageInput } from "./image-input.ts";
export type * from "./types.ts";
export { VisageError, visageErrorFromCause } from "./visage-error.ts";

/**
 * Detects connections that were lost without notice: after this time without a response, the client sends a PING, and
 * gives up the connection after as much time again.
 */
const PING_MS = 10_000;

/**
 * Node resets streams when a connection holds more than this, 10 MB by default: about 120 calls with photographs. The
 * client limits its memory by `maxInFlight` instead. Node 20 takes at most 4,294.
 */
const MAX_SESSION_MEMORY_MB = 4_000;

/**
 * Creates a client that calls the service over gRPC. It connects on first use, and reconnects when the connection is
 * lost. Throws TypeError or RangeError for invalid options.
 */
export function createVisageClient(options: VisageClientOptions): VisageClient {
  const baseUrl = checkAddress(options.address);
  const { ca, clientCertificate: cert, clientKey: key } = options;
  const sessionManager = new Http2SessionManager(
    baseUrl,
    { pingIntervalMs: PING_MS, pingTimeoutMs: PING_MS },
    { maxSessionMemory: MAX_SESSION_MEMORY_MB, ca: toPem(ca), cert: toPem(cert), key: toPem(key) },
  );
  const interceptors = apiKeyInterceptors(options.apiKey);
  return createOperations(options, {
    transport: createGrpcTransport({ baseUrl, sessionManager, interceptors }),
    readFile: (path, signal) => readFile(path, { signal }),
    stream: (options) => new ImageStream(options).results(),
    disconnect: () => sessionManager.abort(),
  });
}

function toPem(value: string | Uint8Array | undefined): string | Buffer | undefined {
  return value instanceof Uint8Array ? Buffer.from(value) : value;
}
