import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { afterAll, describe, expect, test } from "vitest";
import { VALID_CALLS } from "../../tools/fuzz/edge/valid-calls.ts";
import { createSeedImages } from "../../tools/fuzz/seed-images.ts";
import { USER } from "../../tools/support/service-process.ts";
import { type EdgeService, type EdgeServiceOptions, startEdgeService } from "../support/edge-service.ts";
import { until } from "../support/until.ts";

const PER_ADDRESS = 512;
/** The limit for a first byte, a TLS handshake or a head, and the slack for a loaded machine. */
const HEAD_TIMEOUT_MS = 10_000;
const SLACK_MS = 15_000;

const services: EdgeService[] = [];
afterAll(() => Promise.all(services.map((service) => service.stop("SIGKILL"))));

async function start(
  settings: Readonly<Record<string, string>> = {},
  options: EdgeServiceOptions = {},
): Promise<EdgeService> {
  const service = await startEdgeService(settings, options);
  services.push(service);
  return service;
}

/** Services that are shared by the tests with few connections. */
let [clear, secure]: Promise<EdgeService>[] = [];
function shared(): Promise<EdgeService> {
  clear ??= start();
  return clear;
}
function sharedTls(): Promise<EdgeService> {
  secure ??= start({}, { tls: true });
  return secure;
}

/** A client connection and what it received. */
interface Client {
  readonly socket: Socket;
  received: string;
  /** Milliseconds from the start until the service closed its side. */
  endedMs: number | undefined;
}

const hasEnded = ({ endedMs }: Client) => endedMs !== undefined;

/** Connects, sends some bytes, and then does nothing, not even close when the service closes. */
async function openClient(port: number, bytes = ""): Promise<Client> {
  const start = performance.now();
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const client: Client = { socket, received: "", endedMs: undefined };
  const end = () => {
    client.endedMs ??= performance.now() - start;
  };
  socket.on("error", end).on("end", end).on("close", end);
  socket.on("data", (chunk) => {
    client.received += chunk.toString("latin1");
  });
  await Promise.race([once(socket, "connect"), once(socket, "close")]).catch(() => {});
  if (bytes && socket.writable) socket.write(bytes, "latin1");
  return client;
}

function openClients(port: number, count: number, bytes?: string): Promise<Client[]> {
  return Promise.all(Array.from({ length: count }, () => openClient(port, bytes)));
}

function destroyAll(clients: readonly Client[]): void {
  for (const { socket } of clients) socket.destroy();
}

async function readyStatus(port: number): Promise<number | string> {
  const options = { signal: AbortSignal.timeout(2_000), headers: { connection: "close" } };
  return fetch(`http://127.0.0.1:${port}/readyz`, options).then(({ status }) => status, String);
}

/** Whether the service still accepts bytes: a destroyed socket answers them with RST. */
async function isHalfOpen({ socket }: Client): Promise<boolean> {
  for (let attempt = 0; attempt < 5 && !socket.destroyed; attempt++) {
    socket.write("x");
    await sleep(100);
  }
  return !socket.destroyed;
}

describe.concurrent("connections", () => {
  test("from one address are limited to 512, and those beyond are closed at once", async ({ expect }) => {
    const service = await start();
    const before = await service.connections();
    const clients = await openClients(service.port, 600);
    await until(
      () => clients.filter(hasEnded).length,
      (count) => count >= 600 - PER_ADDRESS,
      SLACK_MS,
    );
    const open = clients.filter((client) => !hasEnded(client)).length;
    expect(open).toBeLessThanOrEqual(PER_ADDRESS);
    expect(open).toBeGreaterThan(PER_ADDRESS - 10);
    expect((await service.connections()) - before).toBeLessThanOrEqual(PER_ADDRESS);
    destroyAll(clients);
    expect(
      await until(
        () => readyStatus(service.port),
        (status) => status === 200,
        SLACK_MS,
      ),
    ).toBe(200);
    expect(service.isAlive).toBe(true);
  });

  test("of a trusted proxy count in the total only", async ({ expect }) => {
    const service = await start({ VISAGE_TRUSTED_PROXIES: "127.0.0.1" });
    const clients = await openClients(service.port, 600);
    expect(await readyStatus(service.port)).toBe(200);
    expect(clients.filter(hasEnded).length).toBe(0);
    destroyAll(clients);
  });

  test("up to the descriptor limit neither end the service nor lock out a new client", async ({ expect }) => {
    const service = await start({}, { maxDescriptors: 256 });
    const clients = await openClients(service.port, 300, "GET / HTTP/1.1\r\nHost: slow\r\n\r".slice(0, 30));
    const limitMs = HEAD_TIMEOUT_MS + SLACK_MS;
    expect(
      await until(
        () => readyStatus(service.port),
        (status) => status === 200,
        limitMs,
      ),
    ).toBe(200);
    expect(service.isAlive).toBe(true);
    expect(service.descriptors()).toBeLessThan(256);
    // Decoding, the account database and the worker need descriptors too.
    const [, photo] = await createSeedImages();
    const valid = VALID_CALLS["REST over HTTP/1.1"]!;
    expect(await valid(`http://127.0.0.1:${service.port}`, USER, photo!)).toBe(128);
    destroyAll(clients);
  });

  test.each([
    ["sends half a head", "GET /readyz HTTP/1.1\r\nHost: a\r\n", true],
    ["sends half a request line", "GET /rea", true],
    ["sends nothing", "", false],
    ["sends half a preface of HTTP/2", "PRI * HTTP/2.0\r\n\r", false],
  ])("of a client that %s are destroyed after 10 s", async (_name, bytes, isAnswered) => {
    const service = await shared();
    const client = await openClient(service.port, bytes);
    const endedMs = await until(
      () => client.endedMs,
      (ms) => ms !== undefined,
      HEAD_TIMEOUT_MS + SLACK_MS,
    );
    expect(endedMs, "the connection is still open").toBeDefined();
    expect(endedMs).toBeGreaterThan(HEAD_TIMEOUT_MS - 1_500);
    if (isAnswered) {
      expect(client.received).toMatch(/^HTTP\/1\.1 408 /);
      const [, body] = client.received.split("\r\n\r\n");
      expect(JSON.parse(body!)).toMatchObject({ code: "5004", success: false });
    }
    expect(await isHalfOpen(client), "the socket is half-closed only").toBe(false);
  });

  test("that never finish a TLS handshake are destroyed after 10 s", async ({ expect }) => {
    const service = await start({}, { tls: true });
    const before = service.descriptors();
    // A ClientHello that announces more bytes than it has.
    const hello = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
    const clients = [
      ...(await openClients(service.port, 20)),
      ...(await openClients(service.port, 20, hello)),
    ];
    const limitMs = HEAD_TIMEOUT_MS + SLACK_MS;
    expect(
      await until(
        () => clients.filter(hasEnded).length,
        (count) => count === 40,
        limitMs,
      ),
    ).toBe(40);
    const after = await until(
      () => service.descriptors(),
      (count) => count <= before,
      SLACK_MS,
    );
    expect(after).toBeLessThanOrEqual(before);
    destroyAll(clients);
  });

  test.each(["http/1.1", "h2"])(
    "under TLS that send nothing after the handshake (%s) are destroyed",
    async (protocol) => {
      const service = await sharedTls();
      const start = performance.now();
      let endedMs: number | undefined;
      const end = () => {
        endedMs ??= performance.now() - start;
      };
      const options = { port: service.port, host: "127.0.0.1", rejectUnauthorized: false };
      const socket = connectTls({ ...options, ALPNProtocols: [protocol] });
      socket.on("error", end).on("end", end).on("close", end).resume();
      await once(socket, "secureConnect");
      await until(
        () => endedMs,
        (ms) => ms !== undefined,
        HEAD_TIMEOUT_MS + SLACK_MS,
      );
      expect(endedMs, "the connection is still open").toBeDefined();
      socket.destroy();
    },
  );
});
