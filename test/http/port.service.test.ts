import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseTrustedProxies } from "../../src/http/client-address.ts";
import { Connections } from "../../src/http/connections.ts";
import type { Request } from "../../src/http/exchange.ts";
import { createClearPort, type Port, type PortOptions } from "../../src/http/port.ts";
import { until } from "../support/until.ts";

const LIMITS = {
  firstByteMs: 700,
  headMs: 700,
  headBytes: 4_096,
  idleMs: 5_000,
  pingIdleMs: 60_000,
  pingBusyMs: 60_000,
  pingTimeoutMs: 60_000,
  streamsPerConnection: 10,
  streams: 100,
  pipelinedRequests: 10,
  resetMs: 100,
  maxConnectionAgeMs: 1_000,
  ageGraceMs: 2_000,
};

/** Responds with the version of HTTP. Requests for `/held` get no response. */
const OPTIONS: PortOptions = {
  onRequest: (request, response) => {
    request.resume();
    if (request.url === "/held") return;
    request.on("end", () => (response as { end(text: string): void }).end(`HTTP/${request.httpVersion}`));
  },
  rejectHead: (fault) => ({
    status: { malformed: 400, tooSlow: 408, headersTooLarge: 431 }[fault],
    headers: {},
    body: JSON.stringify({ fault }),
  }),
  onSessionError: () => {},
  connections: new Connections({ total: 100, perAddress: 100 }, [], () => {}),
  limits: LIMITS,
};

async function openPort(changes: Partial<PortOptions> = {}): Promise<{ port: Port; number: number }> {
  const port = createClearPort({ ...OPTIONS, ...changes });
  port.server.listen(0, "127.0.0.1");
  await once(port.server, "listening");
  return { port, number: (port.server.address() as { port: number }).port };
}

let port: Port;
let number: number;
beforeAll(async () => {
  ({ port, number } = await openPort());
});
afterAll(() => port.close(1_000));

/** Sends some bytes and reads everything until the server closes the connection. */
async function exchange(...pieces: readonly string[]): Promise<string> {
  const socket = connect(number, "127.0.0.1");
  await once(socket, "connect");
  for (const piece of pieces) {
    socket.write(piece);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  return readAll(socket);
}

async function readAll(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk;
  });
  await once(socket, "close");
  return text;
}

test("an HTTP/1.1 request is served, also in pieces", async () => {
  expect(await exchange("G", "ET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")).toMatch(
    /HTTP\/1\.1 200 OK[\s\S]*HTTP\/1\.1$/,
  );
  expect(
    await exchange("P", "OST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\nconnection: close\r\n\r\n", "ab"),
  ).toContain("200 OK");
});

test("HTTP/2 with prior knowledge is served on the same port, also if its preface arrives in pieces", async () => {
  const settings = "\x00\x00\x00\x04\x00\x00\x00\x00\x00";
  const received = await exchange("PRI * HT", `TP/2.0\r\n\r\nSM\r\n\r\n${settings}`);
  // The server's own settings frame: type 4 on stream 0.
  expect(received.slice(3, 9)).toBe("\x04\x00\x00\x00\x00\x00");
});

test("bytes that are not a request get an error response, and the connection is closed", async () => {
  expect(await exchange("this is no request\r\n\r\n")).toMatch(
    /^HTTP\/1\.1 400 [\s\S]*\{"fault":"malformed"\}$/,
  );
});

test("headers beyond the limit are rejected", async () => {
  const received = await exchange(`GET / HTTP/1.1\r\nx: ${"y".repeat(8_000)}\r\n\r\n`);
  expect(received).toMatch(/\{"fault":"headersTooLarge"\}$/);
});

test("a connection that sends nothing is closed", async () => {
  expect(await exchange()).toBe("");
});

test("a head that arrives too slowly is answered with 408, and the connection is destroyed", async () => {
  const socket = connect({ port: number, host: "127.0.0.1", allowHalfOpen: true });
  socket.write("GET / HTTP/1.1\r\nhost: a\r\n");
  let text = "";
  for await (const chunk of socket) text += chunk;
  expect(text).toMatch(/^HTTP\/1\.1 408 [\s\S]*\{"fault":"tooSlow"\}$/);
  // The client's side is still open: a server that only half-closed the connection would keep it.
  await expect.poll(() => port.connections()).toEqual({ http1: 0, http2: 0 });
  socket.destroy();
});

test("slow first bytes do not extend their time limit", async () => {
  const socket = connect(number, "127.0.0.1").on("error", () => {});
  await once(socket, "connect");
  // The whole preface would take twice the limit.
  const preface = [..."PRI * HTTP/2.0"];
  const sending = setInterval(() => socket.write(preface.shift() ?? " "), 100);
  // Not `once`, which rejects on an error: the server may reset the connection.
  await new Promise((resolve) => socket.once("close", resolve));
  clearInterval(sending);
  expect(preface.length).toBeGreaterThan(0);
});

test("at its maximum age an HTTP/1.1 connection closes with its next response, and an HTTP/2 session with GOAWAY", async () => {
  const socket = connect(number, "127.0.0.1");
  const sendRequest = () => socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  const responses = readAll(socket);
  sendRequest();
  await new Promise((resolve) => setTimeout(resolve, 1_300));
  sendRequest();
  const [, first, last] = (await responses).split("HTTP/1.1 200 OK");
  expect(first).toMatch(/connection: keep-alive/i);
  expect(last).toMatch(/connection: close/i);

  const session = connectHttp2(`http://127.0.0.1:${number}`);
  const start = performance.now();
  await once(session, "goaway");
  expect(performance.now() - start).toBeGreaterThan(800);
  session.destroy();
});

test("closing does not wait for a connection that has sent nothing", async () => {
  const other = await openPort({ limits: { ...LIMITS, firstByteMs: 3_600_000 } });
  const socket = connect(other.number, "127.0.0.1");
  await Promise.all([once(socket, "connect"), once(other.port.server, "connection")]);
  socket.on("error", () => {});
  await other.port.close(60_000);
  socket.destroy();
});

test("closing does not wait for an HTTP/2 client that keeps its side of the connection open", async () => {
  const { port: closing, number: address } = await openPort();
  const socket = connect({ port: address, host: "127.0.0.1", allowHalfOpen: true });
  // The connection preface and an empty SETTINGS frame.
  socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", "latin1");
  await once(socket, "data");
  socket.resume();
  await expect.poll(() => closing.connections().http2).toBe(1);
  const limit = setTimeout(() => expect.fail("The port waits for the client."), 20_000);
  await closing.close(60_000);
  clearTimeout(limit);
  socket.destroy();
});

test("a socket that is resumed and paused at once reads no more of a body than its request holds", async () => {
  let paused: Request | undefined;
  const { port, number } = await openPort({
    onRequest: (request) => {
      paused = request;
    },
  });
  const socket = connect(number, "127.0.0.1");
  socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 20000000\r\n\r\n");
  socket.write(Buffer.alloc(19_000_000));
  await until(
    () => paused?.socket.isPaused(),
    (isPaused) => isPaused === true,
    5_000,
  );
  paused!.socket.resume().pause();
  await sleep(200);
  expect(paused!.readableLength).toBeLessThan(200_000);
  socket.destroy();
  await port.close(100);
});

test("a connection with a request that never ends is destroyed after its maximum age and grace", async () => {
  const limits = { ...LIMITS, maxConnectionAgeMs: 300, ageGraceMs: 200 };
  const other = await openPort({
    limits,
    connections: new Connections({ total: 9, perAddress: 9 }, [], () => {}),
  });
  const socket = connect(other.number, "127.0.0.1").on("error", () => {});
  socket.write("GET /held HTTP/1.1\r\nhost: a\r\n\r\n");
  const session = connectHttp2(`http://127.0.0.1:${other.number}`).on("error", () => {});
  const stream = session.request({ ":path": "/held" }).on("error", () => {});
  await Promise.all([once(socket, "close"), once(stream, "close")]);
  await expect.poll(() => other.port.connections()).toEqual({ http1: 0, http2: 0 });
  await other.port.close(0);
});

test("an HTTP/2 connection without a request is closed when idle, even if it sends pings", async () => {
  const other = await openPort({ limits: { ...LIMITS, idleMs: 400, maxConnectionAgeMs: 60_000 } });
  const session = connectHttp2(`http://127.0.0.1:${other.number}`).on("error", () => {});
  const pings = setInterval(() => session.destroyed || session.ping(() => {}), 50);
  await once(session, "close");
  clearInterval(pings);
  await other.port.close(0);
});

test("an HTTP/2 peer that does not answer a ping is disconnected", async () => {
  const other = await openPort({
    limits: { ...LIMITS, pingIdleMs: 200, pingTimeoutMs: 1_000, pingBusyMs: 50, maxConnectionAgeMs: 60_000 },
  });
  const socket = connect(other.number, "127.0.0.1").on("error", () => {});
  socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", "latin1");
  socket.resume();
  await once(socket, "close");
  const session = connectHttp2(`http://127.0.0.1:${other.number}`);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(session.destroyed).toBe(false);
  session.destroy();
  await other.port.close(0);
});

test("connections beyond the limits are closed at once, and counted", async () => {
  const rejected: string[] = [];
  const connections = new Connections(
    { total: 4, perAddress: 3 },
    parseTrustedProxies("127.0.0.2"),
    (reason) => rejected.push(reason),
  );
  const other = await openPort({ connections });
  const sockets = Array.from({ length: 5 }, () => connect(other.number, "127.0.0.1").on("error", () => {}));
  const closed = Promise.all(sockets.slice(3).map((socket) => once(socket, "close")));
  await closed;
  expect(rejected).toEqual(["address", "address"]);
  const proxied = Array.from({ length: 2 }, () =>
    connect({ port: other.number, host: "127.0.0.1", localAddress: "127.0.0.2" }).on("error", () => {}),
  );
  await once(proxied[1]!, "close");
  expect(rejected).toEqual(["address", "address", "total"]);
  sockets[0]!.destroy();
  await expect.poll(() => connections.size).toBe(3);
  for (const socket of [...sockets, ...proxied]) socket.destroy();
  await other.port.close(0);
});
