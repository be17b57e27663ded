import { isIP, type Socket } from "node:net";
import { buildConnector } from "undici";
import type { AllowList } from "./allow-list.ts";
import { isWebPort } from "./image-url.ts";
import type { Resolve } from "./name-resolver.ts";
import { isPublicAddress } from "./public-address.ts";

/** How long connecting to one address may take, TLS included, before the next one is tried. */
const CONNECT_TIMEOUT_MS = 2000;

/** Options of a connector. */
export interface ConnectorOptions {
  /** Hosts and addresses that are allowed although they are not public. */
  readonly allow: AllowList;
  readonly resolve: Resolve;
  readonly pending: PendingRequests;
}

/** Whether a connection to an address of a host is allowed: it is listed, or public and on a web port. */
export function mayConnect(allow: AllowList, host: string, address: string, port: string): boolean {
  return allow.hasHost(host) || allow.hasAddress(address) || (isWebPort(port) && isPublicAddress(address));
}

/**
 * Creates the connector of an undici agent, which protects against server-side request forgery. It resolves a host name
 * once, rejects it if any of its addresses is not allowed, and connects to these same addresses in turn: no second
 * look-up could return others (DNS rebinding). Certificates are verified for the host name.
 */
export function createConnector({ allow, resolve, pending }: ConnectorOptions): buildConnector.connector {
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS });

  const connectTo = (options: buildConnector.Options, address: string) =>
    new Promise<Socket>((onConnect, onError) => {
      connect({ ...options, hostname: address }, (error, socket) =>
        error ? onError(error) : onConnect(socket),
      );
    });

  const connectToHost = async (options: buildConnector.Options): Promise<Socket> => {
    const { hostname, port } = options;
    const origin = `${options.protocol}//${options.host}`;
    // After a request is aborted, undici connects again although nothing is left to send.
    const signal = pending.signalFor(origin);
    if (!signal) throw new Error("no request is pending");
    const addresses = isIP(hostname) ? [hostname] : await resolve(hostname, signal);
    // Messages name no host: they are logged, and a host name may be that of a person.
    if (!addresses.every((address) => mayConnect(allow, hostname, address, port)))
      throw new Error("the host has an address that is not allowed");

    let lastError: unknown = new Error("the host has no address");
    for (const address of addresses) {
      signal.throwIfAborted();
      try {
        return await connectTo(options, address);
      } catch (error) {
        lastError = error;
      }
    }
    throw lastError;
  };

  return (options, callback) => {
    connectToHost(options).then(
      (socket) => callback(null, socket),
      (error) => callback(error, null),
    );
  };
}

/** Counts the requests that have no response yet, by origin, such as `http://example.org`. */
export class PendingRequests {
  readonly #byOrigin = new Map<string, { count: number; readonly controller: AbortController }>();

  /** Adds a request. Returns the function that removes it. */
  add(origin: string): () => void {
    let entry = this.#byOrigin.get(origin);
    if (!entry) {
      entry = { count: 0, controller: new AbortController() };
      this.#byOrigin.set(origin, entry);
    }
    const { controller } = entry;
    entry.count++;
    return () => {
      if (--entry.count > 0) return;
      this.#byOrigin.delete(origin);
      controller.abort(new Error("no request is pending"));
    };
  }

  /** A signal that is aborted when the last request of an origin is removed; undefined if there is no request. */
  signalFor(origin: string): AbortSignal | undefined {
    return this.#byOrigin.get(origin)?.controller.signal;
  }
}
