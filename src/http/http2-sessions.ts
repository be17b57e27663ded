import { constants, type Http2Session, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Server as NetServer } from "node:net";
import { type AgeLimits, type Connections, chooseMaxAgeMs } from "./connections.ts";
import type { RequestListener } from "./exchange.ts";
import type { RequestStarts } from "./request-starts.ts";

/** Limits of HTTP/2 connections. */
export interface Http2Limits extends AgeLimits {
  /** From the connection preface to the client's SETTINGS frame. */
  readonly firstByteMs: number;
  readonly headBytes: number;
  /** A connection without an open stream is closed after this long. */
  readonly idleMs: number;
  /** A peer that is silent for this long gets a PING: with no open stream, and with some. */
  readonly pingIdleMs: number;
  readonly pingBusyMs: number;
  /** A peer that stays silent for this long after a PING is considered gone. */
  readonly pingTimeoutMs: number;
  readonly streamsPerConnection: number;
  /** Beyond so many streams of all connections, a connection with an open stream gets no other one. */
  readonly streams: number;
  /** A request that is reset this soon counts in the limit of its client's address. */
  readonly resetMs: number;
}

/** Options of the sessions of a server. */
export interface Http2SessionsOptions {
  readonly limits: Http2Limits;
  readonly connections: Connections;
  readonly starts: RequestStarts;
  /** Called when a peer breaks the protocol; Node has closed the session by then. */
  readonly onSessionError: (error: Error) => void;
}

/** How often the silence of a peer is checked. */
const SILENCE_CHECK_MS = 1_000;

/** Options of a Node HTTP/2 server. */
export function http2OptionsFrom({ streamsPerConnection, headBytes }: Http2Limits) {
  return { settings: { maxConcurrentStreams: streamsPerConnection, maxHeaderListSize: headBytes } };
}

/** Node emits a stream with its headers, flags and raw headers. */
type StreamListener = (this: Http2Session, stream: ServerHttp2Stream, ...head: unknown[]) => void;

const openStreams = new WeakMap<Http2Session, number>();

/** The number of open streams of a session. */
export function countOpenStreams(session: Http2Session): number {
  return openStreams.get(session) ?? 0;
}

/**
 * Tracks the HTTP/2 sessions of a server and starts their requests. Node enforces neither an idle timeout nor a maximum
 * age for sessions.
 */
export class Http2Sessions {
  /** The sessions with the address that each counts for. */
  readonly #open = new Map<Http2Session, string | undefined>();
  readonly #options: Http2SessionsOptions;
  readonly #limits: Http2Limits;
  readonly #startedMs = new WeakMap<ServerHttp2Stream, number>();
  #streams = 0;

  constructor(server: NetServer, options: Http2SessionsOptions) {
    this.#options = options;
    this.#limits = options.limits;
    server.on("session", (session: ServerHttp2Session) => this.#add(session));
    server.on("sessionError", options.onSessionError);
  }

  get size(): number {
    return this.#open.size;
  }

  /** Sends GOAWAY on every session; each ends when its streams have ended. */
  closeAll(): void {
    for (const session of this.#open.keys()) session.close();
  }

  /** Wraps a listener so that the requests of these sessions start in turn. */
  track(onRequest: RequestListener): RequestListener {
    return (request, response) => {
      if (!("stream" in request)) return onRequest(request, response);
      const { stream } = request;
      this.#options.starts.add(stream.session ?? stream, {
        isGone: () => stream.destroyed,
        start: () => {
          this.#startedMs.set(stream, performance.now());
          onRequest(request, response);
        },
      });
    };
  }

  /** Counts a stream that has ended. */
  #countStream(session: Http2Session, stream: ServerHttp2Stream): void {
    const startedMs = this.#startedMs.get(stream);
    const isEarly = startedMs === undefined || performance.now() - startedMs < this.#limits.resetMs;
    this.#countEnd(session, stream.headersSent ? "answered" : isEarly ? "reset" : "canceled");
  }

  #isFull(session: Http2Session): boolean {
    return this.#streams >= this.#limits.streams && countOpenStreams(session) > 0;
  }

  /** Counts a stream that has ended. Ends the session of a client that resets too many. */
  #countEnd(session: Http2Session, outcome: "answered" | "reset" | "canceled"): void {
    const { resets } = this.#options.connections;
    const address = this.#open.get(session);
    // The streams of a session that has ended were not reset one by one.
    if (address === undefined || session.destroyed) return;
    if (outcome === "answered") resets.recordAnswer(address);
    else if (outcome === "reset" && !resets.takeReset(address))
      session.destroy(new Error("Too many requests were reset."), constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  #add(session: ServerHttp2Session): void {
    const { idleMs, firstByteMs } = this.#limits;
    this.#open.set(session, this.#options.connections.addressOf(session.socket));
    // Every client sends SETTINGS right after the preface.
    const settings = setTimeout(() => session.destroy(), firstByteMs);
    session.once("remoteSettings", () => clearTimeout(settings));
    // Idle means no open stream, not no bytes: pings and unfinished heads must not keep a connection alive.
    let idle = setTimeout(() => session.destroy(), idleMs);
    // Node's own listener creates a request and a response for a stream and passes them on.
    const [serve] = session.listeners("stream") as [StreamListener];
    session.removeAllListeners("stream");
    session.on("stream", (stream, ...head) => {
      // Before a request is created, nothing else listens. Every error is followed by `close`.
      stream.on("error", () => {});
      // Reset in the packet that it came in.
      if (stream.destroyed) return this.#countEnd(session, "reset");
      if (this.#isFull(session)) return stream.close(constants.NGHTTP2_REFUSED_STREAM);
      openStreams.set(session, countOpenStreams(session) + 1);
      this.#streams++;
      clearTimeout(idle);
      stream.once("close", () => {
        openStreams.set(session, countOpenStreams(session) - 1);
        this.#streams--;
        this.#countStream(session, stream);
        if (countOpenStreams(session) > 0 || session.destroyed) return;
        clearTimeout(idle);
        idle = setTimeout(() => session.close(), idleMs);
      });
      serve.call(session, stream, ...head);
    });
    const stopPings = destroyWhenSilent(session, this.#limits);
    const age = setTimeout(() => session.close(), chooseMaxAgeMs(session, this.#limits));
    session.once("close", () => {
      this.#open.delete(session);
      for (const timer of [settings, idle, age]) clearTimeout(timer);
      stopPings();
    });
  }
}

/**
 * Pings a silent peer and destroys the session when the peer stays silent. Node misses some lost peers: after a
 * protocol error it stops reading and keeps the socket, even when the peer has closed it. Any received byte counts as a
 * sign of life, because the PING acknowledgement may queue behind a large body. Returns a function that stops the
 * checks.
 */
function destroyWhenSilent(
  session: ServerHttp2Session,
  { pingIdleMs, pingBusyMs, pingTimeoutMs }: Http2Limits,
): () => void {
  let bytesRead = 0;
  let silentSinceMs = performance.now();
  let pingedAtMs: number | undefined;
  const check = () => {
    if (session.destroyed) return;
    const nowMs = performance.now();
    const { bytesRead: newBytesRead } = session.socket;
    if (newBytesRead !== bytesRead) {
      bytesRead = newBytesRead;
      silentSinceMs = nowMs;
      pingedAtMs = undefined;
    } else if (pingedAtMs !== undefined) {
      if (nowMs - pingedAtMs >= pingTimeoutMs) session.destroy();
    } else if (nowMs - silentSinceMs >= (countOpenStreams(session) > 0 ? pingBusyMs : pingIdleMs)) {
      pingedAtMs = nowMs;
      // A closing session sends no pings; the timeout still applies.
      if (!session.closed) session.ping(() => {});
    }
  };
  const interval = setInterval(check, Math.min(SILENCE_CHECK_MS, pingBusyMs / 2));
  return () => clearInterval(interval);
}
