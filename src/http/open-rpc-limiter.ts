import { ServiceError } from "../service/service-error.ts";
import { limitedAddressOf, type TrustedProxies } from "./client-address.ts";
import { LIMITS } from "./limits.ts";
import type { RequestContext } from "./request-context.ts";

/**
 * Limits the calls of health and reflection in progress: they need no account, and streams last as long as their
 * connection. Unary calls do not count in the total, so that streams cannot keep an orchestrator from its health check.
 */
export class OpenRpcLimiter {
  readonly #trusted: TrustedProxies;
  /** By connection or client address. Streams of trusted proxies count for no address. */
  readonly #calls = new Map<object | string, number>();
  #streams = 0;

  constructor(trusted: TrustedProxies) {
    this.#trusted = trusted;
  }

  /** Counts a call until the returned function is called. Throws ServiceError if there are too many. */
  add({ request }: RequestContext, isStream: boolean): () => void {
    const connection = ("stream" in request && request.stream.session) || request.socket;
    const address = limitedAddressOf(request.socket, this.#trusted);
    if (isStream && this.#streams >= LIMITS.openStreams) throw new ServiceError("overloaded");
    this.#requireRoom(connection, LIMITS.openCallsPerConnection, "connection");
    if (address !== undefined) this.#requireRoom(address, LIMITS.openCallsPerAddress, "address");
    const keys = address === undefined ? [connection] : [connection, address];
    const count = (change: 1 | -1) => {
      if (isStream) this.#streams += change;
      for (const key of keys) this.#change(key, change);
    };
    count(1);
    return () => count(-1);
  }

  #requireRoom(key: object | string, limit: number, name: string): void {
    if ((this.#calls.get(key) ?? 0) < limit) return;
    throw new ServiceError("tooManyInFlight", `The ${name} has too many calls of health and reflection.`);
  }

  #change(key: object | string, change: 1 | -1): void {
    const calls = (this.#calls.get(key) ?? 0) + change;
    if (calls > 0) this.#calls.set(key, calls);
    else this.#calls.delete(key);
  }
}
