import { request as httpRequest } from "node:http";
import { connect } from "node:http2";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { create, createRegistry, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { file_google_rpc_error_details } from "../../gen/ts/google/rpc/error_details_pb.ts";
import {
  AnalyzeImagesRequestSchema,
  type AnalyzeImagesResponse,
  AnalyzeImagesResponseSchema,
  FaceAnalysisService,
  Feature,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import type { RunningService } from "../../src/main.ts";
import { MAX_KEY_BYTES } from "../../src/service/face-analysis-service.ts";
import { photograph } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";
import { reasonOf } from "../support/typed-clients.ts";

type RequestInit = MessageInitShape<typeof AnalyzeImagesRequestSchema>;

/** What a stream answers to an image: the number of its faces, or the reason of its error. */
type Answer = readonly [key: string, result: number | string];

const SMALL = await sharp(photograph(3)).resize({ width: 480 }).jpeg().toBuffer();
const FACES = 3;
const BROKEN = SMALL.subarray(0, 500);
const HEADERS = { "x-api-key": USER };

let service: RunningService;

beforeAll(async () => {
  service = await startTestService({
    VISAGE_WORKERS: "2",
    VISAGE_MAX_IMAGE_BYTES: String(1024 * 1024),
    VISAGE_MAX_REQUEST_BYTES: String(2 * 1024 * 1024),
  });
});
afterAll(() => service.close());

/** Requests with the given images; every seventh is broken. */
async function* requests(count: number): AsyncGenerator<RequestInit> {
  for (let i = 0; i < count; i++) yield requestFor(`${i}`, i % 7 === 6 ? BROKEN : SMALL);
}

function requestFor(key: string, content: Uint8Array, features: Feature[] = []): RequestInit {
  return { key, request: { image: { source: { case: "content", value: content } }, features } };
}

type Stream = (messages: AsyncIterable<RequestInit>, signal: AbortSignal) => AsyncIterable<Answer>;

/** Streams requests over each protocol that can carry them, and returns the answers in their order. */
const STREAMS: Readonly<Record<string, Stream>> = {
  "gRPC (grpc-js)": streamGrpcJs,
  "gRPC (connect)": (messages, signal) =>
    answersOf(
      createClient(FaceAnalysisService, grpc()).analyzeImages(messages, { headers: HEADERS, signal }),
    ),
  "Connect binary": (messages, signal) =>
    answersOf(connectClient(true).analyzeImages(messages, { headers: HEADERS, signal })),
  "Connect JSON": (messages, signal) =>
    answersOf(connectClient(false).analyzeImages(messages, { headers: HEADERS, signal })),
  "JSON lines": streamJsonLines,
};

function grpc() {
  return createGrpcTransport({ baseUrl: `http://127.0.0.1:${service.port}` });
}

function connectClient(useBinaryFormat: boolean) {
  return createClient(
    FaceAnalysisService,
    createConnectTransport({
      baseUrl: `http://127.0.0.1:${service.port}`,
      httpVersion: "2",
      useBinaryFormat,
      jsonOptions: { registry: createRegistry(file_google_rpc_error_details) },
    }),
  );
}

async function* answersOf(responses: AsyncIterable<AnalyzeImagesResponse>): AsyncGenerator<Answer> {
  for await (const { key, result } of responses)
    yield [key, result.case === "response" ? result.value.faces.length : reasonOf(result.value!)];
}

function streamGrpcJs(messages: AsyncIterable<RequestInit>, signal: AbortSignal): AsyncIterable<Answer> {
  const client = new Client(`127.0.0.1:${service.port}`, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set("x-api-key", USER);
  const call = client.makeBidiStreamRequest(
    `/${FaceAnalysisService.typeName}/AnalyzeImages`,
    (message: RequestInit) =>
      Buffer.from(toBinary(AnalyzeImagesRequestSchema, create(AnalyzeImagesRequestSchema, message))),
    (bytes: Buffer) => fromBinary(AnalyzeImagesResponseSchema, bytes),
    metadata,
  );
  const send = async () => {
    for await (const message of messages)
      if (!call.write(message)) await new Promise((resolve) => call.once("drain", resolve));
    call.end();
  };
  send().catch((error: Error) => call.destroy(error));
  signal.addEventListener("abort", () => call.cancel());
  call.once("end", () => client.close());
  return answersOf(call as AsyncIterable<AnalyzeImagesResponse>);
}

async function* streamJsonLines(
  messages: AsyncIterable<RequestInit>,
  signal: AbortSignal,
): AsyncGenerator<Answer> {
  const lines = (async function* () {
    for await (const { key, request } of messages) {
      const content = request!.image!.source!.value as Uint8Array;
      yield `${JSON.stringify({ key, request: { image: { content: Buffer.from(content).toString("base64") } } })}\n`;
    }
  })();
  for await (const line of postLines(lines, signal)) {
    const { key, response, error } = JSON.parse(line);
    yield [key, response ? response.faces.length : error.reason];
  }
}

/** Posts lines over HTTP/1.1 and yields the lines of the response while it still sends. */
async function* postLines(lines: AsyncIterable<string>, signal?: AbortSignal): AsyncGenerator<string> {
  const options = {
    host: "127.0.0.1",
    port: service.port,
    path: "/v1/images:analyzeStream",
    method: "POST",
    headers: { ...HEADERS, "content-type": "application/x-ndjson" },
    signal,
  };
  const request = httpRequest(options);
  const response = new Promise<NodeJS.ReadableStream>((resolve, reject) =>
    request.once("response", resolve).once("error", reject),
  );
  const send = async () => {
    for await (const line of lines)
      if (!request.write(line)) await new Promise((resolve) => request.once("drain", resolve));
    request.end();
  };
  send().catch((error: Error) => request.destroy(error));
  request.flushHeaders();
  yield* createInterface({ input: await response });
}

async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const value of values) collected.push(value);
  return collected;
}

const WAIT = { timeout: 20_000 };

const idle = () =>
  vi.waitFor(() => {
    expect(service.pool.waiting).toBe(0);
    expect(service.pool.busy).toBe(0);
    expect(service.status()).toMatchObject({ requestsInFlight: 0, bodyBytes: 0 });
  }, WAIT);

describe.each(Object.entries(STREAMS))("over %s", (_, stream) => {
  test("every image has its answer, and broken ones fail alone", async () => {
    const answers = await collect(stream(requests(14), new AbortController().signal));
    const byKey = Object.fromEntries(answers);
    expect(answers).toHaveLength(14);
    for (let i = 0; i < 14; i++) expect(byKey[i], `${i}`).toBe(i % 7 === 6 ? "UNREADABLE_IMAGE" : FACES);
    await idle();
  });

  test("an answer comes before the next image is sent", async () => {
    let answered: () => void = () => {};
    const answers = stream(
      (async function* () {
        for (let i = 0; i < 3; i++) {
          const waiting = new Promise<void>((resolve) => {
            answered = resolve;
          });
          yield requestFor(`${i}`, SMALL);
          await waiting;
        }
      })(),
      new AbortController().signal,
    );
    const keys: string[] = [];
    for await (const [key] of answers) {
      keys.push(key);
      answered();
    }
    expect(keys).toEqual(["0", "1", "2"]);
  });

  test("a client that leaves stops the work", async () => {
    let sent = 0;
    const endless = async function* () {
      for (;;) yield requestFor(`${sent++}`, SMALL);
    };
    const leaving = new AbortController();
    const read = async () => {
      for await (const [key] of stream(endless(), leaving.signal)) if (key === "5") leaving.abort();
    };
    await expect(read()).rejects.toThrow();
    await idle();
  });
});

test("a stream waits for a client that does not read", async () => {
  const session = connect(`http://127.0.0.1:${service.port}`);
  const stream = session.request({
    ":method": "POST",
    ":path": `/${FaceAnalysisService.typeName}/AnalyzeImages`,
    "content-type": "application/grpc",
    te: "trailers",
    ...HEADERS,
  });
  stream.on("error", () => {});
  const message = create(
    AnalyzeImagesRequestSchema,
    requestFor("k", SMALL, [Feature.LANDMARKS, Feature.EMBEDDING]),
  );
  const envelope = encodeEnvelope(0, toBinary(AnalyzeImagesRequestSchema, message));
  let sent = 0;
  const send = () => {
    while (stream.write(envelope, () => sent++));
    stream.once("drain", send);
  };
  send();
  // The responses fill the flow-control window of 64 KiB after a dozen; then nothing moves any more.
  for (let quiet = 0; quiet < 10; quiet++) {
    if (service.pool.busy > 0 || sent === 0) quiet = 0;
    await delay(100);
  }
  expect(sent).toBeLessThan(200);
  const { bodyBytes, requestsInFlight } = service.status();
  expect(requestsInFlight).toBe(1);
  expect(bodyBytes).toBeLessThanOrEqual(5 * envelope.length);
  session.destroy();
  await idle();
});

test("many streams at the same time are served without a warning of Node", async () => {
  const warnings: Error[] = [];
  const listen = (warning: Error) => warnings.push(warning);
  process.on("warning", listen);
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let answered = 0;
  const streamOne = async () => {
    const one = async function* () {
      yield requestFor("", SMALL);
      await finished;
    };
    const client = createClient(FaceAnalysisService, grpc());
    for await (const _ of client.analyzeImages(one(), { headers: HEADERS })) answered++;
  };
  const streams = Array.from({ length: 20 }, streamOne);
  await vi.waitFor(() => expect(answered).toBe(20), { timeout: 20_000 });
  finish();
  await Promise.all(streams);
  process.off("warning", listen);
  expect(warnings).toEqual([]);
  await idle();
});

test("errors of the stream itself end it", async () => {
  const client = createClient(FaceAnalysisService, grpc());
  const unknown = client.analyzeImages(requests(1), { headers: { "x-api-key": "nobody" } });
  await expect(collect(unknown)).rejects.toMatchObject({ code: Code.Unauthenticated });
  const tooLarge = (async function* () {
    yield requestFor("0", SMALL);
    yield requestFor("1", Buffer.alloc(3 * 1024 * 1024));
  })();
  const error = await collect(client.analyzeImages(tooLarge, { headers: HEADERS })).catch(ConnectError.from);
  expect(error).toMatchObject({ code: Code.ResourceExhausted });
  await idle();
});

test("an image with a key that is too long fails alone", async () => {
  const messages = (async function* () {
    yield requestFor("k".repeat(MAX_KEY_BYTES + 1), SMALL);
    yield requestFor("k".repeat(MAX_KEY_BYTES), SMALL);
  })();
  const answers = await collect(STREAMS["gRPC (connect)"]!(messages, new AbortController().signal));
  expect(answers.map(([, result]) => result).toSorted()).toEqual([FACES, "BAD_REQUEST"]);
});

test("a line that is not a request fails alone, and blank lines are skipped", async () => {
  const image = SMALL.toString("base64");
  const lines = (async function* () {
    yield `not JSON\n\n`;
    yield `{"key":"text","request":{"image":"${image}"}}\r\n`;
    yield `{"key":"none"}\n`;
    yield `{"key":"last","request":{"image":{"content":"${image}"},"features":["FEATURE_QUALITY"]}}`;
  })();
  const answers = (await collect(postLines(lines))).map((line) => JSON.parse(line));
  const byKey = Object.fromEntries(answers.map((answer) => [answer.key, answer]));
  expect(answers).toHaveLength(4);
  expect(byKey[""].error).toMatchObject({
    code: 3,
    message: "Line 1: The body is not valid JSON.",
    reason: "BAD_REQUEST",
  });
  expect(byKey.text.response.faces).toHaveLength(FACES);
  expect(byKey.none.error.reason).toBe("BAD_REQUEST");
  expect(byKey.last.response.faces[0]).toMatchObject({ landmarks: [], quality: { usable: true } });
});
