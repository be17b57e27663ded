import {
  createServer as createHttp1,
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import {
  createServer as createHttp2,
  createSecureServer as createSecureHttp2,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from "node:http2";
import type { Server as NetServer, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Connections } from "./connections.ts";
import { countStreams } from "./exchange.ts";

/** Limits on how long a peer may take and how much it may send at once. */
export interface PortLimits {
  /** From the connection's start to its first byte, and for the TLS handshake. */
  readonly firstByteMs: number;
  /** For the head of an HTTP/1.1 request. */
  readonly headMs: number;
  readonly headBytes: number;
  /** A connection without an open request is closed after this long. */
  readonly idleMs: number;
  /** An HTTP/2 peer that is silent for this long is pinged, sooner while it has open requests. */
  readonly pingIdleMs: number;
  readonly pingBusyMs: number;
  /** A peer that stays silent for this long after a ping is gone. */
  readonly pingTimeoutMs: number;
  readonly streamsPerConnection: number;
  /** A connection of this age, give or take a tenth, takes no more requests, so that clients spread anew. */
  readonly maxConnectionAgeMs: number;
  /** How long requests in flight may then take before the connection is destroyed. */
  readonly ageGraceMs: number;
}

/** Why bytes of HTTP/1.1 never became a request. */
export type HeadFault = "malformed" | "tooSlow" | "headersTooLarge";

/** The response to bytes of HTTP/1.1 that never became a request. */
export interface HeadRejection {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a port hands on, and to whom. */
export interface PortOptions {
  readonly onRequest: RequestListener;
  readonly rejectHead: (fault: HeadFault) => HeadRejection;
  /** Called when an HTTP/2 connection ends because its peer broke the protocol. */
  readonly onSessionError: (fault: Error) => void;
  readonly connections: Connections;
  readonly limits: PortLimits;
}

/** A port that speaks HTTP/1.1 and HTTP/2. */
export interface Port {
  readonly server: NetServer;
  /** Closes idle connections now, others when their requests are answered, and all of them after `limitMs`. */
  close(limitMs: number): Promise<void>;
  /** How many connections are open. */
  connections(): { readonly http1: number; readonly http2: number };
  /** Uses another certificate for new connections; only a TLS port has one. */
  renew?(credentials: Credentials): void;
}

/** A certificate and its key, both as PEM. */
export interface Credentials {
  readonly cert: string;
  readonly key: string;
}

type RequestListener = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
) => void;

/** Node's error codes for heads that have a status of their own; all others are malformed. */
const HEAD_FAULTS: Readonly<Record<string, HeadFault>> = {
  ERR_HTTP_REQUEST_TIMEOUT: "tooSlow",
  HPE_HEADER_OVERFLOW: "headersTooLarge",
};

/** How every HTTP/2 connection begins. */
const PREFACE = Buffer.from("PRI * HTTP/2.0");

/** How long a connection whose peer has ended may take to send what is left. */
const ENDING_MS = 1_000;

/** While closing: how often idle HTTP/1.1 connections are looked for, and how long an unfinished head may take. */
const CLOSING_CHECK_MS = 100;
const CLOSING_HEAD_MS = 5_000;

/** Opens a cleartext port for both versions of HTTP; a connection's first bytes decide which it speaks. */
export function createClearPort(options: PortOptions): Port {
  const { connections, limits } = options;
  const http2 = createHttp2(http2OptionsFrom(limits));
  // The HTTP/1.1 server is the one that listens: only then does Node enforce its timeouts.
  const server = createHttp1(http1OptionsFrom(limits));
  const [acceptHttp1] = server.listeners("connection") as [(socket: Socket) => void];
  server.removeAllListeners("connection");
  const sessions = new Sessions(http2, options);
  const http1 = new Http1Connections(server, options);
  listen(http2, options.onRequest);
  listen(server, http1.counting(options.onRequest));
  const unidentified = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    if (!connections.accept(socket)) return;
    destroyAfterAge(socket, limits);
    unidentified.add(socket);
    socket.once("close", () => unidentified.delete(socket));
    identify(socket, limits.firstByteMs, (isHttp2) => {
      unidentified.delete(socket);
      if (isHttp2) {
        // An HTTP/1.1 server's sockets stay half open when the peer ends; the HTTP/2 server expects otherwise.
        socket.allowHalfOpen = false;
        http2.emit("connection", socket);
      } else {
        http1.add(socket);
        acceptHttp1.call(server, socket);
      }
    });
  });
  return {
    server,
    connections: () => ({ http1: connections.size - sessions.size, http2: sessions.size }),
    close: (limitMs) => {
      for (const socket of unidentified) socket.destroy();
      return closeServer(server, connections, http1, sessions, limitMs);
    },
  };
}

/** Opens a TLS port for both versions of HTTP, which the handshake chooses from. */
export function createTlsPort(options: PortOptions, credentials: Credentials): Port {
  const { connections, limits } = options;
  const server = createSecureHttp2({
    ...credentials,
    ...http2OptionsFrom(limits),
    allowHTTP1: true,
    handshakeTimeout: limits.firstByteMs,
  });
  // Node reads these from the server for its HTTP/1.1 connections, although its type does not say so.
  Object.assign(server, http1OptionsFrom(limits));
  const [startHandshake] = server.listeners("connection") as [(socket: Socket) => void];
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    if (!connections.accept(socket)) return;
    destroyAfterAge(socket, limits);
    startHandshake.call(server, socket);
  });
  const sessions = new Sessions(server, options);
  const http1 = new Http1Connections(server, options);
  server.prependListener("secureConnection", (socket: TLSSocket) => {
    if (socket.alpnProtocol !== "h2") http1.add(socket);
  });
  listen(server, http1.counting(options.onRequest));
  return {
    server,
    connections: () => ({ http1: connections.size - sessions.size, http2: sessions.size }),
    close: (limitMs) => closeServer(server, connections, http1, sessions, limitMs),
    renew: (renewed) => server.setSecureContext(renewed),
  };
}

/**
 * Also passes on requests that wait for `100 Continue`: the listener calls `writeContinue` once it wants the body.
 */
function listen(server: NetServer, onRequest: RequestListener): void {
  server.on("request", onRequest).on("checkContinue", onRequest);
}

function http2OptionsFrom({ streamsPerConnection, headBytes }: PortLimits) {
  return { settings: { maxConcurrentStreams: streamsPerConnection, maxHeaderListSize: headBytes } };
}

function http1OptionsFrom({ headMs, headBytes, idleMs }: PortLimits) {
  return {
    headersTimeout: headMs,
    // The body has a deadline of its own, the same for every version of HTTP.
    requestTimeout: 0,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: headBytes,
    // Rejected by the head check, in the service's own words.
    requireHostHeader: false,
  };
}

/** The HTTP/2 connections of a server. Node itself enforces neither their idle timeout nor their age. */
class Sessions {
  readonly #open = new Set<ServerHttp2Session>();
  readonly #limits: PortLimits;

  constructor(server: NetServer, { limits, onSessionError }: PortOptions) {
    this.#limits = limits;
    server.on("session", (session: ServerHttp2Session) => this.#watch(session));
    // Node has closed the session by then.
    server.on("sessionError", onSessionError);
  }

  get size(): number {
    return this.#open.size;
  }

  closeAll(): void {
    for (const session of this.#open) session.close();
  }

  #watch(session: ServerHttp2Session): void {
    const { idleMs, firstByteMs } = this.#limits;
    this.#open.add(session);
    // Every client sends its settings at once, behind the preface.
    const settings = setTimeout(() => session.destroy(), firstByteMs);
    session.once("remoteSettings", () => clearTimeout(settings));
    countStreams(session);
    // By open requests, not by bytes: pings and unfinished heads must not keep a connection alive.
    let openStreams = 0;
    let idle = setTimeout(() => session.destroy(), idleMs);
    session.on("stream", (stream) => {
      openStreams++;
      clearTimeout(idle);
      stream.once("close", () => {
        openStreams--;
        if (openStreams > 0 || session.destroyed) return;
        clearTimeout(idle);
        idle = setTimeout(() => session.close(), idleMs);
      });
    });
    const stopPings = destroyWhenSilent(session, this.#limits, () => openStreams > 0);
    const age = setTimeout(() => session.close(), ageFrom(this.#limits));
    session.once("close", () => {
      this.#open.delete(session);
      for (const timer of [settings, idle, age]) clearTimeout(timer);
      stopPings();
    });
  }
}

/**
 * Destroys a session whose peer is gone. Node does not notice all of them: after a protocol error it stops reading and
 * keeps the socket, even when the peer has closed it. Any byte that comes counts as a sign of life, as the answer to a
 * ping may wait behind a large body. Returns a function that ends the watch.
 */
function destroyWhenSilent(
  session: ServerHttp2Session,
  { pingIdleMs, pingBusyMs, pingTimeoutMs }: PortLimits,
  isBusy: () => boolean,
): () => void {
  let bytesRead = 0;
  let silentSinceMs = performance.now();
  let pingedMs: number | undefined;
  const check = () => {
    if (session.destroyed) return;
    const nowMs = performance.now();
    const { bytesRead: newBytesRead } = session.socket;
    if (newBytesRead !== bytesRead) {
      bytesRead = newBytesRead;
      silentSinceMs = nowMs;
      pingedMs = undefined;
    } else if (pingedMs !== undefined) {
      if (nowMs - pingedMs >= pingTimeoutMs) session.destroy();
    } else if (nowMs - silentSinceMs >= (isBusy() ? pingBusyMs : pingIdleMs)) {
      pingedMs = nowMs;
      // A session that is closing sends no more pings; then silence alone decides.
      if (!session.closed) session.ping(() => {});
    }
  };
  const interval = setInterval(check, Math.min(1_000, pingBusyMs / 2));
  return () => clearInterval(interval);
}

/** The HTTP/1.1 connections of a server, and which of them have a request in flight. */
class Http1Connections {
  readonly #requests = new Map<Socket, number>();
  readonly #ends = new WeakMap<Socket, number>();
  readonly #limits: PortLimits;

  constructor(server: NetServer, { limits, rejectHead }: PortOptions) {
    this.#limits = limits;
    server.on("clientError", (fault: NodeJS.ErrnoException, socket: Socket) =>
      rejectConnection(socket, fault, rejectHead),
    );
  }

  add(socket: Socket): void {
    this.#requests.set(socket, 0);
    this.#ends.set(socket, performance.now() + ageFrom(this.#limits));
    socket.once("close", () => this.#requests.delete(socket));
    // Node ends its side as well, and answers nothing any more.
    socket.once("end", () => destroySoon(socket));
  }

  /** Counts the requests of these connections on their way to a listener. */
  counting(onRequest: RequestListener): RequestListener {
    return (request, response) => {
      if (request.httpVersionMajor === 1) this.#count(request.socket, response as ServerResponse);
      onRequest(request, response);
    };
  }

  /** Ends connections without a request in flight, an unfinished head included. */
  destroyUnused(): void {
    for (const [socket, requests] of this.#requests) if (requests === 0) socket.destroy();
  }

  #count(socket: Socket, response: ServerResponse): void {
    const isOld = performance.now() >= (this.#ends.get(socket) ?? Number.POSITIVE_INFINITY);
    if (isOld) response.setHeader("connection", "close");
    if (!this.#requests.has(socket)) return;
    this.#requests.set(socket, this.#requests.get(socket)! + 1);
    response.once("close", () => {
      const requests = this.#requests.get(socket);
      if (requests !== undefined) this.#requests.set(socket, requests - 1);
    });
  }
}

/** Spread by a tenth either way, so that connections opened together do not close together. */
function ageFrom({ maxConnectionAgeMs }: PortLimits): number {
  return maxConnectionAgeMs * (0.9 + 0.2 * Math.random());
}

/** The last resort for a connection of either version that does not end when it is asked to. */
function destroyAfterAge(socket: Socket, { maxConnectionAgeMs, ageGraceMs }: PortLimits): void {
  const timer = setTimeout(() => socket.destroy(), 1.1 * maxConnectionAgeMs + ageGraceMs).unref();
  socket.once("close", () => clearTimeout(timer));
}

/** Says what is wrong with bytes that are no request, where the peer can still be told, and closes the connection. */
function rejectConnection(
  socket: Socket,
  fault: NodeJS.ErrnoException,
  rejectHead: PortOptions["rejectHead"],
): void {
  const isHandshake = "secureConnecting" in socket && socket.secureConnecting === true;
  if (isHandshake || !socket.writable || fault.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const { status, headers, body } = rejectHead(HEAD_FAULTS[fault.code ?? ""] ?? "malformed");
  const lines = Object.entries({
    ...headers,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    connection: "close",
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`, () =>
    socket.destroy(),
  );
  destroySoon(socket);
}

/** Destroys a socket that is ending: under TLS, one whose peer is gone may never finish by itself. */
function destroySoon(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), ENDING_MS);
  socket.once("close", () => clearTimeout(timer));
}

function closeServer(
  server: NetServer & { closeIdleConnections?(): void },
  connections: Connections,
  http1: Http1Connections,
  sessions: Sessions,
  limitMs: number,
): Promise<void> {
  return new Promise((resolve) => {
    const closeIdle = () => server.closeIdleConnections?.();
    const idle = setInterval(closeIdle, CLOSING_CHECK_MS);
    const unfinished = setTimeout(() => http1.destroyUnused(), CLOSING_HEAD_MS);
    const limit = setTimeout(() => connections.destroyAll(), limitMs);
    server.close(() => {
      clearInterval(idle);
      clearTimeout(unfinished);
      clearTimeout(limit);
      resolve();
    });
    closeIdle();
    sessions.closeAll();
  });
}

/** Reads a connection's first bytes and puts them back; destroys one that does not send enough of them in time. */
function identify(socket: Socket, timeoutMs: number, onKnown: (isHttp2: boolean) => void): void {
  const giveUp = () => socket.destroy();
  const timer = setTimeout(giveUp, timeoutMs);
  const stop = () => {
    clearTimeout(timer);
    socket.off("readable", look).off("error", giveUp).off("end", giveUp).off("close", stop);
  };
  let seen = Buffer.alloc(0);
  const look = () => {
    const bytes: Buffer | null = socket.read();
    if (!bytes) return;
    seen = Buffer.concat([seen, bytes]);
    const isPreface = PREFACE.subarray(0, seen.length).equals(seen.subarray(0, PREFACE.length));
    if (isPreface && seen.length < PREFACE.length) return;
    stop();
    socket.unshift(seen);
    onKnown(isPreface);
  };
  socket.on("readable", look).on("error", giveUp).on("end", giveUp).on("close", stop);
}
