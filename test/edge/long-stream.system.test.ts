import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  AnalyzeImagesRequestSchema,
  FaceAnalysisService,
  Feature,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { findUnavailable } from "../../tools/fuzz/edge/valid-calls.ts";
import { USER } from "../../tools/support/service-process.ts";
import { median } from "../../tools/support/statistics.ts";
import { type EdgeService, startEdgeService } from "../support/edge-service.ts";
import { jpegSegment, photograph, smallPortrait, withSegments } from "../support/images.ts";
import { reasonOf } from "../support/typed-clients.ts";
import { until } from "../support/until.ts";

const MIB = 1024 * 1024;
/** Set it to 10000 for a thorough test. */
const IMAGES = Number(process.env.LONG_STREAM_IMAGES ?? 1_000);
/** For a busy machine. */
const MAX_TEST_MS = 120_000 + 200 * IMAGES;
/** One image in so many is broken. */
const BROKEN_INTERVAL = 100;
const SAMPLE_INTERVAL = 10;
/** Memory of a process varies by this much from one garbage collection to the next. */
const MAX_GROWTH_MIB = 32;
const COMMENT = 0xfe;
const COMMENT_BYTES = 60_000;
const SLOW_CLIENTS = 8;
/** Images whose responses fit into the flow-control window and the buffers of a client that does not read. */
const MAX_UNREAD_IMAGES = 100;
const DROPPED_CLIENTS = 30;
/** For connections to the metrics port, and files that a service opens on demand. */
const SPARE_DESCRIPTORS = 6;

let service: EdgeService;
let photo: Buffer;
let portrait: Buffer;
let broken: Buffer;

beforeAll(async () => {
  const small = await sharp(photograph(3)).resize({ width: 320 }).jpeg().toBuffer();
  // Comments make each image 240 KB long, so that memory which keeps images grows fast.
  const comments = Array.from({ length: 4 }, () => jpegSegment(COMMENT, Buffer.alloc(COMMENT_BYTES, 0x55)));
  photo = withSegments(small, ...comments);
  const face = await smallPortrait();
  portrait = withSegments(face, ...comments);
  broken = portrait.subarray(0, -face.length / 2);
  // A busy machine must not reject images.
  service = await startEdgeService({ VISAGE_MAX_QUEUE_WAIT_MS: "60000" });
});
afterAll(() => service.stop("SIGKILL"));

function requestFor(key: string, content: Uint8Array, features: Feature[] = []) {
  return { key, request: { image: { source: { case: "content" as const, value: content } }, features } };
}

interface RawStream {
  readonly session: ClientHttp2Session;
  readonly stream: ClientHttp2Stream;
}

/** Opens a stream without a client library, which would read by itself. */
function openStream(): RawStream {
  const session = connect(`http://127.0.0.1:${service.port}`);
  session.on("error", () => {});
  const stream = session.request({
    ":method": "POST",
    ":path": `/${FaceAnalysisService.typeName}/AnalyzeImages`,
    "content-type": "application/grpc",
    te: "trailers",
    "x-api-key": USER,
  });
  stream.on("error", () => {});
  return { session, stream };
}

/** Sends the same image as fast as the service takes it. Returns how many bytes it has taken so far. */
function sendForever(stream: ClientHttp2Stream, features: Feature[]): () => number {
  const message = create(AnalyzeImagesRequestSchema, requestFor("", photo, features));
  const envelope = encodeEnvelope(0, toBinary(AnalyzeImagesRequestSchema, message));
  let taken = 0;
  const send = () => {
    stream.write(envelope, (error) => {
      if (error || stream.destroyed) return;
      taken += envelope.length;
      send();
    });
  };
  send();
  return () => taken;
}

interface Memory {
  readonly server: number;
  readonly worker: number;
}

/** Current memory of the server and of its worker in MiB. */
function memoryMib(): Memory {
  const { server, workers } = service.memoryByProcess("VmRSS");
  return { server: server / MIB, worker: workers[0]! / MIB };
}

/** How much the memory has grown from the second to the last quarter of the samples. */
function growthOf(samples: readonly Memory[]): Memory {
  const quarter = Math.floor(samples.length / 4);
  const growth = (name: keyof Memory) =>
    median(samples.slice(-quarter).map((sample) => sample[name])) -
    median(samples.slice(quarter, 2 * quarter).map((sample) => sample[name]));
  return { server: growth("server"), worker: growth("worker") };
}

/** Waits until the service holds nothing of its former requests. */
async function expectNothingLeft(maxDescriptors: number): Promise<void> {
  const read = async () => {
    const metrics = await service.metrics();
    return {
      requests: metrics.value("visage_requests_in_flight"),
      connections: metrics.value("visage_connections"),
      bodyBytes: metrics.value("visage_request_body_memory_bytes"),
      closeWait: service.closeWaitSockets(),
      hasSpareDescriptors: service.descriptors() <= maxDescriptors,
    };
  };
  const nothing = { requests: 0, connections: 0, bodyBytes: 0, closeWait: 0, hasSpareDescriptors: true };
  const isNothing = (open: object) => JSON.stringify(open) === JSON.stringify(nothing);
  expect(await until(read, isNothing, 10_000)).toEqual(nothing);
}

test("a long stream answers every image and needs no more memory at its end", {
  timeout: MAX_TEST_MS,
}, async () => {
  const requests = async function* () {
    for (let i = 0; i < IMAGES; i++)
      yield requestFor(`${i}`, i % BROKEN_INTERVAL === BROKEN_INTERVAL / 2 ? broken : portrait, [
        Feature.QUALITY,
      ]);
  };
  const baseUrl = `http://127.0.0.1:${service.port}`;
  const sessionManager = new Http2SessionManager(baseUrl);
  const client = createClient(FaceAnalysisService, createGrpcTransport({ baseUrl, sessionManager }));
  const keys = new Set<string>();
  const counts = { results: 0, errors: 0 };
  const samples: Memory[] = [];
  for await (const { key, result } of client.analyzeImages(requests(), { headers: { "x-api-key": USER } })) {
    keys.add(key);
    if (result.case === "response") {
      counts.results++;
      expect(result.value.faces.length).toBeGreaterThan(0);
    } else {
      counts.errors++;
      expect([Number(key) % BROKEN_INTERVAL, reasonOf(result.value!)]).toEqual([
        BROKEN_INTERVAL / 2,
        "UNREADABLE_IMAGE",
      ]);
    }
    if (keys.size % SAMPLE_INTERVAL === 0) samples.push(memoryMib());
  }
  sessionManager.abort();
  const errors = IMAGES / BROKEN_INTERVAL;
  expect(keys.size).toBe(IMAGES);
  expect(counts).toEqual({ results: IMAGES - errors, errors });
  const growth = growthOf(samples);
  expect(growth.server, "growth of the server in MiB").toBeLessThan(MAX_GROWTH_MIB);
  expect(growth.worker, "growth of the worker in MiB").toBeLessThan(MAX_GROWTH_MIB);
});

test("clients that do not read stop the service and not its memory", { timeout: 180_000 }, async () => {
  const before = memoryMib();
  const streams = Array.from({ length: SLOW_CLIENTS }, openStream);
  const taken = streams.map(({ stream }) => sendForever(stream, [Feature.LANDMARKS, Feature.EMBEDDING]));
  let open = SLOW_CLIENTS;
  for (const { stream } of streams) stream.once("close", () => open--);
  // The responses fill the flow-control windows. The service ends a stream after 30 s in which nothing was read.
  let peak = before.server;
  const waitUntilClosed = () => {
    peak = Math.max(peak, memoryMib().server);
    return open;
  };
  expect(await until(waitUntilClosed, (left) => left === 0, 150_000), "streams that are open").toBe(0);
  for (const { session } of streams) session.destroy();
  const images = taken.map((bytes) => bytes() / photo.length);
  expect(Math.min(...images), "images that each stream took").toBeGreaterThan(1);
  expect(Math.max(...images), "images that each stream took").toBeLessThan(MAX_UNREAD_IMAGES);
  expect(peak - before.server, "growth of the server in MiB").toBeLessThan(MAX_GROWTH_MIB);
  expect(await service.waitUntilIdle(10_000), "requests in flight").toBe(0);
});

test("connections that drop in the middle of a stream leave nothing behind", {
  timeout: 120_000,
}, async () => {
  await service.waitUntilIdle(10_000);
  const maxDescriptors = service.descriptors() + SPARE_DESCRIPTORS;
  const drop = async (index: number) => {
    const { session, stream } = openStream();
    sendForever(stream, []);
    // After its first response, other images of the stream are in the queue, in a worker and on the way.
    await once(stream, "data");
    if (index % 2 === 0) session.socket.resetAndDestroy();
    else session.destroy();
  };
  let index = 0;
  const lane = async () => {
    while (index < DROPPED_CLIENTS) await drop(index++);
  };
  await Promise.all(Array.from({ length: 10 }, lane));
  await expectNothingLeft(maxDescriptors);
  expect(await findUnavailable(service.port, USER, photo)).toEqual([]);
});
