import type { Http2Session, ServerHttp2Session } from "node:http2";
import type { Server as NetServer } from "node:net";
import { type AgeLimits, chooseMaxAgeMs } from "./connections.ts";

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
}

/** How often the silence of a peer is checked. */
const SILENCE_CHECK_MS = 1_000;

/** Options of a Node HTTP/2 server. */
export function http2OptionsFrom({ streamsPerConnection, headBytes }: Http2Limits) {
  return { settings: { maxConcurrentStreams: streamsPerConnection, maxHeaderListSize: headBytes } };
}

const openStreams = new WeakMap<Http2Session, number>();

/** The number of open streams of a session. */
export function countOpenStreams(session: Http2Session): number {
  return openStreams.get(session) ?? 0;
}

/** Tracks the HTTP/2 sessions of a server. Node enforces neither an idle timeout nor a maximum age for them. */
export class Http2Sessions {
  readonly #open = new Set<ServerHttp2Session>();
  readonly #limits: Http2Limits;

  /** `onError` is called when a peer breaks the protocol; Node has closed the session by then. */
  constructor(server: NetServer, limits: Http2Limits, onError: (error: Error) => void) {
    this.#limits = limits;
    server.on("session", (session: ServerHttp2Session) => this.#add(session));
    server.on("sessionError", onError);
  }

  get size(): number {
    return this.#open.size;
  }

  /** Sends GOAWAY on every session; each ends when its streams have ended. */
  closeAll(): void {
    for (const session of this.#open) session.close();
  }

  #add(session: ServerHttp2Session): void {
    const { idleMs, firstByteMs } = this.#limits;
    this.#open.add(session);
    // Every client sends SETTINGS right after the preface.
    const settings = setTimeout(() => session.destroy(), firstByteMs);
    session.once("remoteSettings", () => clearTimeout(settings));
    // Idle means no open stream, not no bytes: pings and unfinished heads must not keep a connection alive.
    let idle = setTimeout(() => session.destroy(), idleMs);
    session.on("stream", (stream) => {
      openStreams.set(session, countOpenStreams(session) + 1);
      clearTimeout(idle);
      stream.once("close", () => {
        openStreams.set(session, countOpenStreams(session) - 1);
        if (countOpenStreams(session) > 0 || session.destroyed) return;
        clearTimeout(idle);
        idle = setTimeout(() => session.close(), idleMs);
      });
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
