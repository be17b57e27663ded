import { isIP, type Socket } from "node:net";
import { buildConnector } from "undici";
import { isPublicAddress } from "./address-guard.ts";
import type { AllowList } from "./allow-list.ts";
import { isWebPort } from "./image-url.ts";
import type { Resolve } from "./name-resolver.ts";

/** How long one address may take to connect, TLS included, before the next is tried. */
const CONNECT_TIMEOUT_MS = 2000;

/** Options of a dialler. */
export interface DiallerOptions {
  /** What may be dialled although it is not public. */
  readonly allow: AllowList;
  /** Looks up host names. */
  readonly resolve: Resolve;
  /**
   * The signal that is aborted when nobody waits any longer for an origin, such as `http://example.org`; undefined
   * if nobody does now.
   */
  readonly signalOf: (origin: string) => AbortSignal | undefined;
}

/** Tells whether a host may be dialled at one of its addresses: it is listed, or public and on a web port. */
export function mayDial(allow: AllowList, host: string, address: string, port: string): boolean {
  return allow.hasHost(host) || allow.hasAddress(address) || (isWebPort(port) && isPublicAddress(address));
}

/**
 * Creates the connector of an undici agent. It looks a name up once, rejects it if any of its addresses may not be
 * dialled, and then dials these very addresses in turn: there is no second look-up that could say otherwise.
 * Certificates are verified for the name.
 */
export function createDialler({ allow, resolve, signalOf }: DiallerOptions): buildConnector.connector {
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS });

  const dialAddress = (options: buildConnector.Options, address: string) =>
    new Promise<Socket>((done, fail) => {
      connect({ ...options, hostname: address }, (error, socket) => (error ? fail(error) : done(socket)));
    });

  const dial = async (options: buildConnector.Options): Promise<Socket> => {
    const { hostname, port } = options;
    const origin = `${options.protocol}//${options.host}`;
    // Once a request is aborted undici connects again, only to find that there is nothing left to send.
    const signal = signalOf(origin);
    if (!signal) throw new Error(`nobody waits for ${origin}`);
    const addresses = isIP(hostname) ? [hostname] : await resolve(hostname, signal);
    const refused = addresses.find((address) => !mayDial(allow, hostname, address, port));
    if (refused !== undefined) throw new Error(`${hostname} leads to ${refused}, which may not be dialled`);

    let failure: unknown = new Error(`${hostname} leads to no address`);
    for (const address of addresses) {
      signal.throwIfAborted();
      try {
        return await dialAddress(options, address);
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  };

  return (options, callback) => {
    dial(options).then(
      (socket) => callback(null, socket),
      (error) => callback(error, null),
    );
  };
}
