import { createServer as createHttp1 } from "node:http";
import { createServer as createHttp2, createSecureServer as createSecureHttp2 } from "node:http2";
import type { Server as NetServer, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { type Connections, destroyAfterAge, destroySoon } from "./connections.ts";
import type { RequestListener } from "./exchange.ts";
import {
  Http1Connections,
  type Http1Limits,
  http1OptionsFrom,
  type RejectHead,
} from "./http1-connections.ts";
import { type Http2Limits, Http2Sessions, http2OptionsFrom } from "./http2-sessions.ts";
import { RequestStarts } from "./request-starts.ts";
import type { TlsCredentials } from "./tls-credentials.ts";

/** Limits on how long a peer may take and how much it may send at once. */
export interface PortLimits extends Http1Limits, Http2Limits {
  /** From the connection's start to its first byte; also for the TLS handshake. */
  readonly firstByteMs: number;
}

/** Options of a port. */
export interface PortOptions {
  readonly onRequest: RequestListener;
  /** Makes the response to bytes that never became an HTTP/1.1 request. */
  readonly rejectHead: RejectHead;
  /** Called when an HTTP/2 connection ends because its peer broke the protocol. */
  readonly onSessionError: (error: Error) => void;
  readonly connections: Connections;
  readonly limits: PortLimits;
}

/** A port that speaks HTTP/1.1 and HTTP/2. */
export interface Port {
  readonly server: NetServer;
  /** Closes idle connections now, others when their requests are answered, and all of them after `limitMs`. */
  close(limitMs: number): Promise<void>;
  /** The number of open connections by version of HTTP. */
  connections(): { readonly http1: number; readonly http2: number };
  /** Uses other credentials for new connections. Only a TLS port has this method. */
  renew?(credentials: TlsCredentials): void;
}

/** The first bytes of every HTTP/2 connection. */
const PREFACE = Buffer.from("PRI * HTTP/2.0");

/** While a port closes: the interval between closing idle HTTP/1.1 connections, and the time for unfinished heads. */
const CLOSING_CHECK_MS = 100;
const CLOSING_HEAD_MS = 5_000;

/** Creates a cleartext port for both versions of HTTP; the first bytes of a connection decide which it speaks. */
export function createClearPort(options: PortOptions): Port {
  const { connections, limits } = options;
  const http2 = createHttp2(http2OptionsFrom(limits));
  // The HTTP/1.1 server is the one that listens: only then does Node enforce its timeouts.
  const server = createHttp1(http1OptionsFrom(limits));
  const [acceptHttp1] = server.listeners("connection") as [(socket: Socket) => void];
  server.removeAllListeners("connection");
  const starts = new RequestStarts();
  const http1 = new Http1Connections(server, { ...options, starts });
  const sessions = new Http2Sessions(http2, { ...options, starts });
  listen(http2, sessions.track(options.onRequest));
  listen(server, http1.track(options.onRequest));
  const undetected = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    if (!connections.accept(socket)) return;
    destroyAfterAge(socket, limits);
    undetected.add(socket);
    socket.once("close", () => undetected.delete(socket));
    detectProtocol(socket, limits.firstByteMs, (isHttp2) => {
      undetected.delete(socket);
      if (isHttp2) {
        // Sockets of an HTTP/1.1 server stay half open when the peer ends; the HTTP/2 server expects otherwise.
        socket.allowHalfOpen = false;
        // A session ends its socket and leaves it to the client to close the connection.
        socket.once("finish", () => destroySoon(socket));
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
      for (const socket of undetected) socket.destroy();
      return closeServer(server, connections, http1, sessions, limitMs);
    },
  };
}

/** Creates a TLS port for both versions of HTTP; ALPN decides which one a connection speaks. */
export function createTlsPort(options: PortOptions, credentials: TlsCredentials): Port {
  const { connections, limits } = options;
  const server = createSecureHttp2({
    ...credentials,
    // A client without a trusted certificate may have a key, and probes need neither; admission decides.
    requestCert: credentials.ca !== undefined,
    rejectUnauthorized: false,
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
  const starts = new RequestStarts();
  const http1 = new Http1Connections(server, { ...options, starts });
  server.prependListener("secureConnection", (socket: TLSSocket) => {
    if (socket.alpnProtocol === "h2") socket.once("finish", () => destroySoon(socket));
    else http1.add(socket);
  });
  const sessions = new Http2Sessions(server, { ...options, starts });
  listen(server, http1.track(sessions.track(options.onRequest)));
  return {
    server,
    connections: () => ({ http1: connections.size - sessions.size, http2: sessions.size }),
    close: (limitMs) => closeServer(server, connections, http1, sessions, limitMs),
    renew: (renewed) => server.setSecureContext(renewed),
  };
}

/**
 * Requests with `Expect: 100-continue` are passed on too: the listener calls `writeContinue` once it wants the body. So
 * are those with another expectation, which a server may ignore: Node would answer 417 without a body.
 */
function listen(server: NetServer, onRequest: RequestListener): void {
  server.on("request", onRequest).on("checkContinue", onRequest).on("checkExpectation", onRequest);
}

/** Reads a connection's first bytes and puts them back. Destroys a connection that does not send enough in time. */
function detectProtocol(socket: Socket, timeoutMs: number, onDetected: (isHttp2: boolean) => void): void {
  const giveUp = () => socket.destroy();
  const timer = setTimeout(giveUp, timeoutMs);
  const stop = () => {
    clearTimeout(timer);
    socket.off("readable", read).off("error", giveUp).off("end", giveUp).off("close", stop);
  };
  let received = Buffer.alloc(0);
  const read = () => {
    const bytes: Buffer | null = socket.read();
    if (!bytes) return;
    received = Buffer.concat([received, bytes]);
    const isPreface = PREFACE.subarray(0, received.length).equals(received.subarray(0, PREFACE.length));
    if (isPreface && received.length < PREFACE.length) return;
    stop();
    socket.unshift(received);
    onDetected(isPreface);
  };
  socket.on("readable", read).on("error", giveUp).on("end", giveUp).on("close", stop);
}

function closeServer(
  server: NetServer & { closeIdleConnections?(): void },
  connections: Connections,
  http1: Http1Connections,
  sessions: Http2Sessions,
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
