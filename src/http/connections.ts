import type { Socket } from "node:net";
import ipaddr from "ipaddr.js";
import { isTrustedProxy, type TrustedProxies } from "./client-address.ts";

/** How many connections may be open at once. */
export interface ConnectionLimits {
  readonly total: number;
  /** Of one client address, or one IPv6 network of 64 bits; trusted proxies count in the total only. */
  readonly perAddress: number;
}

/** Why a connection was closed before its first byte was read. */
export type ConnectionRejection = "total" | "address";

/** An IPv6 network of 64 bits has one owner, who can change the rest of the address at will. */
const IPV6_NETWORK_GROUPS = 4;

/** The open connections of a port, and how many there may be. */
export class Connections {
  readonly #open = new Set<Socket>();
  readonly #byAddress = new Map<string, number>();
  readonly #limits: ConnectionLimits;
  readonly #trusted: TrustedProxies;
  readonly #onReject: (reason: ConnectionRejection) => void;

  constructor(
    limits: ConnectionLimits,
    trusted: TrustedProxies,
    onReject: (reason: ConnectionRejection) => void,
  ) {
    this.#limits = limits;
    this.#trusted = trusted;
    this.#onReject = onReject;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Counts a new connection until it closes, or closes it at once and returns false. */
  accept(socket: Socket): boolean {
    const address = this.#limitedAddress(socket.remoteAddress);
    const reason = this.#rejectionFor(address);
    if (reason) {
      // Without a listener, an error of a socket that is being closed would end the process.
      socket.on("error", () => {}).destroy();
      this.#onReject(reason);
      return false;
    }
    this.#open.add(socket);
    if (address !== undefined) this.#byAddress.set(address, (this.#byAddress.get(address) ?? 0) + 1);
    socket.once("close", () => this.#forget(socket, address));
    return true;
  }

  destroyAll(): void {
    for (const socket of this.#open) socket.destroy();
  }

  #rejectionFor(address: string | undefined): ConnectionRejection | undefined {
    if (this.#open.size >= this.#limits.total) return "total";
    const open = address === undefined ? 0 : (this.#byAddress.get(address) ?? 0);
    return open >= this.#limits.perAddress ? "address" : undefined;
  }

  #forget(socket: Socket, address: string | undefined): void {
    this.#open.delete(socket);
    if (address === undefined) return;
    const left = this.#byAddress.get(address)! - 1;
    if (left > 0) this.#byAddress.set(address, left);
    else this.#byAddress.delete(address);
  }

  /** The address or network that a connection counts for; none for a trusted proxy or a socket without an address. */
  #limitedAddress(address: string | undefined): string | undefined {
    if (address === undefined || !ipaddr.isValid(address)) return undefined;
    const parsed = ipaddr.process(address);
    if (isTrustedProxy(parsed, this.#trusted)) return undefined;
    return parsed instanceof ipaddr.IPv6
      ? parsed.parts.slice(0, IPV6_NETWORK_GROUPS).join(":")
      : parsed.toString();
  }
}
