import { once } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { parseTrustedProxies } from "../../src/http/client-address.ts";
import { Connections } from "../../src/http/connections.ts";
import type { Request, Response } from "../../src/http/exchange.ts";
import { LIMITS } from "../../src/http/limits.ts";
import { createClearPort } from "../../src/http/port.ts";
import {
  FLAG,
  FRAME,
  type HeaderList,
  headers,
  parseFrames,
  rstStream,
} from "../../tools/fuzz/edge/http2-frames.ts";
import { openSocket } from "../support/raw-http.ts";
import { http2Opening } from "../support/raw-post.ts";

const [PROTOCOL_ERROR, REFUSED_STREAM, ENHANCE_YOUR_CALM] = [1, 7, 11];
/** What may start between two turns that a test sees: it does not see them at the same point as the service. */
const MAX_STARTS = 32;

/** Waits as long as a busy machine may need. */
const eventually = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 20_000 });

/** A port that answers every request except those for `/held`, and what it has started. */
async function openPort({ trusted = "192.0.2.1", streams = LIMITS.streams as number } = {}) {
  const started: string[] = [];
  const rejected: string[] = [];
  const connections = new Connections(
    { total: 1_000, perAddress: 1_000 },
    parseTrustedProxies(trusted),
    (reason) => rejected.push(reason),
  );
  const port = createClearPort({
    onRequest: (request: Request, response: Response) => {
      started.push(request.url!);
      request.resume();
      if (request.url !== "/held") (response as { end(text: string): void }).end(request.url!);
    },
    rejectHead: () => ({ status: 400, headers: {}, body: "" }),
    onSessionError: () => {},
    connections,
    limits: { ...LIMITS, streams, maxConnectionAgeMs: 600_000 },
  });
  port.server.listen(0, "127.0.0.1");
  await once(port.server, "listening");
  onTestFinished(() => port.close(100));
  const { port: number } = port.server.address() as { port: number };
  return { number, started, rejected };
}

/** A client of HTTP/2 that sends frames as they are. */
class RawClient {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #nextStream = 1;
  isClosed = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("error", () => {});
    socket.on("data", (bytes: Buffer) => {
      this.#received = Buffer.concat([this.#received, bytes]);
    });
    socket.on("close", () => {
      this.isClosed = true;
    });
    onTestFinished(() => void socket.destroy());
  }

  /** Connects, and waits until the service has sent its settings. Throws if it closes the connection. */
  static async open(port: number): Promise<RawClient> {
    const client = new RawClient(await openSocket(port));
    client.write(http2Opening());
    await eventually(() => expect(client.isClosed || client.frames(FRAME.settings).length > 0).toBe(true));
    if (client.isClosed) throw new Error("The connection was closed.");
    return client;
  }

  write(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  get lastStream(): number {
    return this.#nextStream - 2;
  }

  /** Makes requests for these paths, each reset at once if `isReset`. */
  requests(paths: readonly string[], isReset = false): Buffer {
    return Buffer.concat(
      paths.map((path) => {
        const stream = this.#nextStream;
        this.#nextStream += 2;
        const list: HeaderList = [
          [":method", "GET"],
          [":scheme", "http"],
          [":path", path],
          [":authority", "a"],
        ];
        if (!isReset) return headers(stream, list, FLAG.endHeaders | FLAG.endStream);
        return Buffer.concat([headers(stream, list), rstStream(stream)]);
      }),
    );
  }

  frames(type: number) {
    return parseFrames(this.#received).filter((frame) => frame.type === type);
  }

  /** The error codes of the streams that the service has reset, or of the whole connection. */
  codes(type: typeof FRAME.rstStream | typeof FRAME.goAway): number[] {
    return this.frames(type).map(({ payload }) => payload.readUInt32BE(payload.length === 4 ? 0 : 4));
  }
}

const paths = (count: number, name = "") => Array.from({ length: count }, (_, i) => `/${name}${i}`);

const held = (count: number) => Array.from({ length: count }, () => "/held");

describe("requests that arrive in one packet", () => {
  test("start in order, a bounded number in each turn of the event loop", async () => {
    const { number, started } = await openPort();
    const client = await RawClient.open(number);
    const startedByTurn: number[] = [];
    const countTurn = () => {
      startedByTurn.push(started.length);
      if (started.length < 200) setImmediate(countTurn);
    };
    countTurn();
    client.write(client.requests(paths(200)));
    await eventually(() => expect(client.frames(FRAME.headers)).toHaveLength(200));
    expect(started).toEqual(paths(200));
    const perTurn = startedByTurn.map((count, i) => count - (startedByTurn[i - 1] ?? 0));
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(MAX_STARTS);
  });

  test("do not hold up those of other connections", async () => {
    const { number, started } = await openPort();
    const [many, one] = [await RawClient.open(number), await RawClient.open(number)];
    many.write(many.requests(paths(250)));
    one.write(one.requests(["/other"]));
    await eventually(() => expect(started).toHaveLength(251));
    expect(started.indexOf("/other")).toBeLessThan(200);
  });

  test("and are reset in it do not start", async () => {
    const { number, started } = await openPort();
    const client = await RawClient.open(number);
    client.write(client.requests(paths(120), true));
    client.write(client.requests(["/last"]));
    await eventually(() => expect(started).toContain("/last"));
    expect(started.length).toBeLessThanOrEqual(MAX_STARTS);
    // The same with the first packet of a connection.
    const next = new RawClient(await openSocket(number));
    next.write(Buffer.concat([http2Opening(), next.requests(paths(120), true), next.requests(["/next"])]));
    await eventually(() => expect(started).toContain("/next"));
    expect(started.length).toBeLessThanOrEqual(2 * MAX_STARTS);
  });

  test("and are reset in it with an error do not end the process", async () => {
    const { number, started } = await openPort();
    const client = new RawClient(await openSocket(number));
    const failed = paths(50).flatMap(() => {
      const [request, stream] = [client.requests(["/held"]), client.lastStream];
      return [request, rstStream(stream, PROTOCOL_ERROR)];
    });
    client.write(Buffer.concat([http2Opening(), ...failed, client.requests(["/last"])]));
    await eventually(() => expect(started).toContain("/last"));
  });

  test("over HTTP/1.1 are answered in order, up to 16", async () => {
    const { number, started } = await openPort();
    const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
    const socket = await openSocket(number);
    onTestFinished(() => void socket.destroy());
    let received = "";
    socket.on("data", (bytes: Buffer) => {
      received += bytes.toString();
    });
    socket.write(paths(LIMITS.pipelinedRequests).map(request).join(""));
    const bodies = () => [...received.matchAll(/\r\n\r\n(\/\d+)/g)].map(([, body]) => body);
    await eventually(() => expect(bodies()).toEqual(paths(LIMITS.pipelinedRequests)));
    socket.write(paths(1_000, "more").map(request).join(""));
    await once(socket, "close");
    expect(started.length).toBeLessThanOrEqual(2 * LIMITS.pipelinedRequests);
  });
});

describe("a client that resets its requests at once", () => {
  test("is disconnected, and its address rejected for a while", async () => {
    const { number, rejected } = await openPort();
    const client = await RawClient.open(number);
    client.write(client.requests(held(LIMITS.resets + 300), true));
    await eventually(() => expect(client.isClosed).toBe(true));
    expect(client.codes(FRAME.goAway)).toEqual([ENHANCE_YOUR_CALM]);
    while (!rejected.includes("resets")) {
      const socket = await openSocket(number);
      const next = new RawClient(socket);
      next.write(Buffer.concat([http2Opening(), next.requests(held(LIMITS.resets / 2), true)]));
      await once(socket, "close");
    }
    // An address that stops gets its allowance back.
    const later = await eventually(() => RawClient.open(number));
    later.write(later.requests(["/later"]));
    await eventually(() => expect(later.frames(FRAME.headers)).toHaveLength(1));
  });

  test("on many connections has one allowance for its address", async () => {
    const { number } = await openPort();
    const clients = await Promise.all(Array.from({ length: 20 }, () => RawClient.open(number)));
    for (const client of clients) client.write(client.requests(held(LIMITS.resets / 10), true));
    const closed = () => clients.filter(({ isClosed }) => isClosed).length;
    await eventually(() => expect(closed()).toBeGreaterThanOrEqual(5));
  });

  test("stays connected if as many requests are answered", async () => {
    const { number } = await openPort();
    const client = await RawClient.open(number);
    for (let answered = 100; answered <= 900; answered += 100) {
      client.write(client.requests(paths(100)));
      await eventually(() => expect(client.frames(FRAME.headers)).toHaveLength(answered));
      client.write(client.requests(paths(100), true));
    }
    client.write(client.requests(["/last"]));
    await eventually(() => expect(client.frames(FRAME.headers)).toHaveLength(901));
    expect(client.codes(FRAME.goAway)).toEqual([]);
  });

  test("stays connected if it is a trusted proxy, whose connections have many users", async () => {
    const { number, rejected } = await openPort({ trusted: "127.0.0.1" });
    const client = await RawClient.open(number);
    client.write(client.requests(held(LIMITS.resets + 300), true));
    client.write(client.requests(["/last"]));
    await eventually(() => expect(client.frames(FRAME.headers).length).toBeGreaterThan(0));
    expect([client.isClosed, rejected]).toEqual([false, []]);
  });
});

test("beyond the limit of streams of all connections, a connection has at most one", async () => {
  const { number, started } = await openPort({ streams: 20 });
  const [full, other] = [await RawClient.open(number), await RawClient.open(number)];
  full.write(full.requests(held(25)));
  await eventually(() => expect(full.codes(FRAME.rstStream)).toEqual(Array(5).fill(REFUSED_STREAM)));
  other.write(other.requests(held(2)));
  await eventually(() => expect(other.codes(FRAME.rstStream)).toEqual([REFUSED_STREAM]));
  expect(started).toHaveLength(21);
});
