import { gzipSync } from "node:zlib";
import type { Random } from "../random.ts";
import { envelope, PREFACE } from "./http2-frames.ts";
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
import { finish, type Generator, type Material, type Step, write } from "./script.ts";

// biome-ignore format: a table
const METHODS = [
  "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "PRI", "get", "POST\t", "P OST",
  "", "\0", "M-SEARCH", "X".repeat(300), "QUERY", "\xffGET", "SOURCE",
];
// biome-ignore format: a table
const TARGETS = [
  "/", "*", "", " ", "//", "//host/readyz", "?", "/?", "/readyz?", "/readyz?%", "/%", "/%00", "/%zz", "/readyz#x", "/\0",
  "/a b", "/readyz /x", "\\", "/..", "/../../etc/passwd", "/./readyz", "http://", "http://a/readyz", "http://[/readyz",
  "http://a:99999/get_face_vec", "https://user:pw@a/readyz", "http:///readyz", "HTTP://A/", "a:80", "[::1]:80", ":", "@",
  "/\xe9", "/get_face_vec?bboxes=1,2,3,4&5,6,7,8", `/${"a".repeat(8_000)}`, `/readyz?${"a=b&".repeat(5_000)}`,
  `/${"%41".repeat(3_000)}`, "/get_face_vec/", "/get_face_vec;x", "/GET_FACE_VEC", "javascript:alert(1)", "/\u0085",
];
// biome-ignore format: a table
const VERSIONS = [
  "HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/0.9", "HTTP/1.2", "HTTP/2.0", "HTTP/3", "HTTP/1.", "http/1.1",
  "HTTP/11", "HTTP/1.1 ", "", "ICE/1.0", "RTSP/1.0", "HTTP/-1.1", "HTTP/99999999999.1",
];
// biome-ignore format: a table
const HOSTS: readonly (readonly string[])[] = [
  [], [""], [" "], ["["], ["[]"], ["[::1"], ["[::1]"], ["[::1]:80"], ["a b"], ["a:99999"], [":99999"], [":"], ["a:"],
  ["a:b"], ["a/b"], ["a?b"], ["a#b"], ["a@b"], ["a\\b"], ["%"], ["%zz"], ["\xe9"], ["\0"], ["a\0b"], ["a,b"], ["a", "b"],
  ["a", "a"], ["", "a"], ["x".repeat(5_000)], ["<script>"], ["1.2.3.4.5"], ["0x7f.1"], ["xn--"], ["a..b"], ["^"], ["|"],
];
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
// biome-ignore format: a table
const ODD_HEADERS = [
  "no-colon", ": no name", "a:\0", "a: \x7f", "a : b", "a\t: b", " folded", "\tfolded", "a: b\rc: d", "a: b\nc: d", "\x80: x",
  `${"n".repeat(3_000)}: x`, `x: ${"v".repeat(15_000)}`, `x: ${"v".repeat(20_000)}`, "Expect: 100-continue", "Expect: x",
  "Expect: 100-continue, x", "Connection: close, upgrade", "Connection: \0", "Connection: host", "Keep-Alive: timeout=-1",
  "Upgrade: websocket", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk", "Trailer: content-length", "Content-Encoding: gzip",
  "Content-Encoding: br", "Content-Encoding: ,", "Range: bytes=0-", "If-None-Match: *", "Origin: null", "Origin: \xff",
  "X-Forwarded-For: ,,,", "Forwarded: for=\"", "x-request-id: \xff", "x-request-id: ", "authorization: Bearer", "x-api-key: ",
  "user_id: ", "user_id: \xff", "user_id: unknown-user", "User_id: a, b", "grpc-timeout: 99999999H", "connect-timeout-ms: 0",
  "connect-timeout-ms: 99999999999999999999", "connect-timeout-ms: -1", "connect-protocol-version: 99", "grpc-encoding: gzip",
  "traceparent: 00-\0", "accept: \0", "accept-encoding: gzip;q=nan", "Content-Type: ", "Content-Type: ;;;", "Cookie: \xff",
];

/** Any request line and any Host, without a body. */
const requestLine: Generator = (random) => {
  const line = [random.pick(METHODS), anyTarget(random), random.pick(VERSIONS)].join(
    random.pick([" ", " ", " ", "  ", "\t"]),
  );
  const hosts = random.below(3) === 0 ? random.pick(HOSTS) : ["a"];
  const lines = [line, ...hosts.map((host) => `Host: ${host}`), ...someHeaders(random)];
  const eol = random.pick(["\r\n", "\r\n", "\r\n", "\r\n", "\n", "\r"]);
  return [...write(random, `${lines.join(eol)}${eol}${eol}`), ...finish(random)];
};

const hostHeader: Generator = (random, material) => {
  const hosts = random.pick(HOSTS).map((host) => `Host: ${host}`);
  const path = random.pick(PATHS);
  if (random.below(3) === 0)
    return [...write(random, head(`GET ${path} HTTP/1.1`, hosts)), ...finish(random)];
  const operation = random.pick(OPERATIONS);
  const body = multipart(operation, material.photo);
  const lines = [
    ...hosts,
    ...someUser(random, material),
    `Content-Type: ${MULTIPART_TYPE}`,
    `Content-Length: ${body.length}`,
  ];
  return [...write(random, head(`POST ${operation.path} HTTP/1.1`, lines), body), ...finish(random)];
};

/** Content-Length and Transfer-Encoding that contradict each other or themselves. */
const framing: Generator = (random, material) => {
  const lines = [
    "Host: a",
    ...someUser(random, material),
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
const chunked: Generator = (random, material) => {
  const operation = random.pick(OPERATIONS);
  const body = multipart(operation, material.photo);
  const lines = [
    "Host: a",
    ...someUser(random, material),
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

/** A client that asks whether to send its body, and then sends it, sends too early, or leaves. */
const expectContinue: Generator = (random, material) => {
  const operation = random.pick(OPERATIONS);
  const body = multipart(operation, material.photo);
  const length = random.pick([body.length, body.length, 0, 99_999_999]);
  const lines = [
    "Host: a",
    ...someUser(random, material),
    `Content-Type: ${MULTIPART_TYPE}`,
    `Expect: ${random.pick(["100-continue", "100-continue", "100-Continue", "200-ok", ""])}`,
    random.below(4) === 0 ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`,
  ];
  const path = random.pick([operation.path, operation.rpcPath, random.pick(PATHS)]);
  const steps = write(random, head(`POST ${path} HTTP/1.1`, lines));
  if (random.below(3) === 0) return [...steps, random.pick<Step>(["reset", "close", "halfClose"])];
  return [...steps, { awaitAnswerMs: random.pick([0, 20]) }, ...write(random, body), ...finish(random)];
};

const upgrade: Generator = (random, material) => {
  const protocol = random.pick(["h2c", "h2c", "websocket", "h2c, websocket", "TLS/1.0", ""]);
  const lines = [
    "Host: a",
    `Upgrade: ${protocol}`,
    `Connection: ${random.pick(["Upgrade, HTTP2-Settings", "upgrade", "close"])}`,
    `HTTP2-Settings: ${random.pick(["AAMAAABkAAQAoAAAAAIAAAAA", "", "!!!"])}`,
    ...someUser(random, material),
  ];
  const method = random.pick(["GET", "POST", "OPTIONS", "CONNECT"]);
  const target = method === "CONNECT" ? random.pick(["a:80", "a", "/x"]) : random.pick(PATHS);
  return [
    ...write(
      random,
      head(`${method} ${target} HTTP/1.1`, lines),
      random.pick<Uint8Array | string>(["", PREFACE, "xxxx"]),
    ),
    ...finish(random),
  ];
};

/** Several requests on one connection, all sent at once. */
const pipeline: Generator = (random, material) => {
  const requests = Array.from({ length: 2 + random.below(12) }, () => {
    const operation = random.pick(OPERATIONS);
    const body = multipart(operation, material.photo);
    const post = (length: number) =>
      head(`POST ${operation.path} HTTP/1.1`, [
        "Host: a",
        ...someUser(random, material),
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

const headerFlood: Generator = (random) => {
  const line = random.pick(["a: b", "a:", "user_id: x", "cookie: a=b", "Host: a", `x: ${"y".repeat(100)}`]);
  const count = random.pick([50, 200, 1_000, 4_000]);
  const lines = [
    "Host: a",
    ...Array.from({ length: count }, (_, i) => (random.below(2) ? line : `${i}${line}`)),
  ];
  return [...write(random, head(`GET ${random.pick(PATHS)} HTTP/1.1`, lines)), ...finish(random)];
};

/** A body that ends before its announced length. */
const truncatedBody: Generator = (random, material) => {
  const operation = random.pick(OPERATIONS);
  const path = random.pick(PATHS);
  const type = random.pick([
    MULTIPART_TYPE,
    "application/json",
    "application/x-www-form-urlencoded",
    ...RPC_TYPES,
  ]);
  const body = random.pick([multipart, json])(operation, material.photo);
  const lines = [
    "Host: a",
    ...someUser(random, material),
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

/** gRPC, gRPC-Web and Connect over HTTP/1.1, whole or with a broken envelope. */
const rpc: Generator = (random, material) => {
  const operation = random.pick(OPERATIONS);
  const message = operation.message(material.photo);
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
    ...someUser(random, material),
    `Content-Type: ${type}`,
    `Content-Length: ${body.length}`,
    ...(random.below(3) === 0 ? [`grpc-timeout: ${random.pick(TIMEOUTS)}`] : []),
    ...(random.below(3) === 0 ? ["grpc-encoding: gzip"] : []),
    ...(random.below(4) === 0 ? ["te: trailers"] : []),
    ...(random.below(4) === 0 ? [`connect-timeout-ms: ${random.pick(["0", "1", "9".repeat(30), "x"])}`] : []),
  ];
  return [...write(random, head(`POST ${path} HTTP/1.1`, lines), body), ...finish(random)];
};

/** A valid request on which the client gives up after the answer has begun. */
const leaveAnswer: Generator = (random, material) => {
  const operation = random.pick(OPERATIONS);
  const body = multipart(operation, material.photo);
  const lines = [
    "Host: a",
    `user_id: ${material.user}`,
    `Content-Type: ${MULTIPART_TYPE}`,
    `Content-Length: ${body.length}`,
  ];
  return [
    ...write(random, head(`POST ${operation.path} HTTP/1.1`, lines), body),
    { awaitAnswerMs: random.below(60) },
    random.pick<Step>(["reset", "close", "halfClose"]),
  ];
};

/** Bytes that are no HTTP at all. */
const noise: Generator = (random) => {
  const bytes = random.pick([
    () => Buffer.from(Array.from({ length: 1 + random.below(300) }, () => random.below(256))),
    // The start of a TLS handshake.
    () => Buffer.from("16030100a5010000a10303", "hex"),
    () => PREFACE.subarray(0, random.below(PREFACE.length)),
    () => Buffer.from("\r\n".repeat(random.below(200))),
    () => Buffer.from("PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
    () => Buffer.alloc(random.below(70_000), "a"),
    () => Buffer.alloc(0),
  ])();
  return [...write(random, bytes), ...finish(random)];
};

/** The generators; one is in the list as often as its cases shall come. */
export const HTTP1_GENERATORS: readonly (readonly [name: string, generator: Generator])[] = Object.entries({
  requestLine,
  hostHeader,
  framing,
  chunked,
  expectContinue,
  upgrade,
  pipeline,
  headerFlood,
  truncatedBody,
  rpc,
  leaveAnswer,
  noise,
});

function head(requestLine: string, lines: readonly string[]): string {
  return `${[requestLine, ...lines].join("\r\n")}\r\n\r\n`;
}

function anyTarget(random: Random): string {
  const target = random.pick([random.pick(PATHS), random.pick(TARGETS)]);
  return random.below(6) === 0 ? `http://${random.pick(HOSTS)[0] ?? ""}${target}` : target;
}

function someHeaders(random: Random): string[] {
  return Array.from({ length: random.pick([0, 0, 1, 2, 5]) }, () => random.pick(ODD_HEADERS));
}

/** No user, an unknown one, or most often a known one. */
function someUser(random: Random, { user }: Material): string[] {
  return random.pick([[`user_id: ${user}`], [`user_id: ${user}`], ["user_id: unknown-user"], []]);
}
