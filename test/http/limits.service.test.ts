import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  type IncomingHttpHeaders,
} from "node:http2";
import { connect as connectSocket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { FaceService, GetFaceVecRequestSchema } from "../../gen/ts/face/v1/face_pb.ts";
import { HealthCheckRequestSchema } from "../../gen/ts/grpc/health/v1/health_pb.ts";
import { FACES_PER_PART } from "../../src/core/parts.ts";
import { MAX_FACES } from "../../src/core/steps/selection.ts";
import { MAX_FETCHES, MAX_FETCHES_PER_CALLER } from "../../src/fetch/fetch-slots.ts";
import { defaultMaxConnections, LIMITS, MAX_CONNECTIONS } from "../../src/http/limits.ts";
import type { RunningService } from "../../src/main.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import * as PARSE_LIMITS from "../../src/rest/parse-limits.ts";
import { MAX_KEY_BYTES } from "../../src/service/face-analysis-service.ts";
import { photograph } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";

const MIB = 1024 * 1024;
const HEALTH = "/grpc.health.v1.Health/Check";
const VECTOR = "/face.v1.FaceService/GetFaceVec";

let service: RunningService;
let origin: string;
beforeAll(async () => {
  service = await startTestService();
  origin = `http://127.0.0.1:${service.port}`;
});
afterAll(() => service.close());

function openSession(authority = origin, localAddress = "127.0.0.1"): ClientHttp2Session {
  const { hostname: host, port } = new URL(authority);
  const session = connectHttp2(authority, {
    // Node's client resets its own streams when it has more to send than this.
    maxSessionMemory: 1_000,
    createConnection: () => connectSocket({ host, port: Number(port), localAddress }),
  }).on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}

/** Makes a gRPC call with these bytes as its body. Returns its status, from the headers or the trailers. */
async function callGrpc(
  path: string,
  body: Uint8Array,
  headers: Record<string, string> = {},
  session = openSession(),
): Promise<string | undefined> {
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  let status: string | undefined;
  const take = (received: IncomingHttpHeaders) => {
    status = (received["grpc-status"] as string | undefined) ?? status;
  };
  stream
    .on("response", take)
    .on("trailers", take)
    .on("error", () => {});
  stream.resume().end(body);
  await once(stream, "close");
  return status;
}

const [INVALID_ARGUMENT, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED] = ["3", "4", "8"];
const [UNIMPLEMENTED, UNAVAILABLE] = ["12", "14"];

describe("health and reflection", () => {
  test("accept messages of 4 KiB and no more", async () => {
    const message = (bytes: number) =>
      encodeEnvelope(
        0,
        toBinary(HealthCheckRequestSchema, create(HealthCheckRequestSchema, { service: "x".repeat(bytes) })),
      );
    // NOT_FOUND: the message was read.
    expect(await callGrpc(HEALTH, message(LIMITS.openMessageBytes - 10))).toBe("5");
    expect(await callGrpc(HEALTH, message(LIMITS.openMessageBytes + 10))).toBe(RESOURCE_EXHAUSTED);
  });

  test("accept no compression", async () => {
    const bomb = encodeEnvelope(1, gzipSync(Buffer.alloc(MIB)));
    expect(await callGrpc(HEALTH, bomb, { "grpc-encoding": "gzip" })).toBe(UNIMPLEMENTED);
  });

  const EMPTY = encodeEnvelope(0, new Uint8Array());
  const WATCH = HEALTH.replace("Check", "Watch");
  const REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";

  function openStream(session: ClientHttp2Session, path: string): ClientHttp2Stream {
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
    });
    stream.on("error", () => {}).write(EMPTY);
    if (path === WATCH) stream.end();
    return stream;
  }

  /** Opens a stream. Returns its gRPC status, which only a rejected stream has in its headers. */
  async function streamStatus(session: ClientHttp2Session, path: string): Promise<unknown> {
    const [headers] = (await once(openStream(session, path), "response")) as [IncomingHttpHeaders];
    return headers["grpc-status"];
  }

  /** Opens as many streams on each connection as one may have. Returns the statuses of all of them. */
  function fill(sessions: readonly ClientHttp2Session[], path: string): Promise<unknown[]> {
    const streams = Array.from({ length: LIMITS.openCallsPerConnection }, () => path);
    return Promise.all(sessions.flatMap((session) => streams.map((one) => streamStatus(session, one))));
  }

  describe.each([WATCH, REFLECTION])("%s", (path) => {
    test("allows 16 streams per connection", async () => {
      const session = openSession();
      const first = openStream(session, path);
      await once(first, "data");
      await Promise.all(
        Array.from({ length: LIMITS.openCallsPerConnection - 1 }, () => streamStatus(session, path)),
      );
      expect(await streamStatus(session, WATCH)).toBe(RESOURCE_EXHAUSTED);
      expect(await streamStatus(session, REFLECTION)).toBe(RESOURCE_EXHAUSTED);
      first.close();
      await expect.poll(() => streamStatus(session, path)).toBeUndefined();
    });

    test("allows 128 streams per address", async () => {
      const count = LIMITS.openCallsPerAddress / LIMITS.openCallsPerConnection;
      const statuses = await fill(
        Array.from({ length: count }, () => openSession()),
        path,
      );
      expect(statuses.filter((status) => status !== undefined)).toEqual([]);
      expect(await streamStatus(openSession(), path)).toBe(RESOURCE_EXHAUSTED);
      expect(await streamStatus(openSession(origin, "127.0.0.2"), path)).toBeUndefined();
    });

    test("allows 1,024 streams in total, of which a trusted proxy may have all", async () => {
      const proxied = await startTestService({ VISAGE_TRUSTED_PROXIES: "127.0.0.1" });
      onTestFinished(() => proxied.close());
      const open = () => openSession(`http://127.0.0.1:${proxied.port}`);
      const count = LIMITS.openStreams / LIMITS.openCallsPerConnection + 1;
      const statuses = await fill(Array.from({ length: count }, open), path);
      expect(statuses.filter((status) => status === UNAVAILABLE)).toHaveLength(LIMITS.openCallsPerConnection);
      // An orchestrator may still ask.
      expect(await callGrpc(HEALTH, EMPTY, {}, open())).toBe("0");
    });
  });

  test("forget the pipelined calls of a client that left", async () => {
    const head = `POST ${WATCH} HTTP/1.1\r\nHost: a\r\nContent-Type: application/grpc-web\r\nContent-Length: 5\r\n\r\n`;
    const request = Buffer.concat([Buffer.from(head), EMPTY]);
    const connections = 2 * (LIMITS.openCallsPerAddress / LIMITS.openCallsPerConnection);
    for (let i = 0; i < connections; i++) {
      const socket = connectSocket(service.port, "127.0.0.1");
      socket.write(Buffer.concat(Array(LIMITS.openCallsPerConnection).fill(request)));
      await once(socket, "data");
      socket.destroy();
    }
    await expect.poll(() => streamStatus(openSession(), WATCH)).toBeUndefined();
  });

  test("answer more calls at the same time than may be incomplete", async () => {
    const session = openSession();
    const calls = Array.from({ length: 4 * LIMITS.openCallsPerConnection }, () =>
      callGrpc(HEALTH, EMPTY, {}, session),
    );
    expect(new Set(await Promise.all(calls))).toEqual(new Set(["0"]));
  });

  test("allow 16 incomplete calls per connection", async () => {
    const session = openSession();
    for (let i = 0; i < LIMITS.openCallsPerConnection; i++)
      session
        .request({ ":method": "POST", ":path": HEALTH, "content-type": "application/grpc" })
        .on("error", () => {})
        .write(EMPTY);
    await expect.poll(() => callGrpc(HEALTH, EMPTY, {}, session)).toBe(RESOURCE_EXHAUSTED);
  });
});

describe("compressed requests of FaceService", () => {
  const messageOf = (content: Uint8Array) =>
    toBinary(
      GetFaceVecRequestSchema,
      create(GetFaceVecRequestSchema, { img: { source: { case: "content", value: content } } }),
    );

  test("are served", async () => {
    const body = encodeEnvelope(1, gzipSync(messageOf(photograph(3))));
    const headers = { user_id: USER, "grpc-encoding": "gzip" };
    expect(await callGrpc(VECTOR, body, headers)).toBe("0");
    const connect = await fetch(origin + VECTOR, {
      method: "POST",
      headers: { user_id: USER, "content-type": "application/proto", "content-encoding": "gzip" },
      body: new Uint8Array(gzipSync(messageOf(photograph(3)))),
    });
    expect(connect.status).toBe(200);
  });

  test.each([
    ["beyond the limit", gzipSync(Buffer.alloc(40 * MIB)), RESOURCE_EXHAUSTED],
    ["larger than they announce", gzipWithSize(30 * MIB, 100), INVALID_ARGUMENT],
    ["broken", Buffer.from("no gzip at all\x09\0\0\0"), INVALID_ARGUMENT],
  ])("are rejected %s", async (_, bytes, status) => {
    const headers = { user_id: USER, "grpc-encoding": "gzip" };
    expect(await callGrpc(VECTOR, encodeEnvelope(1, bytes), headers)).toBe(status);
  });

  test("are rejected in an unknown encoding, or without one", async () => {
    const body = encodeEnvelope(1, gzipSync(messageOf(photograph(3))));
    expect(await callGrpc(VECTOR, body, { user_id: USER, "grpc-encoding": "br" })).toBe(UNIMPLEMENTED);
    expect(await callGrpc(VECTOR, body, { user_id: USER })).toBe(INVALID_ARGUMENT);
  });

  /** Compresses zeros and writes another size into the gzip trailer. */
  function gzipWithSize(bytes: number, announced: number): Buffer {
    const packed = gzipSync(Buffer.alloc(bytes));
    packed.writeUInt32LE(announced, packed.length - 4);
    return packed;
  }
});

test("a unary call has exactly one message", async () => {
  const one = encodeEnvelope(0, new Uint8Array());
  const headers = { user_id: USER };
  for (const body of [new Uint8Array(), Buffer.concat([one, one]), Buffer.from([0, 0, 0, 0, 9, 1])])
    expect(await callGrpc(VECTOR, body, headers)).toBe(INVALID_ARGUMENT);
});

test("a large Connect JSON message is served like a small one, and rejected in gRPC", async () => {
  // More than 1 MiB of Base64: a photo followed by zeros.
  const content = Buffer.concat([photograph(3), Buffer.alloc(2 * MIB)]);
  const img = { source: { case: "content", value: content } as const };
  const transport = createConnectTransport({ baseUrl: origin, httpVersion: "2", useBinaryFormat: false });
  const { data } = await createClient(FaceService, transport).getFaceVec(
    { img, detail: true },
    { headers: { user_id: USER } },
  );
  const binary = await createClient(FaceService, createGrpcTransport({ baseUrl: origin })).getFaceVec(
    { img },
    { headers: { user_id: USER } },
  );
  expect(data!.vector).toEqual(binary.data!.vector);
  const json = toJsonString(GetFaceVecRequestSchema, create(GetFaceVecRequestSchema, { img }));
  const headers = { user_id: USER, "content-type": "application/grpc+json" };
  expect(await callGrpc(VECTOR, encodeEnvelope(0, Buffer.from(json)), headers)).toBe(RESOURCE_EXHAUSTED);
});

test("more parallel calls than streams do not end the connection", async () => {
  const session = openSession();
  await once(session, "remoteSettings");
  expect(session.remoteSettings.maxConcurrentStreams).toBe(LIMITS.streamsPerConnection);
  const statuses = await Promise.all(
    Array.from({ length: 3 * LIMITS.streamsPerConnection }, () =>
      callGrpc(VECTOR, Buffer.alloc(200_000), {}, session),
    ),
  );
  // Rejected by their heads while their bodies are still being sent: no user, or too many failed authentications.
  for (const status of statuses) expect(["8", "16"]).toContain(status);
  expect(session.destroyed).toBe(false);
});

test.each(["99999999H", "99999999M", "99999999S"])(
  "a deadline of %s does not overflow a timer",
  async (timeout) => {
    const body = encodeEnvelope(0, new Uint8Array());
    const headers = { user_id: USER, "grpc-timeout": timeout };
    expect(await callGrpc(VECTOR, body, headers)).toBe(INVALID_ARGUMENT);
    expect(await callGrpc(HEALTH, body, { "grpc-timeout": timeout })).toBe("0");
  },
);

test("a deadline that passes while the body is read ends the call", async () => {
  const session = openSession();
  const stream = session.request({
    ":method": "POST",
    ":path": VECTOR,
    "content-type": "application/grpc",
    user_id: USER,
    "grpc-timeout": "200m",
  });
  stream.on("error", () => {}).write(Buffer.from([0, 0, 0, 0, 9]));
  const [headers] = (await once(stream.resume(), "response")) as [IncomingHttpHeaders];
  expect(headers["grpc-status"]).toBe(DEADLINE_EXCEEDED);
});

test("the default number of connections is 64 less than the limit on open files, and at most 4,096", () => {
  const folder = mkdtempSync(join(tmpdir(), "visage-limits-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "limits");
  const withOpenFiles = (limit: string) => {
    writeFileSync(
      file,
      `Max processes             15000    15000    processes\nMax open files            ${limit}     524288   files\n`,
    );
    return defaultMaxConnections(file);
  };
  expect(withOpenFiles("1024")).toBe(1024 - 64);
  expect(withOpenFiles("10")).toBe(1);
  expect(withOpenFiles("524288")).toBe(MAX_CONNECTIONS.total);
  expect(defaultMaxConnections(join(folder, "no-such-file"))).toBe(MAX_CONNECTIONS.total);
});

/** How SECURITY.md writes each limit, by its first column. */
const DOCUMENTED: Readonly<Record<string, string>> = {
  connections: `${MAX_CONNECTIONS.total.toLocaleString("en")}, or the open-file limit less 64 (\`VISAGE_MAX_CONNECTIONS\`)`,
  "connections per client address": `${MAX_CONNECTIONS.perAddress} (\`VISAGE_MAX_CONNECTIONS_PER_ADDRESS\`)`,
  "time to the first byte or for the TLS handshake": seconds(LIMITS.firstByteMs),
  "headers of an HTTP/1.1 request": `${seconds(LIMITS.headMs)}, ${LIMITS.headBytes / 1024} KiB`,
  "idle time of a connection": seconds(LIMITS.idleMs),
  "silence of an HTTP/2 client": `${seconds(LIMITS.pingIdleMs)}, or ${seconds(LIMITS.pingBusyMs)} with open requests`,
  "time to answer a ping": seconds(LIMITS.pingTimeoutMs),
  "age of a connection": `\`VISAGE_MAX_CONNECTION_AGE_MS\` plus ${seconds(LIMITS.ageGraceMs)}`,
  "HTTP/2 streams per connection": String(LIMITS.streamsPerConnection),
  "HTTP/2 streams in total": LIMITS.streams.toLocaleString("en"),
  "HTTP/2 requests that a client address resets within 100 ms, beyond those that are answered": `${LIMITS.resets}, and ${LIMITS.resetsPerSecond} per second`,
  "HTTP/1.1 requests of one connection without a response": String(LIMITS.pipelinedRequests),
  "discarded rest of a rejected HTTP/1.1 body": `${LIMITS.discardBytes / MIB} MiB, ${seconds(LIMITS.discardMs)}`,
  "rest of a rejected HTTP/2 body, with more than half of the streams open": seconds(LIMITS.rejectedBodyMs),
  "time to receive a body": "`VISAGE_REQUEST_TIMEOUT_MS`, at least 10 s",
  "size of a body, before and after decompression": "`VISAGE_MAX_REQUEST_BYTES`",
  "size of all bodies in memory": "`VISAGE_MAX_BODY_BYTES_IN_FLIGHT`; half of it per user",
  "message to health or reflection": `${LIMITS.openMessageBytes / 1024} KiB, uncompressed`,
  "JSON message in gRPC and gRPC-Web": `${LIMITS.plainJsonBytes / MIB} MiB`,
  "time without a message on a stream": seconds(LIMITS.streamIdleMs),
  "images of one stream in progress": `${LIMITS.streamImagesPerWorker} per worker, at most ${LIMITS.streamImages}`,
  "wait of an image of a stream for the rate limit or the queue": seconds(LIMITS.streamImageWaitMs),
  "key of an image of a stream": `${MAX_KEY_BYTES.toLocaleString("en")} bytes`,
  "streams of health and reflection, and incomplete calls": `${LIMITS.openCallsPerConnection} per connection, ${LIMITS.openCallsPerAddress} per client address; ${LIMITS.openStreams.toLocaleString("en")} streams in total`,
  "deadline of a health or reflection call": `${LIMITS.clientDeadlineMs / 3_600_000} hours`,
  "time for the client to read a response": seconds(LIMITS.responseMs),
  "parts, fields and separators of a body or query": String(PARSE_LIMITS.MAX_FIELDS),
  "JSON outside image strings": `${PARSE_LIMITS.MAX_JSON_BYTES / 1024} KiB, ${PARSE_LIMITS.MAX_JSON_DEPTH} levels, ${PARSE_LIMITS.MAX_JSON_VALUES.toLocaleString("en")} values`,
  "text other than an image": `${PARSE_LIMITS.MAX_TEXT_BYTES / 1024} KiB`,
  "Protobuf message": `${PARSE_LIMITS.MAX_PROTOBUF_FIELDS.toLocaleString("en")} fields, no groups`,
  "boxes per request": String(PARSE_LIMITS.MAX_LIST_VALUES),
  "faces per image": String(MAX_FACES),
  "faces per part of a job": String(FACES_PER_PART),
  "wait for a worker (estimated), and of a search of a gallery for others": "`VISAGE_MAX_QUEUE_WAIT_MS`",
  "URL fetches in flight": `${MAX_FETCHES} in total, ${MAX_FETCHES_PER_CALLER} per user`,
};

function seconds(milliseconds: number): string {
  return `${milliseconds / 1000} s`;
}

test("SECURITY.md lists the limits as the code has them", () => {
  const text = readFileSync(join(PACKAGE_ROOT, "SECURITY.md"), "utf8");
  const rows = [...text.matchAll(/^\| ([^|]+?) \| ([^|]+?) \| [^|]+? \|$/gm)].slice(1);
  const written = Object.fromEntries(rows.map(([, what, limit]) => [what!, limit!]));
  expect(written).toEqual(DOCUMENTED);
});
