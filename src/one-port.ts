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

/** Limits on how long a peer may take and how much it may ask for at once. */
export interface PortLimits {
  /** A connection on which nothing happens is closed after this long. */
  readonly idleTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** A whole request must have arrived after this long. */
  readonly requestTimeoutMs: number;
  readonly maxHeaderBytes: number;
  readonly maxConcurrentStreams: number;
  /** A connection this old, give or take a tenth, is closed when its requests are answered: clients then spread anew. */
  readonly maxConnectionAgeMs: number;
}

/** Says in plain HTTP what is wrong with bytes that are no request, or came too slowly. */
export type UnreadableAnswer = (fault: "malformed" | "tooSlow" | "headersTooLarge") => {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** A port that speaks HTTP/1.1 and HTTP/2. */
export interface OnePort {
  readonly server: NetServer;
  /**
   * Ends all connections: at once those that are idle, the others when their requests are answered, but none
   * later than so long from now.
   */
  close(limitMs: number): Promise<void>;
  /** How many connections are open. */
  connections(): { readonly http1: number; readonly http2: number };
  /** Takes another certificate for connections to come; a port in clear has none. */
  renew?(credentials: Credentials): void;
}

/** A certificate and its key, both as PEM. */
export interface Credentials {
  readonly cert: string;
  readonly key: string;
}

type Listener = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
) => void;

/** Node's names for what it cannot read; all others are plain nonsense. */
const FAULTS: Readonly<Record<string, "tooSlow" | "headersTooLarge">> = {
  ERR_HTTP_REQUEST_TIMEOUT: "tooSlow",
  HPE_HEADER_OVERFLOW: "headersTooLarge",
};

/** How every HTTP/2 connection begins. */
const PREFACE = Buffer.from("PRI * HTTP/2.0");

/**
 * Hears of requests, also of those whose sender waits to be asked for the body: the listener has to call
 * `writeContinue` for one with the header `expect` whose body it wants.
 */
function listen(server: NetServer, onRequest: Listener): void {
  server.on("request", onRequest).on("checkContinue", onRequest);
}

/** Opens a port in clear for both versions of HTTP; what a connection speaks is known by its first bytes. */
export function createClearPort(
  onRequest: Listener,
  answerUnreadable: UnreadableAnswer,
  limits: PortLimits,
): OnePort {
  const http2 = createHttp2({ settings: settingsFrom(limits) });
  listen(http2, onRequest);
  const sessions = trackSessions(http2, limits);
  // The listening server is the one for HTTP/1.1: only then do its time-outs run.
  const server = createHttp1({ ...timeoutsFrom(limits), maxHeaderSize: limits.maxHeaderBytes });
  listen(server, retiring(onRequest, limits));
  answerClientErrors(server, answerUnreadable);
  const [acceptHttp1] = server.listeners("connection") as [(socket: Socket) => void];
  server.removeAllListeners("connection");
  const sockets = trackSockets(server);
  const silent = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    silent.add(socket);
    socket.on("close", () => silent.delete(socket));
    sniff(socket, limits.headersTimeoutMs, (isHttp2) => {
      silent.delete(socket);
      if (isHttp2) http2.emit("connection", socket);
      else acceptHttp1.call(server, socket);
    });
  });
  return {
    server,
    connections: () => ({ http1: sockets.size - sessions.size, http2: sessions.size }),
    close: (limitMs) => {
      const closed = closeServer(server, sockets, sessions, limitMs);
      // Clients open connections ahead of need; the server does not count those that have said nothing as idle.
      for (const socket of silent) socket.destroy();
      return closed;
    },
  };
}

/** Opens a port under TLS for both versions of HTTP; what a connection speaks is agreed on in its handshake. */
export function createTlsPort(
  onRequest: Listener,
  answerUnreadable: UnreadableAnswer,
  limits: PortLimits,
  credentials: Credentials,
): OnePort {
  const server = createSecureHttp2({
    ...credentials,
    allowHTTP1: true,
    handshakeTimeout: limits.headersTimeoutMs,
    settings: settingsFrom(limits),
  });
  listen(server, onRequest);
  // Its connections of HTTP/1.1 obey these, although its type does not tell.
  Object.assign(server, timeoutsFrom(limits));
  answerClientErrors(server, answerUnreadable);
  const sessions = trackSessions(server, limits);
  const sockets = trackSockets(server);
  return {
    server,
    connections: () => ({ http1: sockets.size - sessions.size, http2: sessions.size }),
    close: (limitMs) => closeServer(server, sockets, sessions, limitMs),
    renew: (renewed) => server.setSecureContext(renewed),
  };
}

function settingsFrom({ maxConcurrentStreams, maxHeaderBytes }: PortLimits) {
  return { maxConcurrentStreams, maxHeaderListSize: maxHeaderBytes };
}

function timeoutsFrom({ headersTimeoutMs, requestTimeoutMs, idleTimeoutMs }: PortLimits) {
  return {
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: idleTimeoutMs,
    connectionsCheckingInterval: 1_000,
  };
}

/** Follows the connections of HTTP/2: Node closes those that are silent, or all at the end, for HTTP/1.1 alone. */
function trackSessions(server: NetServer, limits: PortLimits): ReadonlySet<ServerHttp2Session> {
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session: ServerHttp2Session) => {
    sessions.add(session);
    session.setTimeout(limits.idleTimeoutMs, () => session.close());
    const old = setTimeout(() => session.close(), ageFrom(limits)).unref();
    session.on("close", () => {
      clearTimeout(old);
      sessions.delete(session);
    });
  });
  // A peer that breaks the protocol has its session closed by Node; there is nobody else to tell.
  server.on("sessionError", () => {});
  return sessions;
}

/** Tells the peer of a connection of HTTP/1.1 that is old, with an answer, that it was the last. */
function retiring(onRequest: Listener, limits: PortLimits): Listener {
  const ends = new WeakMap<object, number>();
  return (request, response) => {
    if (request.httpVersionMajor === 1) {
      const end = ends.get(request.socket) ?? performance.now() + ageFrom(limits);
      ends.set(request.socket, end);
      if (performance.now() >= end) response.setHeader("connection", "close");
    }
    onRequest(request, response);
  };
}

/** With some chance, so that connections opened together are not closed together. */
function ageFrom({ maxConnectionAgeMs }: PortLimits): number {
  return maxConnectionAgeMs * (0.9 + 0.2 * Math.random());
}

function answerClientErrors(server: NetServer, answerUnreadable: UnreadableAnswer): void {
  server.on("clientError", (fault: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable || fault.code === "ECONNRESET") return void socket.destroy();
    const { status, headers, body } = answerUnreadable(FAULTS[fault.code ?? ""] ?? "malformed");
    const lines = Object.entries({
      ...headers,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      connection: "close",
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`);
  });
}

function trackSockets(server: NetServer): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  return sockets;
}

/** How often connections of HTTP/1.1 are looked at that may have become idle. */
const IDLE_CHECK_MS = 100;

function closeServer(
  server: NetServer & { closeIdleConnections?(): void },
  sockets: ReadonlySet<Socket>,
  sessions: ReadonlySet<ServerHttp2Session>,
  limitMs: number,
): Promise<void> {
  return new Promise((resolve) => {
    const closeIdle = () => server.closeIdleConnections?.();
    const idle = setInterval(closeIdle, IDLE_CHECK_MS);
    const limit = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, limitMs);
    server.close(() => {
      clearInterval(idle);
      clearTimeout(limit);
      resolve();
    });
    closeIdle();
    for (const session of sessions) session.close();
  });
}

/** Looks at a connection's first bytes and puts them back; one that sends none in time is closed. */
function sniff(socket: Socket, timeoutMs: number, onKnown: (isHttp2: boolean) => void): void {
  const giveUp = () => socket.destroy();
  socket.setTimeout(timeoutMs, giveUp);
  socket.on("error", giveUp).on("end", giveUp);
  let seen = Buffer.alloc(0);
  const look = () => {
    const bytes: Buffer | null = socket.read();
    if (!bytes) return;
    seen = Buffer.concat([seen, bytes]);
    const isPreface = PREFACE.subarray(0, seen.length).equals(seen.subarray(0, PREFACE.length));
    if (isPreface && seen.length < PREFACE.length) return;
    socket.off("readable", look);
    socket.off("error", giveUp).off("end", giveUp).off("timeout", giveUp);
    socket.setTimeout(0);
    socket.unshift(seen);
    onKnown(isPreface);
  };
  socket.on("readable", look);
}
