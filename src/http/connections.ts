import type { Http2Session } from "node:http2";
import type { Socket } from "node:net";
import { limitedAddressOf, type TrustedProxies } from "./client-address.ts";
import type { Request } from "./exchange.ts";
import { ResetLimiter } from "./reset-limiter.ts";

/** Limits on the number of open connections. */
export interface ConnectionLimits {
  readonly total: number;
  /** From one IPv4 address or IPv6 /64 network. Trusted proxies count in the total only. */
  readonly perAddress: number;
}

/** Limits on the age of connections. */
export interface AgeLimits {
  /** A connection of this age, give or take a tenth, takes no more requests, so that clients spread anew. */
  readonly maxConnectionAgeMs: number;
  /** How long requests in flight may then take before the connection is destroyed. */
  readonly ageGraceMs: number;
}

/** Why a connection was closed before its first byte was read. */
export type ConnectionRejection = "total" | "address" | "resets";

/** Tracks the open connections of a port and limits their number. */
export class Connections {
  readonly resets = new ResetLimiter();
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

  /** Counts a new connection until it closes. Beyond a limit, destroys it instead and returns false. */
  accept(socket: Socket): boolean {
    const address = this.addressOf(socket);
    const reason = this.#rejectionFor(address);
    if (reason) {
      // Without a listener, an error of the closing socket would end the process.
      socket.on("error", () => {}).destroy();
      this.#onReject(reason);
      return false;
    }
    this.#open.add(socket);
    if (address !== undefined) this.#byAddress.set(address, (this.#byAddress.get(address) ?? 0) + 1);
    socket.once("close", () => this.#remove(socket, address));
    return true;
  }

  /** The address or network that a connection counts for; undefined for a trusted proxy or an unknown address. */
  addressOf(socket: Pick<Socket, "remoteAddress">): string | undefined {
    return limitedAddressOf(socket, this.#trusted);
  }

  destroyAll(): void {
    for (const socket of this.#open) socket.destroy();
  }

  #rejectionFor(address: string | undefined): ConnectionRejection | undefined {
    if (this.#open.size >= this.#limits.total) return "total";
    const open = address === undefined ? 0 : (this.#byAddress.get(address) ?? 0);
    if (open >= this.#limits.perAddress) return "address";
    return address !== undefined && this.resets.isExhausted(address) ? "resets" : undefined;
  }

  #remove(socket: Socket, address: string | undefined): void {
    this.#open.delete(socket);
    if (address === undefined) return;
    const left = this.#byAddress.get(address)! - 1;
    if (left > 0) this.#byAddress.set(address, left);
    else this.#byAddress.delete(address);
  }
}

/** A connection as the version of HTTP sees it: the socket of HTTP/1.1, or the session of HTTP/2. */
type HttpConnection = Socket | Http2Session;

/** When each connection reaches its maximum age, by `performance.now()`. */
const agesOutAtMs = new WeakMap<HttpConnection, number>();

/** Chooses the age at which a connection stops taking requests. Jitter keeps connections from closing together. */
export function chooseMaxAgeMs(connection: HttpConnection, { maxConnectionAgeMs }: AgeLimits): number {
  const maxAgeMs = maxConnectionAgeMs * (0.9 + 0.2 * Math.random());
  agesOutAtMs.set(connection, performance.now() + maxAgeMs);
  return maxAgeMs;
}

/** How long a connection may still take requests. */
export function remainingAgeMs(connection: HttpConnection | undefined): number {
  const endMs = connection && agesOutAtMs.get(connection);
  return endMs === undefined ? Number.POSITIVE_INFINITY : endMs - performance.now();
}

/** Destroys a connection that does not end by itself after its maximum age. */
export function destroyAfterAge(socket: Socket, { maxConnectionAgeMs, ageGraceMs }: AgeLimits): void {
  const timer = setTimeout(() => socket.destroy(), 1.1 * maxConnectionAgeMs + ageGraceMs).unref();
  socket.once("close", () => clearTimeout(timer));
}

/** How long a connection may take to close after one side has ended it. */
const CLOSE_TIMEOUT_MS = 1_000;

/** Destroys an ending socket after a while: it may never close by itself when its peer is gone or keeps its side open. */
export function destroySoon(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS);
  socket.once("close", () => clearTimeout(timer));
}

/** The longest delay of a timer in Node. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Calls back when the service shuts down or the connection of a request reaches its maximum age, unless cancelled. */
export function onLeaving(request: Request, draining: AbortSignal, callback: () => void): { cancel(): void } {
  const leftMs = remainingAgeMs("stream" in request ? request.stream.session : request.socket);
  const timer = setTimeout(callback, Math.min(MAX_TIMER_MS, Math.max(0, leftMs)));
  draining.addEventListener("abort", callback, { once: true });
  if (draining.aborted) callback();
  return {
    cancel: () => {
      clearTimeout(timer);
      draining.removeEventListener("abort", callback);
    },
  };
}
