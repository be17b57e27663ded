// The entry for browsers. It has the same exports as visage-client.ts.
import { createConnectTransport } from "@connectrpc/connect-web";
import { apiKeyInterceptors, checkAddress, createOperations } from "./operations.ts";
import type { VisageClient, VisageClientOptions } from "./types.ts";

export type * from "./gallery-types.ts";
export type { ImageInput } from "./image-input.ts";
export type * from "./person-types.ts";
export type { ServiceCallOptions, ServiceCalls } from "./service-calls.ts";
export type * from "./types.ts";
export { type Reason, VisageError, visageErrorFromCause } from "./visage-error.ts";

/** Options that only Node has. A browser uses the certificates of its user. */
const NODE_OPTIONS = ["ca", "clientCertificate", "clientKey"] as const;

/**
 * Creates a client that calls the service by fetch, over the Connect protocol. Throws TypeError or RangeError for invalid
 * options, and for those that only Node has.
 */
export function createVisageClient(options: VisageClientOptions): VisageClient {
  const baseUrl = checkAddress(options.address);
  for (const name of NODE_OPTIONS)
    if (options[name] !== undefined) throw new TypeError(`The option ${name} does not work in a browser.`);
  const interceptors = apiKeyInterceptors(options.apiKey);
  return createOperations(options, {
    transport: createConnectTransport({ baseUrl, interceptors, useBinaryFormat: true }),
    readFile: rejectPath,
    disconnect: () => {},
  });
}

async function rejectPath(): Promise<never> {
  throw new TypeError("A browser cannot read an image by its path. Pass a File or its bytes.");
}
