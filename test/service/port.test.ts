import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClearPort, type OnePort } from "../../src/one-port.ts";

const LIMITS = {
  idleTimeoutMs: 5_000,
  headersTimeoutMs: 700,
  requestTimeoutMs: 1_500,
  maxHeaderBytes: 4_096,
  maxConcurrentStreams: 10,
  maxConnectionAgeMs: 1_000,
};

let port: OnePort;
let number: number;
beforeAll(async () => {
  port = createClearPort(
    (request, response) => {
      request.resume();
      request.on("end", () => (response as { end(text: string): void }).end(`HTTP/${request.httpVersion}`));
    },
    (fault) => ({ status: fault === "tooSlow" ? 408 : 400, headers: {}, body: JSON.stringify({ fault }) }),
    LIMITS,
  );
  port.server.listen(0, "127.0.0.1");
  await once(port.server, "listening");
  number = (port.server.address() as { port: number }).port;
});
afterAll(() => port.close(1_000));

/** All that a server says to some bytes until it hangs up or has been silent for a while. */
async function answerTo(...pieces: readonly string[]): Promise<string> {
  const socket = connect(number, "127.0.0.1");
  await once(socket, "connect");
  for (const piece of pieces) {
    socket.write(piece);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  return textOf(socket);
}

async function textOf(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk;
  });
  await Promise.race([once(socket, "close"), new Promise((resolve) => setTimeout(resolve, 4_000))]);
  socket.destroy();
  return text;
}

test("a request of HTTP/1.1 is served, also in pieces", async () => {
  expect(await answerTo("G", "ET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")).toMatch(
    /HTTP\/1\.1 200 OK[\s\S]*HTTP\/1\.1$/,
  );
  expect(
    await answerTo("P", "OST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\nconnection: close\r\n\r\n", "ab"),
  ).toContain("200 OK");
});

test("HTTP/2 with prior knowledge is served on the same port, also when its preface comes in pieces", async () => {
  const settings = "\x00\x00\x00\x04\x00\x00\x00\x00\x00";
  const answer = await answerTo("PRI * HT", `TP/2.0\r\n\r\nSM\r\n\r\n${settings}`);
  // The server's own settings frame: type 4 on stream 0.
  expect(answer.slice(3, 9)).toBe("\x04\x00\x00\x00\x00\x00");
});

test("nonsense is answered in the envelope's way and the connection closed", async () => {
  expect(await answerTo("this is no request\r\n\r\n")).toMatch(
    /^HTTP\/1\.1 400 [\s\S]*\{"fault":"malformed"\}$/,
  );
});

test("headers beyond the limit are refused", async () => {
  const answer = await answerTo(`GET / HTTP/1.1\r\nx: ${"y".repeat(8_000)}\r\n\r\n`);
  expect(answer).toMatch(/\{"fault":"headersTooLarge"\}$/);
});

test("a connection that sends nothing is closed", async () => {
  const start = Date.now();
  expect(await answerTo()).toBe("");
  expect(Date.now() - start).toBeLessThan(3_500);
});

test("headers and bodies that come too slowly are answered 408", async () => {
  expect(await answerTo("GET / HTTP/1.1\r\nhost: a\r\n")).toMatch(
    /^HTTP\/1\.1 408 [\s\S]*\{"fault":"tooSlow"\}$/,
  );
  expect(await answerTo("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nabc")).toMatch(
    /^HTTP\/1\.1 408 /,
  );
});

test("an old connection is closed with its last answer, and an old session of HTTP/2 by itself", async () => {
  const socket = connect(number, "127.0.0.1");
  const ask = () => socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  const answers = textOf(socket);
  ask();
  await new Promise((resolve) => setTimeout(resolve, 1_300));
  ask();
  const [, first, last] = (await answers).split("HTTP/1.1 200 OK");
  expect(first).toMatch(/connection: keep-alive/i);
  expect(last).toMatch(/connection: close/i);

  const session = connectHttp2(`http://127.0.0.1:${number}`);
  const start = performance.now();
  await once(session, "goaway");
  expect(performance.now() - start).toBeGreaterThan(800);
  session.destroy();
});

test("closing does not wait for a connection that has said nothing", async () => {
  const other = createClearPort(
    (_, response) => (response as { end(): void }).end(),
    () => ({ status: 400, headers: {}, body: "" }),
    { ...LIMITS, headersTimeoutMs: 3_600_000, requestTimeoutMs: 3_600_000 },
  );
  other.server.listen(0, "127.0.0.1");
  await once(other.server, "listening");
  const socket = connect((other.server.address() as { port: number }).port, "127.0.0.1");
  await Promise.all([once(socket, "connect"), once(other.server, "connection")]);
  socket.on("error", () => {});
  await other.close(1_000);
  socket.destroy();
});
