import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Server as NetServer, Socket } from "node:net";
import { type AgeLimits, chooseMaxAgeMs, destroySoon, remainingAgeMs } from "./connections.ts";
import type { RequestListener } from "./exchange.ts";
import type { RequestStarts } from "./request-starts.ts";

/** Why received bytes never became an HTTP/1.1 request. */
export type HeadFault = "malformed" | "tooSlow" | "headersTooLarge";

/** The response to bytes that never became an HTTP/1.1 request. The body is JSON. */
export interface HeadRejection {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Makes that response. `url` is the target in the request line; undefined if it was not received with the fault. */
export type RejectHead = (fault: HeadFault, url: string | undefined) => HeadRejection;

/** A `clientError`. An error of the parser has the bytes that it read last. */
type ClientError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

/** Limits of HTTP/1.1 connections. */
export interface Http1Limits extends AgeLimits {
  /** For the head of a request. */
  readonly headMs: number;
  readonly headBytes: number;
  /** A connection without an open request is closed after this long. */
  readonly idleMs: number;
  /** Requests of one connection that are sent without waiting for responses. */
  readonly pipelinedRequests: number;
}

/** Options of the HTTP/1.1 connections of a server. */
export interface Http1ConnectionsOptions {
  readonly limits: Http1Limits;
  readonly starts: RequestStarts;
  readonly rejectHead: RejectHead;
}

/** Node's error codes for heads that have their own HTTP status; all other faults are "malformed". */
const HEAD_FAULTS: Readonly<Record<string, HeadFault>> = {
  ERR_HTTP_REQUEST_TIMEOUT: "tooSlow",
  HPE_HEADER_OVERFLOW: "headersTooLarge",
};

/** Options of a Node HTTP/1.1 server. */
export function http1OptionsFrom({ headMs, headBytes, idleMs }: Http1Limits) {
  return {
    headersTimeout: headMs,
    // Bodies have a deadline of their own, the same for both versions of HTTP.
    requestTimeout: 0,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: headBytes,
    // The head stage rejects a missing host itself, with the service's error body.
    requireHostHeader: false,
  };
}

/** Tracks the HTTP/1.1 connections of a server, their age and their requests in flight, and starts the requests. */
export class Http1Connections {
  readonly #requestsInFlight = new Map<Socket, number>();
  readonly #options: Http1ConnectionsOptions;

  /** Also answers the server's `clientError` events. */
  constructor(server: NetServer, options: Http1ConnectionsOptions) {
    this.#options = options;
    server.on("clientError", (error: ClientError, socket: Socket) =>
      rejectConnection(socket, error, options.rejectHead),
    );
  }

  add(socket: Socket): void {
    this.#requestsInFlight.set(socket, 0);
    chooseMaxAgeMs(socket, this.#options.limits);
    socket.once("close", () => this.#requestsInFlight.delete(socket));
    // Node ends its side too and answers nothing more.
    socket.once("end", () => destroySoon(socket));
    stopReadingWhilePaused(socket);
  }

  /** Wraps a listener so that the requests of these connections are counted and start in turn. */
  track(onRequest: RequestListener): RequestListener {
    return (request, response) => {
      if (request.httpVersionMajor !== 1) return onRequest(request, response);
      const { socket } = request;
      this.#trackRequest(request as IncomingMessage, response as ServerResponse);
      if (this.#requestsInFlight.get(socket)! > this.#options.limits.pipelinedRequests) socket.destroy();
      else
        this.#options.starts.add(socket, {
          isGone: () => socket.destroyed,
          start: () => onRequest(request, response),
        });
    };
  }

  /** Destroys the connections without a request in flight, also those that have sent a part of a head. */
  destroyUnused(): void {
    for (const [socket, requests] of this.#requestsInFlight) if (requests === 0) socket.destroy();
  }

  #trackRequest({ socket }: IncomingMessage, response: ServerResponse): void {
    if (remainingAgeMs(socket) <= 0) response.setHeader("connection", "close");
    if (!this.#requestsInFlight.has(socket)) return;
    this.#requestsInFlight.set(socket, this.#requestsInFlight.get(socket)! + 1);
    response.once("close", () => {
      const requests = this.#requestsInFlight.get(socket);
      if (requests !== undefined) this.#requestsInFlight.set(socket, requests - 1);
    });
  }
}

/**
 * Makes Node stop reading from a socket that was paused before its `resume` event. The event comes later than the call
 * of `resume()`, starts the reading, and no second `pause` event follows: the rest of the body would be kept in memory.
 */
function stopReadingWhilePaused(socket: Socket): void {
  const stopIfPaused = () => {
    if (socket.isPaused()) socket.emit("pause");
  };
  // Node's own listener starts the reading, so this comes after it.
  socket.on("resume", () => process.nextTick(stopIfPaused));
}

/** Answers bytes that are not a request with an error, if the peer can still read it, and closes the connection. */
function rejectConnection(socket: Socket, error: ClientError, rejectHead: RejectHead): void {
  const isHandshake = "secureConnecting" in socket && socket.secureConnecting === true;
  if (isHandshake || !socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const { status, headers, body } = rejectHead(
    HEAD_FAULTS[error.code ?? ""] ?? "malformed",
    urlFromBytes(error.rawPacket),
  );
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

/** Reads the target of the last request line. The request line may have come in an earlier packet than the fault. */
function urlFromBytes(bytes: Buffer | undefined): string | undefined {
  const lines = bytes?.toString("latin1").matchAll(/^[A-Z]+ (\S+)/gm) ?? [];
  return [...lines].at(-1)?.[1];
}
