// Requests over HTTP/2: valid ones, and ones with malformed headers, trailers, envelopes or compression.
import { gzipSync } from "node:zlib";
import type { Random } from "../../support/random.ts";
import { mutate } from "../mutate.ts";
import { galleryRequest } from "./gallery-requests.ts";
import {
  data,
  envelope,
  FLAG,
  FRAME,
  frame,
  goAway,
  type HeaderList,
  headers,
  PREFACE,
  rstStream,
  SETTING,
  settings,
  settingsAck,
  windowUpdate,
} from "./http2-frames.ts";
import {
  grpcHeaders,
  OPENING,
  probeHeaders,
  requestHeaders,
  restHeaders,
  rpcBody,
  rpcHeaders,
  someUser,
} from "./http2-requests.ts";
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
import { finish, type Generator, write } from "./script.ts";

// biome-ignore format: a table
const AUTHORITIES = [
  "", " ", "[", "[]", "[::1", "[::1]:80", "a b", ":99999", "a:99999", "a:b", "a/b", "a@b", "\xe9", "a\\b", "%", "a,b", "^", "|",
  "x".repeat(4_000), "<script>", "a..b", "1.2.3.4.5", "\0", "a\r\nb",
];

// biome-ignore format: a table
const ODD_PATHS = [
  "", "*", "a", "//", "//host/readyz", "?", "/?", "/%", "/%00", "/ ", "/a b", "/\0", "/\xe9", "http://a/readyz", "http://[/", "/..",
  "\\", "/readyz#x", `/${"a".repeat(8_000)}`, "/get_face_vec?bboxes=%", "/face.v1.FaceService/GetFaceVec/", "/get_face_vec?",
];

const ODD_METHODS = [
  "",
  "GET",
  "HEAD",
  "OPTIONS",
  "CONNECT",
  "TRACE",
  "PUT",
  "get",
  "P OST",
  "\0",
  "X".repeat(500),
  "\xff",
];

const SCHEMES = ["", "https", "ftp", "HTTP", "javascript", "\0", "h ttp"];

// biome-ignore format: a table
const FORBIDDEN_HEADERS: HeaderList = [
  ["connection", "close"], ["transfer-encoding", "chunked"], ["upgrade", "h2c"], ["keep-alive", "1"], ["proxy-connection", "x"],
  ["te", "gzip"], ["Upper-Case", "x"], ["", "x"], [":unknown", "x"], ["a b", "c"], ["a", "\r\n"], ["a", "\0"], ["host", "["],
  ["host", "other"], ["content-length", "5"], ["content-length", "-1"], ["content-length", "99999999999999999999"], ["cookie", ""],
  ["expect", "100-continue"], ["expect", "x"], ["user_id", "\xff"], ["user_id", ""], ["grpc-encoding", "br"], ["content-encoding", "gzip"],
  ["origin", "null"], ["x-request-id", "\xff"], ["traceparent", "\0"], ["accept-encoding", "\0"],
];

/** A decompression bomb: 40 MiB of zeros, more than the largest message, compressed to 40 KB. */
const BOMB = gzipSync(Buffer.alloc(40 * 1024 * 1024));

/** The same as the value of an unknown Protobuf field. */
const PROTOBUF_BOMB = gzipSync(
  Buffer.concat([Buffer.from([0xfa, 0x01]), varint(40 * 1024 * 1024), Buffer.alloc(40 * 1024 * 1024)]),
);

/** A valid RPC with any content type, envelope and timeout, and sometimes with a fault in one of them. */
export const rpc: Generator = (random, fixtures) => {
  const body = rpcBody(random, fixtures);
  const list = [...rpcHeaders(random, fixtures), ...rpcExtras(random)];
  return [...write(random, OPENING, headers(1, list), data(1, body)), ...finish(random)];
};

/** REST over HTTP/2. */
export const rest: Generator = (random, fixtures) => {
  const operation = random.pick(OPERATIONS);
  const [type, body] = random.pick([
    [MULTIPART_TYPE, multipart(operation, fixtures.photo)],
    ["application/json", json(operation, fixtures.photo)],
  ] as const);
  const list = [
    ...requestHeaders("POST", random.pick([operation.path, random.pick(PATHS)])),
    ["content-type", type] as const,
    ...someUser(random, fixtures),
  ];
  const cut = random.pick([body.length, body.length, random.below(body.length)]);
  return [
    ...write(random, OPENING, headers(1, list), data(1, body.subarray(0, cut), cut === body.length)),
    ...finish(random),
  ];
};

/** REST requests to galleries with hostile ids in their paths. */
export const galleries: Generator = (random, fixtures) => {
  const { method, path, body } = galleryRequest(random);
  const list = [
    ...requestHeaders(method, path),
    ["content-type", "application/json"] as const,
    ...someUser(random, fixtures),
  ];
  return [...write(random, OPENING, headers(1, list), data(1, body)), ...finish(random)];
};

/** Malformed, missing and repeated pseudo-headers, and headers that HTTP/2 forbids. */
export const malformedHeaders: Generator = (random, fixtures) => {
  const list = [...random.pick([rpcHeaders, restHeaders, probeHeaders])(random, fixtures)].map(
    (one) => [...one] as [string, string],
  );
  for (let changes = 1 + random.below(3); changes > 0; changes--) {
    const replace = (name: string, values: readonly string[]) => {
      const found = list.find(([known]) => known === name);
      if (found) found[1] = random.pick(values);
    };
    random.pick([
      () => replace(":authority", AUTHORITIES),
      () => replace(":path", ODD_PATHS),
      () => replace(":method", ODD_METHODS),
      () => replace(":scheme", SCHEMES),
      () => list.splice(random.below(list.length), 1),
      () => list.push([...random.pick(list.length > 0 ? list : [["a", "b"] as [string, string]])]),
      () => list.splice(random.below(list.length + 1), 0, [...random.pick(FORBIDDEN_HEADERS)]),
      () => list.push([":authority", "a"]),
      () => list.push([":protocol", "websocket"]),
      () => list.reverse(),
    ])();
  }
  const isWhole = random.below(2) === 0;
  return [
    ...write(
      random,
      OPENING,
      headers(1, list, FLAG.endHeaders | (isWhole ? FLAG.endStream : 0)),
      isWhole ? Buffer.alloc(0) : data(1, rpcBody(random, fixtures)),
    ),
    ...finish(random),
  ];
};

export const trailers: Generator = (random, fixtures) => {
  const body = data(1, rpcBody(random, fixtures), false);
  const trailer = random.pick<HeaderList>([
    [["x", "y"]],
    [["grpc-status", "0"]],
    [[":path", "/"]],
    [["content-length", "1"]],
    [],
    [["x", "y".repeat(20_000)]],
    [["user_id", fixtures.user]],
  ]);
  const flags = FLAG.endHeaders | random.pick([FLAG.endStream, FLAG.endStream, 0]);
  return [
    ...write(
      random,
      OPENING,
      headers(1, rpcHeaders(random, fixtures)),
      ...random.pick([[body], [], [body, body]]),
      headers(1, trailer, flags),
    ),
    ...finish(random),
  ];
};

/** Compressed messages: decompression bombs, wrong labels, corrupted data. */
export const compression: Generator = (random, fixtures) => {
  const message = random.pick(OPERATIONS).message(fixtures.photo);
  const body = random.pick([
    envelope(BOMB, 1),
    envelope(PROTOBUF_BOMB, 1),
    envelope(gzipSync(message), 1),
    envelope(gzipSync(message), 0),
    envelope(message, 1),
    envelope(gzipSync(message).subarray(0, -10), 1),
    envelope(Buffer.alloc(0), 1),
  ]);
  const encoding = random.pick<HeaderList>([
    [["grpc-encoding", "gzip"]],
    [["grpc-encoding", "gzip"]],
    [],
    [["grpc-encoding", "br"]],
    [["grpc-encoding", "identity"]],
    [["content-encoding", "gzip"]],
  ]);
  const path = random.pick([HEALTH_CHECK, REFLECTION, random.pick(OPERATIONS).rpcPath]);
  return [
    ...write(
      random,
      PREFACE,
      settings(),
      headers(1, [...grpcHeaders(path), ...someUser(random, fixtures), ...encoding]),
      data(1, body),
    ),
    ...finish(random),
  ];
};

/** A valid connection with mutated bytes. */
export const mutated: Generator = (random, fixtures) => {
  const bytes = Buffer.concat([
    settings([[SETTING.initialWindowSize, 65_535]]),
    headers(1, rpcHeaders(random, fixtures)),
    data(1, rpcBody(random, fixtures)),
    headers(3, probeHeaders(random), FLAG.endHeaders | FLAG.endStream),
  ]);
  const dictionary = [
    settingsAck(),
    rstStream(1),
    windowUpdate(0, 1),
    frame(FRAME.ping, 0, 0, Buffer.alloc(8)),
    goAway(0),
  ];
  return [
    ...write(random, PREFACE, mutate(bytes, random, { dictionary, corpus: [OPENING, bytes] })),
    ...finish(random),
  ];
};

/** A timeout, an encoding or another protocol's content type. */
function rpcExtras(random: Random): HeaderList {
  return random.pick<() => HeaderList>([
    () => [],
    () => [["grpc-timeout", random.pick(TIMEOUTS)]],
    () => [["content-type", random.pick(RPC_TYPES)]],
    () => [["grpc-encoding", "gzip"]],
    () => [["connect-timeout-ms", random.pick(["0", "9".repeat(30), "x"])]],
  ])();
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push(128 + (rest % 128));
  return Buffer.from([...bytes, rest]);
}
