// HTTP/1.1 requests with a body: contradictory framing, chunks, Expect, pipelining, truncation, RPC envelopes.
import { gzipSync } from "node:zlib";
import { galleryRequest } from "./gallery-requests.ts";
import { head, someUser } from "./http1-requests.ts";
import { envelope } from "./http2-frames.ts";
import { STREAM_LINES_PATH, STREAM_RPC_PATH, streamLines, streamMessages } from "./image-streams.ts";
import {
  HEALTH_CHECK,
  json,
  MULTIPART_TYPE,
  multipart,
  OPERATIONS,
  PATHS,
  REFLECTION,
  RPC_TYPES,
  TIMEOUTS,
} from "./requests.ts";
import { finish, type Generator, type Step, write } from "./script.ts";

// biome-ignore format: a table
const FRAMINGS: readonly (readonly string[])[] = [
  ["Content-Length: 5", "Transfer-Encoding: chunked"], ["Transfer-Encoding: chunked", "Content-Length: 0"],
  ["Content-Length: 5", "Content-Length: 6"], ["Content-Length: 5", "Content-Length: 5"], ["Content-Length: 5, 5"],
  ["Content-Length: -1"], ["Content-Length: +5"], ["Content-Length: 0x5"], ["Content-Length: 5.0"], ["Content-Length: "],
  ["Content-Length: 99999999999999999999"], ["Content-Length: 4294967296"], ["Content-Length: 33554433"],
  ["Content-Length: 2147483648"], ["Transfer-Encoding: gzip, chunked"], ["Transfer-Encoding: chunked, gzip"],
  ["Transfer-Encoding: chunked, chunked"], ["Transfer-Encoding: identity"], ["Transfer-Encoding: xchunked"],
  ["Transfer-Encoding:\x0bchunked"], ["Transfer-Encoding : chunked"], ["Transfer-Encoding: ChUnKeD"], [" Transfer-Encoding: chunked"],
  ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"], ["TE: trailers", "Transfer-Encoding: chunked"],
];

/** Content-Length and Transfer-Encoding that contradict each other or themselves. */
export const framing: Generator = (random, fixtures) => {
  const lines = [
    "Host: a",
    ...someUser(random, fixtures),
    ...random.pick(FRAMINGS),
    "Content-Type: application/json",
  ];
  const body = random.pick([
    "",
    "hello",
    "5\r\nhello\r\n0\r\n\r\n",
    "hello5\r\nhello\r\n0\r\n\r\n",
    "0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
  ]);
  return [...write(random, head(`POST ${random.pick(PATHS)} HTTP/1.1`, lines), body), ...finish(random)];
};

/** A valid request in chunks, with one fault in the chunked framing. */
export const chunked: Generator = (random, fixtures) => {
  const operation = random.pick(OPERATIONS);
  const body = multipart(operation, fixtures.photo);
  const lines = [
    "Host: a",
    ...someUser(random, fixtures),
    `Content-Type: ${MULTIPART_TYPE}`,
    "Transfer-Encoding: chunked",
  ];
  const pieces: (Uint8Array | string)[] = [];
  for (let at = 0; at < body.length; ) {
    const length = 1 + random.below(1_000);
    const piece = body.subarray(at, at + length);
    pieces.push(
      `${piece.length.toString(16)}${random.pick(["", "", "", ";x=y", ';x="\r"', " "])}\r\n`,
      piece,
      "\r\n",
    );
    at += length;
  }
  const last = random.pick([
    "0\r\n\r\n",
    "0\r\n\r\n",
    "0\r\nx: y\r\n\r\n",
    "0\r\ncontent-length: 1\r\n\r\n",
    "00000000\r\n\r\n",
    "0\r\n",
    "-1\r\n",
    "",
  ]);
  // biome-ignore format: a table
  const faults = [
    "ffffffffffffffff\r\n", "g\r\n", "\r\n", "\n", "5", "0x5\r\nhello\r\n", "7fffffff\r\n", "1\r\nab\r\n", "\0", ` ${"0".repeat(500)}1\r\na\r\n`,
    `1;${"e".repeat(20_000)}\r\na\r\n`, "0\r\n\r\n",
  ];
  if (random.below(2) === 0) pieces.splice(random.below(pieces.length + 1), 0, random.pick(faults));
  return [
    ...write(random, head(`POST ${operation.path} HTTP/1.1`, lines), ...pieces, last),
    ...finish(random),
  ];
};

/** `Expect: 100-continue`: the client sends its body after or before the interim response, or disconnects. */
export const expectContinue: Generator = (random, fixtures) => {
  const operation = random.pick(OPERATIONS);
  const body = multipart(operation, fixtures.photo);
  const length = random.pick([body.length, body.length, 0, 99_999_999]);
  const lines = [
    "Host: a",
    ...someUser(random, fixtures),
    `Content-Type: ${MULTIPART_TYPE}`,
    `Expect: ${random.pick(["100-continue", "100-continue", "100-Continue", "200-ok", ""])}`,
    random.below(4) === 0 ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`,
  ];
  const path = random.pick([operation.path, operation.rpcPath, random.pick(PATHS)]);
  const steps = write(random, head(`POST ${path} HTTP/1.1`, lines));
  if (random.below(3) === 0) return [...steps, random.pick<Step>(["reset", "close", "halfClose"])];
  return [...steps, { awaitResponseMs: random.pick([0, 20]) }, ...write(random, body), ...finish(random)];
};

/** Several requests on one connection, all sent at once. */
export const pipeline: Generator = (random, fixtures) => {
  const requests = Array.from({ length: 2 + random.below(12) }, () => {
    const operation = random.pick(OPERATIONS);
    const body = multipart(operation, fixtures.photo);
    const post = (length: number) =>
      head(`POST ${operation.path} HTTP/1.1`, [
        "Host: a",
        ...someUser(random, fixtures),
        `Content-Type: ${MULTIPART_TYPE}`,
        `Content-Length: ${length}`,
      ]);
    return random.pick<readonly (Uint8Array | string)[]>([
      [head(`GET ${random.pick(PATHS)} HTTP/1.1`, ["Host: a"])],
      [head(`HEAD ${random.pick(PATHS)} HTTP/1.1`, ["Host: a"])],
      [
        head("OPTIONS /get_face_vec HTTP/1.1", [
          "Host: a",
          "Origin: http://b",
          "Access-Control-Request-Method: POST",
        ]),
      ],
      [post(body.length), body],
      [post(0)],
      ["\r\n\r\n"],
      ["garbage\r\n\r\n"],
    ]);
  });
  return [...write(random, ...requests.flat()), ...finish(random)];
};

/** A body that ends before its announced length. */
export const truncatedBody: Generator = (random, fixtures) => {
  const operation = random.pick(OPERATIONS);
  const path = random.pick(PATHS);
  const type = random.pick([
    MULTIPART_TYPE,
    "application/json",
    "application/x-www-form-urlencoded",
    ...RPC_TYPES,
  ]);
  const body = random.pick([multipart, json])(operation, fixtures.photo);
  const lines = [
    "Host: a",
    ...someUser(random, fixtures),
    `Content-Type: ${type}`,
    `Content-Length: ${body.length}`,
  ];
  const sent = body.subarray(0, random.below(body.length));
  return [
    ...write(random, head(`POST ${path} HTTP/1.1`, lines), sent),
    { waitMs: random.below(20) },
    random.pick<Step>(["halfClose", "close", "reset"]),
  ];
};

/** gRPC, gRPC-Web and Connect over HTTP/1.1, with a valid or a broken envelope. */
export const rpc: Generator = (random, fixtures) => {
  const operation = random.pick(OPERATIONS);
  const message = operation.message(fixtures.photo);
  const type = random.pick(RPC_TYPES);
  const path = random.pick([operation.rpcPath, operation.rpcPath, HEALTH_CHECK, REFLECTION, operation.path]);
  const body = random.pick([
    message,
    envelope(message),
    envelope(message, 1),
    envelope(message, 0x80),
    envelope(message, 2),
    envelope(message, 0, 0xffffffff),
    envelope(message, 0, message.length - 1),
    envelope(message, 0, message.length + 1),
    envelope(gzipSync(message), 1),
    envelope(Buffer.alloc(0)),
    Buffer.concat([envelope(message), envelope(message)]),
    Buffer.from(envelope(message).toString("base64")),
    Buffer.alloc(0),
    Buffer.from("{}"),
  ]);
  const lines = [
    "Host: a",
    ...someUser(random, fixtures),
    `Content-Type: ${type}`,
    `Content-Length: ${body.length}`,
    ...(random.below(3) === 0 ? [`grpc-timeout: ${random.pick(TIMEOUTS)}`] : []),
    ...(random.below(3) === 0 ? ["grpc-encoding: gzip"] : []),
    ...(random.below(4) === 0 ? ["te: trailers"] : []),
    ...(random.below(4) === 0 ? [`connect-timeout-ms: ${random.pick(["0", "1", "9".repeat(30), "x"])}`] : []),
  ];
  return [...write(random, head(`POST ${path} HTTP/1.1`, lines), body), ...finish(random)];
};

/** The stream AnalyzeImages as JSON lines in chunks, and as RPCs, which need HTTP/2. */
export const imageStream: Generator = (random, fixtures) => {
  const isLines = random.below(4) > 0;
  const body = (isLines ? streamLines : streamMessages)(random, fixtures.photo);
  const lines = [
    "Host: a",
    ...someUser(random, fixtures),
    `Content-Type: ${isLines ? "application/x-ndjson" : random.pick(RPC_TYPES)}`,
    "Transfer-Encoding: chunked",
    ...(random.below(4) === 0 ? ["Expect: 100-continue"] : []),
    ...(random.below(8) === 0 ? ["Content-Encoding: gzip"] : []),
    ...(random.below(8) === 0 ? [`connect-timeout-ms: ${random.pick(["0", "1", "100", "x"])}`] : []),
  ];
  const size = 1 + random.below(body.length);
  const chunks: (Uint8Array | string)[] = [];
  for (let at = 0; at < body.length; at += size) {
    const chunk = body.subarray(at, at + size);
    chunks.push(`${chunk.length.toString(16)}\r\n`, chunk, "\r\n");
  }
  const path = isLines ? STREAM_LINES_PATH : STREAM_RPC_PATH;
  return [
    ...write(random, head(`POST ${path} HTTP/1.1`, lines), ...chunks),
    { waitMs: random.below(60) },
    ...random.pick<Step[]>([write(random, "0\r\n\r\n"), ["reset"], ["close"], ["halfClose"]]),
  ];
};

/** A valid request whose client disconnects after the response has begun. */
export const abandonResponse: Generator = (random, fixtures) => {
  const operation = random.pick(OPERATIONS);
  const body = multipart(operation, fixtures.photo);
  const lines = [
    "Host: a",
    `user_id: ${fixtures.user}`,
    `Content-Type: ${MULTIPART_TYPE}`,
    `Content-Length: ${body.length}`,
  ];
  return [
    ...write(random, head(`POST ${operation.path} HTTP/1.1`, lines), body),
    { awaitResponseMs: random.below(60) },
    random.pick<Step>(["reset", "close", "halfClose"]),
  ];
};

/** REST requests to galleries with hostile ids in their paths. */
export const galleries: Generator = (random, fixtures) => {
  const { method, path, body } = galleryRequest(random);
  const lines = [
    "Host: a",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    ...someUser(random, fixtures),
  ];
  return [...write(random, head(`${method} ${path} HTTP/1.1`, lines), body), ...finish(random)];
};
