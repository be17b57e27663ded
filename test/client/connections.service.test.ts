import { once } from "node:events";
import { createServer as createHttp1Server } from "node:http";
import {
  constants,
  createSecureServer,
  createServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { ConnectError } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { generate } from "selfsigned";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import {
  createVisageClient,
  type VisageClient,
  type VisageClientOptions,
  visageErrorFromCause,
} from "../../src/client/visage-client.ts";
import type { RunningService } from "../../src/main.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { listen as listenHttp1 } from "../support/image-server.ts";
import { startTestService, USER } from "../support/service.ts";

const { NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_INTERNAL_ERROR, NGHTTP2_REFUSED_STREAM } =
  constants;
/** As large as a photograph, but rejected by the service without inference. */
const NO_IMAGE = new Uint8Array(144_000);
const TINY = new Uint8Array(10);

function openClient(address: string, options: Partial<VisageClientOptions> = {}): VisageClient {
  const client = createVisageClient({ address, apiKey: USER, ...options });
  onTestFinished(() => client.close());
  return client;
}

describe("with a service", () => {
  let service: RunningService;
  let address: string;
  const lines: string[] = [];
  beforeAll(async () => {
    const log = createLog("info", {
      write: (line) => void lines.push(line),
      dropped: 0,
      flush: async () => {},
    });
    service = await startTestService({}, log);
    address = `http://127.0.0.1:${service.port}`;
  });
  afterAll(() => service.close());

  test("hundreds of parallel calls with large images and one signal are all answered", async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on("warning", onWarning);
    onTestFinished(() => void process.off("warning", onWarning));
    const { signal } = new AbortController();
    const client = openClient(address);
    const calls = Array.from({ length: 300 }, () => client.getFaceVec(NO_IMAGE, { signal }));
    const results = await Promise.allSettled(calls);
    const reasons = results.map((result) =>
      result.status === "rejected" ? result.reason.reason : "fulfilled",
    );
    expect(new Set(reasons)).toEqual(new Set(["UNSUPPORTED_FORMAT"]));
    expect(warnings).toEqual([]);
  });

  test("more large images than Node's default memory of a connection may be in flight", async () => {
    // The service answers without reading the images, so the answers arrive while the images wait to be sent.
    const { raw } = openClient(address, { apiKey: "unknown-user-of-tests" });
    const img = { source: { case: "content" as const, value: NO_IMAGE } };
    const results = await Promise.allSettled(Array.from({ length: 150 }, () => raw.getFaceVec({ img })));
    // The service also limits how often an address may fail to authenticate.
    for (const result of results)
      expect(visageErrorFromCause((result as PromiseRejectedResult).reason).reason).toMatch(
        /^(UNKNOWN_USER|TOO_MANY_REQUESTS)$/,
      );
  });

  test("a loopback URL, which the service does not fetch, is not retried", async () => {
    lines.length = 0;
    const call = openClient(address).getFaceVec({ url: "http://127.0.0.1/photo.jpg" });
    await expect(call).rejects.toMatchObject({ reason: "URL_UNREACHABLE", code: "2006", retryable: false });
    expect(lines.filter((line) => line.includes('"outcome":"URL_UNREACHABLE"'))).toHaveLength(1);
  });

  test("a service that is closed and an address without a scheme are named", async () => {
    const dead = openClient("http://localhost:1", { retries: 0 });
    await expect(dead.getFaceVec(TINY)).rejects.toMatchObject({
      reason: "UNREACHABLE",
      retryable: true,
      message: expect.stringContaining("ECONNREFUSED"),
    });
    expect(() => createVisageClient({ address: "localhost:8080" })).toThrow(
      'The address must be a URL such as http://localhost:8080, not "localhost:8080".',
    );
  });
});

/** Answers a call. */
const answer = connectNodeAdapter({
  routes: (router) =>
    router.service(FaceService, {
      getFaceVec: () => ({ data: { vector: Array.from({ length: 128 }, () => 0.5) } }),
    }),
});

type Handler = (request: Http2ServerRequest, response: Http2ServerResponse, connection: Socket) => void;

async function listen(server: Http2Server): Promise<number> {
  const sessions: { destroy(): void }[] = [];
  server.on("session", (session) => sessions.push(session));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Starts a server that fails the first calls, then answers. Returns its address and the number of calls. */
async function startFailingServer(failures: number, fail: Handler) {
  const calls = { count: 0 };
  const server = createServer((request, response) =>
    calls.count++ < failures ? fail(request, response, connections.at(-1)!) : answer(request, response),
  );
  const connections: Socket[] = [];
  server.on("connection", (connection: Socket) => connections.push(connection));
  return { address: `http://127.0.0.1:${await listen(server)}`, calls };
}

describe("a call is retried after", () => {
  test.each<[string, Handler]>([
    ["REFUSED_STREAM", (request) => request.stream.close(NGHTTP2_REFUSED_STREAM)],
    ["CANCEL by the service", (request) => request.stream.close(NGHTTP2_CANCEL)],
    ["INTERNAL_ERROR of HTTP/2", (request) => request.stream.close(NGHTTP2_INTERNAL_ERROR)],
    ["ENHANCE_YOUR_CALM", (request) => request.stream.close(NGHTTP2_ENHANCE_YOUR_CALM)],
    ["GOAWAY with an error", (request) => request.stream.session!.goaway(NGHTTP2_ENHANCE_YOUR_CALM, 0)],
    ["GOAWAY before the stream", ({ stream: { session } }) => session!.destroy(undefined, 0)],
    ["a lost connection", (_, __, connection) => void connection.destroy()],
    [
      "a lost connection during the response",
      ({ stream }, response) => {
        response.writeHead(200, { "content-type": "application/grpc+proto" });
        response.write(Buffer.from([0, 0, 0, 1, 0, 1]), () => stream.session!.destroy());
      },
    ],
    ["502 of a proxy", (_, response) => void response.writeHead(502).end("<html>")],
    ["503 of a proxy", (_, response) => void response.writeHead(503).end("<html>")],
  ])("%s", async (_, fail) => {
    const { address, calls } = await startFailingServer(2, fail);
    const { embedding } = await openClient(address).getFaceVec(TINY);
    expect(embedding).toHaveLength(128);
    expect(calls.count).toBe(3);
  });
});

test("a call is retried three times by default", async () => {
  const { address, calls } = await startFailingServer(
    99,
    (_, response) => void response.writeHead(503).end(),
  );
  await expect(openClient(address).getFaceVec(TINY)).rejects.toMatchObject({ reason: "UNREACHABLE" });
  expect(calls.count).toBe(4);
});

test.each<[string, Handler]>([
  ["401 of a proxy", (_, response) => void response.writeHead(401).end()],
  ["404 of another server", (_, response) => void response.writeHead(404).end()],
])("a call is not retried after %s", async (_, fail) => {
  const { address, calls } = await startFailingServer(9, fail);
  await expect(openClient(address).getFaceVec(TINY)).rejects.toMatchObject({
    reason: "UNREACHABLE",
    retryable: false,
  });
  expect(calls.count).toBe(1);
});

test("a server without HTTP/2 fails a call, and does not end the process when the client is closed", async () => {
  const server = createHttp1Server((_, response) => response.end("hello"));
  const closed = new Promise((resolve) => server.on("connection", (socket) => socket.on("close", resolve)));
  const { port } = await listenHttp1(server);
  const client = openClient(`http://127.0.0.1:${port}`);
  await expect(client.getFaceVec(TINY)).rejects.toMatchObject({ reason: "UNREACHABLE", retryable: false });
  client.close();
  // The session reports its error only now. Nobody would catch it, and Vitest would report it.
  await closed;
});

test("closing the client ends the calls in flight", async () => {
  const { address, calls } = await startFailingServer(9, () => {});
  const client = openClient(address);
  const results = Promise.allSettled(Array.from({ length: 40 }, () => client.getFaceVec(TINY)));
  await expect.poll(() => calls.count).toBe(8);
  client.close();
  for (const result of await results)
    expect(result).toMatchObject({ reason: { reason: "CANCELLED", retryable: false } });
  await expect(client.getFaceVec(TINY)).rejects.toMatchObject({ reason: "CANCELLED" });
});

describe("over TLS", () => {
  const subjects = (name: string) => [{ name: "commonName", value: name }];
  let serverPem: Awaited<ReturnType<typeof generate>>;
  let clientPem: Awaited<ReturnType<typeof generate>>;
  beforeAll(async () => {
    const extensions = [{ name: "subjectAltName", altNames: [{ type: 7, ip: "127.0.0.1" }] }];
    [serverPem, clientPem] = await Promise.all([
      generate(subjects("service"), { extensions } as never),
      generate(subjects("alice")),
    ]);
  });

  /** Starts a server that answers only clients with the certificate. Records the names in the certificates. */
  async function startSecureServer() {
    const names: string[] = [];
    const server = createSecureServer(
      {
        cert: serverPem.cert,
        key: serverPem.private,
        ca: clientPem.cert,
        requestCert: true,
        rejectUnauthorized: false,
      },
      (request, response) => {
        const { authorized, getPeerCertificate } = request.socket as never as {
          authorized: boolean;
          getPeerCertificate(): { subject?: { CN: string } };
        };
        names.push(authorized ? (getPeerCertificate.call(request.socket).subject?.CN ?? "") : "none");
        answer(request, response);
      },
    );
    return { address: `https://127.0.0.1:${await listen(server as never as Http2Server)}`, names };
  }

  test("the client trusts the given authority and presents its certificate", async () => {
    const { address, names } = await startSecureServer();
    const ca = serverPem.cert;
    await openClient(address, { ca }).getFaceVec(TINY);
    await openClient(address, {
      apiKey: undefined,
      ca: Buffer.from(ca),
      clientCertificate: clientPem.cert,
      clientKey: clientPem.private,
    }).getFaceVec(TINY);
    expect(names).toEqual(["none", "alice"]);
  });

  test("an unknown authority is not retried", async () => {
    const { address, names } = await startSecureServer();
    const error = await openClient(address)
      .getFaceVec(TINY)
      .catch((error: unknown) => error);
    expect(error).toMatchObject({ reason: "UNREACHABLE", retryable: false });
    expect((error as Error).message).toContain("self-signed certificate");
    expect((error as Error).cause).toBeInstanceOf(ConnectError);
    expect(names).toEqual([]);
  });
});
