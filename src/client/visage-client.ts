// The entry for Node. It has the same exports as web-client.ts.
import { readFile } from "node:fs/promises";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Http2Sessions } from "./http2-sessions.ts";
import { ImageStream } from "./image-stream.ts";
import { apiKeyInterceptors, checkAddress, createOperations } from "./operations.ts";
import type { VisageClient, VisageClientOptions } from "./types.ts";

export type * from "./gallery-types.ts";
export type { ImageInput } from "./image-input.ts";
export type * from "./person-types.ts";
export type { ServiceCallOptions, ServiceCalls } from "./service-calls.ts";
export type * from "./types.ts";
export { type Reason, VisageError, visageErrorFromCause } from "./visage-error.ts";

/**
 * Creates a client that calls the service over gRPC. It connects on first use, and reconnects when the connection is
 * lost. Throws TypeError or RangeError for invalid options.
 */
export function createVisageClient(options: VisageClientOptions): VisageClient {
  const baseUrl = checkAddress(options.address);
  const { ca, clientCertificate: cert, clientKey: key } = options;
  const sessionManager = new Http2Sessions(baseUrl, { ca: toPem(ca), cert: toPem(cert), key: toPem(key) });
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
