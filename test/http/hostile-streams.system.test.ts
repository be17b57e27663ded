import { once } from "node:events";
import { connect } from "node:http2";
import { gzipSync } from "node:zlib";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import sharp from "sharp";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import { AnalyzeImagesRequestSchema } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import type { RunningService } from "../../src/main.ts";
import {
  GRPC_PATH,
  grpcMessage,
  type ImageStreamOptions,
  imageLine,
  imageMessage,
  LINES_PATH,
  OPEN_STREAM,
} from "../support/image-streams.ts";
import { photograph } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";

const MIB = 1024 * 1024;
const MAX_REQUEST_BYTES = 2 * MIB;
const IMAGE = await sharp(photograph(3)).resize({ width: 480 }).jpeg().toBuffer();
const FACES = 3;

let service: RunningService;
beforeAll(async () => {
  service = await startTestService({ VISAGE_MAX_REQUEST_BYTES: String(MAX_REQUEST_BYTES) });
});
afterAll(() => service.close());
afterEach(() => {
  const isIdle = () => {
    expect(service.status()).toMatchObject({ requestsInFlight: 0, bodyBytes: 0 });
    expect([service.pool.busy, service.pool.waiting]).toEqual([0, 0]);
  };
  return vi.waitFor(isIdle, { timeout: 20_000 });
});

const open = (protocol: string, headers: ImageStreamOptions["headers"] = {}) => {
  const stream = OPEN_STREAM[protocol]!({ port: service.port, user: USER, headers });
  onTestFinished(() => stream.close());
  return stream;
};

const message = toBinary(
  AnalyzeImagesRequestSchema,
  create(AnalyzeImagesRequestSchema, imageMessage("1", IMAGE)),
);

/** An envelope with a length that need not be that of its content. */
function envelope(content: Uint8Array, flags: number, length = content.length): Buffer {
  const head = Buffer.alloc(5);
  head[0] = flags;
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, content]);
}

/** Gzip that announces another size than it has. */
function lyingGzip(content: Uint8Array, size: number): Buffer {
  const gzip = gzipSync(content);
  gzip.writeUInt32LE(size, gzip.length - 4);
  return gzip;
}

const GZIP = { "grpc-encoding": "gzip" };

describe("a gRPC stream", () => {
  test.each<[string, string, Uint8Array, Record<string, string>?]>([
    ["a message of 4 GiB is announced", "REQUEST_TOO_LARGE", envelope(message, 0, 0xffff_ffff)],
    ["a message is a byte too large", "REQUEST_TOO_LARGE", envelope(message, 0, MAX_REQUEST_BYTES + 1)],
    ["a message is incomplete", "BAD_REQUEST", envelope(message, 0, message.length + 1)],
    ["an envelope is incomplete", "BAD_REQUEST", Buffer.alloc(3)],
    ["an envelope has an unknown flag", "BAD_REQUEST", envelope(message, 0x40)],
    ["an envelope ends a Connect stream", "BAD_REQUEST", envelope(Buffer.from("{}"), 2)],
    ["a message is compressed in no encoding", "BAD_REQUEST", envelope(gzipSync(message), 1)],
    ["a message is not gzip", "BAD_REQUEST", envelope(Buffer.from("no gzip\0\0\0\0"), 1), GZIP],
    ["gzip is a bomb", "REQUEST_TOO_LARGE", envelope(gzipSync(Buffer.alloc(64 * MIB)), 1), GZIP],
    ["gzip is a bomb that lies", "BAD_REQUEST", envelope(lyingGzip(Buffer.alloc(64 * MIB), 10), 1), GZIP],
    ["a message is no Protobuf", "BAD_REQUEST", envelope(Buffer.alloc(1_000, 0xff), 0)],
    ["a key is not UTF-8", "BAD_REQUEST", envelope(Buffer.of(0x0a, 0x02, 0xff, 0xfe), 0)],
    ["a field has a wrong length", "BAD_REQUEST", envelope(Buffer.of(0x0a, 0x7f, 0x61), 0)],
    ["groups are nested deeply", "BAD_REQUEST", envelope(Buffer.alloc(1_000, 0x1b), 0)],
    ["fields are too many", "BAD_REQUEST", envelope(Buffer.alloc(20_000, Buffer.of(0x18, 0x00)), 0)],
  ])("answers the images before and ends with an error if %s", async (_, reason, bytes, headers) => {
    const stream = open("gRPC", headers);
    stream.send("0", IMAGE);
    stream.write(bytes);
    stream.end();
    expect(await stream.ended).toBe(reason);
    expect(stream.answers).toEqual([["0", FACES]]);
  });

  test("takes compressed messages", async () => {
    const stream = open("gRPC", GZIP);
    stream.write(envelope(gzipSync(message), 1));
    stream.send("0", IMAGE);
    stream.end();
    expect(await stream.ended).toBe("ok");
    expect(Object.fromEntries(stream.answers)).toEqual({ 0: FACES, 1: FACES });
  });

  test("in an unknown encoding is rejected", async () => {
    const stream = open("gRPC", { "grpc-encoding": "br" });
    stream.send("0", IMAGE);
    expect(await stream.ended).toBe("UNSUPPORTED_ENCODING");
  });
});

describe("JSON lines", () => {
  const nested = `{"key":"a","request":${"[".repeat(20)}${"]".repeat(20)}}`;
  test.each<[string, string | Uint8Array]>([
    ["text", "nonsense"],
    ["a list", "[]"],
    ["brackets", "[".repeat(50_000)],
    ["a number", "1e999"],
    ["null", "null"],
    ["nested deeply", nested],
    ["not UTF-8", Buffer.of(0x22, 0xff, 0xfe, 0x22)],
    ["a string with a bad escape", '{"key":"\\u00"}'],
    ["long and blank", " ".repeat(100_000)],
    ["a NUL", "\0"],
    ["a key of the wrong type", '{"key":[1],"request":{}}'],
    ["a request of the wrong type", '{"request":"image"}'],
    ["a huge key", `{"key":"${"k".repeat(60_000)}","request":{}}`],
  ])("a line that is %s fails alone", async (_, line) => {
    for (const protocol of ["JSON lines over HTTP/1.1", "JSON lines over HTTP/2"]) {
      const stream = open(protocol);
      stream.send("0", IMAGE);
      stream.write(line);
      stream.write("\n");
      stream.send("1", IMAGE);
      stream.end();
      expect(await stream.ended, protocol).toBe("ok");
      const results = stream.answers.map(([, result]) => result).toSorted();
      expect(results, protocol).toEqual([FACES, FACES, "BAD_REQUEST"]);
    }
  });

  test.each(["JSON lines over HTTP/1.1", "JSON lines over HTTP/2"])(
    "a line without end is rejected once it is too large, over %s",
    async (protocol) => {
      const stream = open(protocol);
      stream.send("0", IMAGE);
      const part = Buffer.alloc(64 * 1024, "[");
      let isOver = false;
      const send = () => {
        while (!isOver && stream.write(part));
        if (!isOver) stream.onDrain(send);
      };
      send();
      expect(await stream.ended).toBe("REQUEST_TOO_LARGE");
      isOver = true;
      expect(stream.answers).toEqual([["0", FACES]]);
    },
  );
});

test.each(Object.keys(OPEN_STREAM))("a message may arrive byte by byte, over %s", async (protocol) => {
  const tiny = await sharp(photograph(3)).resize({ width: 60 }).blur(8).jpeg().toBuffer();
  const bytes =
    protocol === "gRPC" ? grpcMessage(imageMessage("0", tiny)) : Buffer.from(imageLine("0", tiny));
  const stream = open(protocol);
  for (const byte of bytes) stream.write(Buffer.of(byte));
  stream.end();
  expect(await stream.ended).toBe("ok");
  expect(stream.answers).toEqual([["0", 0]]);
});

describe("the RPC of the stream", () => {
  test.each([
    ["gRPC-Web", "application/grpc-web+proto", /gRPC-Web cannot carry this method/],
    ["unary Connect over HTTP/1.1", "application/json", /This method needs HTTP\/2/],
    ["Connect over HTTP/1.1", "application/connect+proto", /This method needs HTTP\/2/],
    ["gRPC over HTTP/1.1", "application/grpc", /This method needs HTTP\/2/],
  ])("rejects %s with a clear error", async (_, type, text) => {
    const response = await fetch(`http://127.0.0.1:${service.port}${GRPC_PATH}`, {
      method: "POST",
      headers: { "x-api-key": USER, "content-type": type },
      body: encodeEnvelope(0, message).slice(),
    });
    const body = await response.text();
    expect(`${decodeURIComponent(response.headers.get("grpc-message") ?? "")}${body}`).toMatch(text);
  });

  test.each(["GET", "HEAD", "PUT", "DELETE"])("rejects %s", async (method) => {
    for (const path of [GRPC_PATH, LINES_PATH]) {
      const headers = { "x-api-key": USER };
      const response = await fetch(`http://127.0.0.1:${service.port}${path}`, { method, headers });
      await response.arrayBuffer();
      expect([response.status, response.headers.get("allow")], path).toEqual([405, "POST, OPTIONS"]);
    }
  });

  test.each([
    ["a field of the wrong type", '{"key":5}', "BAD_REQUEST"],
    ["no JSON", "{", "BAD_REQUEST"],
    ["a message nested deeply", `{"request":${"[".repeat(5_000)}}`, "BAD_REQUEST"],
    ["a message above 1 MiB", JSON.stringify({ key: "k".repeat(MIB) }), "REQUEST_TOO_LARGE"],
  ])("over Connect with JSON ends with an error for %s", async (_, json, reason) => {
    const session = connect(`http://127.0.0.1:${service.port}`);
    onTestFinished(() => session.destroy());
    const stream = session.request({
      ":method": "POST",
      ":path": GRPC_PATH,
      "content-type": "application/connect+json",
      "x-api-key": USER,
    });
    const parts: Buffer[] = [];
    stream.on("data", (part: Buffer) => parts.push(part)).end(encodeEnvelope(0, Buffer.from(json)));
    await once(stream, "close");
    const { error } = JSON.parse(Buffer.concat(parts).subarray(5).toString());
    const info = error.details.find(({ type }: { type: string }) => type === ErrorInfoSchema.typeName);
    expect(fromBinary(ErrorInfoSchema, Buffer.from(info.value, "base64")).reason).toBe(reason);
  });
});
