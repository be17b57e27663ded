import { lookup } from "node:dns/promises";
import { isIP, type Socket } from "node:net";
import { buildConnector } from "undici";
import { isPublicAddress } from "./address-guard.ts";
import type { AllowList } from "./allow-list.ts";
import { isWebPort } from "./image-url.ts";

/** How long one address may take to connect, TLS included, before the next is tried. */
const CONNECT_TIMEOUT_MS = 2000;

/** Gives the addresses of a host name, the best first; rejects where it has none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** What a dialler goes by. */
export interface DiallerOptions {
  /** What may be dialled although it is not public. */
  readonly allow: AllowList;
  /** Looks names up; the system does unless told otherwise. */
  readonly resolve?: Resolve | undefined;
  /** Whether anyone waits for an origin, such as `http://example.org`. */
  readonly isAwaited: (origin: string) => boolean;
}

/** Tells whether a host may be dialled at one of its addresses: it is listed, or public and on a web port. */
export function mayDial(allow: AllowList, host: string, address: string, port: string): boolean {
  return allow.hasHost(host) || allow.hasAddress(address) || (isWebPort(port) && isPublicAddress(address));
}

/**
 * Makes the connector of an undici agent. It looks a name up once, refuses it if any of its addresses may not
 * be dialled, and then dials these very addresses in turn: there is no second look-up that could say otherwise.
 * Certificates are verified for the name.
 */
export function createDialler(dialler: DiallerOptions): buildConnector.connector {
  const { allow, resolve = addressesOf, isAwaited } = dialler;
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS });

  // Once a request is stopped undici connects anew, only to find that there is nothing left to send.
  const throwIfAlone = ({ protocol, host }: buildConnector.Options) => {
    const origin = `${protocol}//${host}`;
    if (!isAwaited(origin)) throw new Error(`nobody waits for ${origin} any longer`);
  };

  const dialAddress = (options: buildConnector.Options, address: string) =>
    new Promise<Socket>((done, fail) => {
      connect({ ...options, hostname: address }, (error, socket) => (error ? fail(error) : done(socket)));
    });

  const dial = async (options: buildConnector.Options): Promise<Socket> => {
    const { hostname, port } = options;
    throwIfAlone(options);
    const addresses = isIP(hostname) ? [hostname] : await resolve(hostname);
    const refused = addresses.find((address) => !mayDial(allow, hostname, address, port));
    if (refused !== undefined) throw new Error(`${hostname} leads to ${refused}, which may not be dialled`);

    let failure: unknown = new Error(`${hostname} leads to no address`);
    for (const address of addresses) {
      throwIfAlone(options);
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

async function addressesOf(name: string): Promise<readonly string[]> {
  const found = await lookup(name, { all: true });
  return found.map(({ address }) => address);
}
