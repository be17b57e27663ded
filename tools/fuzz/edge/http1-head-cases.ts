// Malformed HTTP/1.1 request heads: request line, Host, upgrades, floods of headers, and bytes that are not HTTP.
import type { Random } from "../../support/random.ts";
import { HOSTS, head, someUser } from "./http1-requests.ts";
import { PREFACE } from "./http2-frames.ts";
import { MULTIPART_TYPE, multipart, OPERATIONS, PATHS } from "./requests.ts";
import { finish, type Generator, write } from "./script.ts";

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

/** Any request line and any Host header, without a body. */
export const requestLine: Generator = (random) => {
  const line = [random.pick(METHODS), anyTarget(random), random.pick(VERSIONS)].join(
    random.pick([" ", " ", " ", "  ", "\t"]),
  );
  const hosts = random.below(3) === 0 ? random.pick(HOSTS) : ["a"];
  const lines = [line, ...hosts.map((host) => `Host: ${host}`), ...someHeaders(random)];
  const eol = random.pick(["\r\n", "\r\n", "\r\n", "\r\n", "\n", "\r"]);
  return [...write(random, `${lines.join(eol)}${eol}${eol}`), ...finish(random)];
};

export const hostHeader: Generator = (random, fixtures) => {
  const hosts = random.pick(HOSTS).map((host) => `Host: ${host}`);
  const path = random.pick(PATHS);
  if (random.below(3) === 0)
    return [...write(random, head(`GET ${path} HTTP/1.1`, hosts)), ...finish(random)];
  const operation = random.pick(OPERATIONS);
  const body = multipart(operation, fixtures.photo);
  const lines = [
    ...hosts,
    ...someUser(random, fixtures),
    `Content-Type: ${MULTIPART_TYPE}`,
    `Content-Length: ${body.length}`,
  ];
  return [...write(random, head(`POST ${operation.path} HTTP/1.1`, lines), body), ...finish(random)];
};

export const upgrade: Generator = (random, fixtures) => {
  const protocol = random.pick(["h2c", "h2c", "websocket", "h2c, websocket", "TLS/1.0", ""]);
  const lines = [
    "Host: a",
    `Upgrade: ${protocol}`,
    `Connection: ${random.pick(["Upgrade, HTTP2-Settings", "upgrade", "close"])}`,
    `HTTP2-Settings: ${random.pick(["AAMAAABkAAQAoAAAAAIAAAAA", "", "!!!"])}`,
    ...someUser(random, fixtures),
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

export const headerFlood: Generator = (random) => {
  const line = random.pick(["a: b", "a:", "user_id: x", "cookie: a=b", "Host: a", `x: ${"y".repeat(100)}`]);
  const count = random.pick([50, 200, 1_000, 4_000]);
  const lines = [
    "Host: a",
    ...Array.from({ length: count }, (_, i) => (random.below(2) ? line : `${i}${line}`)),
  ];
  return [...write(random, head(`GET ${random.pick(PATHS)} HTTP/1.1`, lines)), ...finish(random)];
};

/** Bytes that are not HTTP. */
export const noise: Generator = (random) => {
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

function anyTarget(random: Random): string {
  const target = random.pick([random.pick(PATHS), random.pick(TARGETS)]);
  return random.below(6) === 0 ? `http://${random.pick(HOSTS)[0] ?? ""}${target}` : target;
}

function someHeaders(random: Random): string[] {
  return Array.from({ length: random.pick([0, 0, 1, 2, 5]) }, () => random.pick(ODD_HEADERS));
}
