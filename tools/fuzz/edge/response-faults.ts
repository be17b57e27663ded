import { FRAME, parseFrames } from "./http2-frames.ts";

/** A JavaScript stack trace, or a path of an internal module. */
const STACK_TRACE = /\n\s+at .+:\d+:\d+|node:internal|node_modules\//;

/** HPACK's indexed field for `:status: 500`, after updates of the table size. */
const STATUS_500 = /^[\x20-\x3f]*\x8e/;

/** Content types of Protobuf bodies and envelopes. */
const BINARY = /^application\/(grpc|connect|proto)/;

/** Content types of pages and their assets, which are served with status 200 only. */
const PAGES = /^(text\/(html|css|javascript|plain)|image\/|application\/javascript)/;

/** Checks the bytes that a service sent in response to an HTTP/1.1 case. Returns a description of the fault, if any. */
export function http1Fault(bytes: Buffer): string | undefined {
  let rest = bytes;
  // A server that takes the first bytes for an HTTP/2 preface responds with frames.
  if (isHttp2(bytes)) return http2Fault(bytes);
  while (rest.length > 0) {
    const headEnd = rest.indexOf("\r\n\r\n");
    // The connection ended before the whole head had arrived.
    if (headEnd < 0)
      return /^HTTP\/1\.1/.test(rest.toString("latin1", 0, 8).padEnd(8)) || rest.length < 8
        ? undefined
        : `not HTTP: ${excerpt(rest)}`;
    const head = rest.toString("latin1", 0, headEnd);
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1] ?? Number.NaN);
    if (!(status >= 100 && status < 600)) return `not HTTP: ${excerpt(rest)}`;
    const body = bodyAfter(head, status, rest.subarray(headEnd + 4));
    const fault =
      statusFault(status, head) ?? (body.isComplete ? bodyFault(status, head, body.content) : undefined);
    if (fault) return `${fault}: ${excerpt(rest)}`;
    rest = body.rest;
  }
  return undefined;
}

/** Checks the frames that a service sent. Returns a description of the fault, if any. */
export function http2Fault(bytes: Buffer): string | undefined {
  if (bytes.length === 0) return undefined;
  // Without a valid preface the service responds over HTTP/1.1.
  if (!isHttp2(bytes))
    return bytes.toString("latin1", 0, 5) === "HTTP/" ? http1Fault(bytes) : `not HTTP/2: ${excerpt(bytes)}`;
  for (const { type, payload } of parseFrames(bytes)) {
    const text = payload.toString("latin1");
    if (type === FRAME.headers && STATUS_500.test(text)) return "status 500";
    if ((type === FRAME.data || type === FRAME.goAway) && STACK_TRACE.test(text))
      return `stack trace: ${excerpt(payload)}`;
  }
  return undefined;
}

function isHttp2(bytes: Buffer): boolean {
  return bytes.length > 3 && bytes.readUInt8(0) === 0 && bytes.readUInt8(3) === FRAME.settings;
}

function statusFault(status: number, head: string): string | undefined {
  if (status === 500) return "internal error";
  return STACK_TRACE.test(head) ? "stack trace" : undefined;
}

interface Body {
  readonly content: Buffer;
  /** False if the connection ended first. */
  readonly isComplete: boolean;
  /** The following bytes on the connection. */
  readonly rest: Buffer;
}

function bodyAfter(head: string, status: number, bytes: Buffer): Body {
  const nothing = { content: Buffer.alloc(0), isComplete: true, rest: bytes };
  if (status < 200 || status === 204 || status === 304) return nothing;
  if (/^transfer-encoding: chunked$/im.test(head)) return chunkedBody(bytes) ?? nothing;
  const length = /^content-length: (\d+)$/im.exec(head)?.[1];
  if (length === undefined) return { content: bytes, isComplete: false, rest: Buffer.alloc(0) };
  // A response to HEAD announces a body that does not follow.
  if (bytes.length === 0 || bytes.toString("latin1", 0, 9) === "HTTP/1.1 ") return nothing;
  const size = Number(length);
  return { content: bytes.subarray(0, size), isComplete: bytes.length >= size, rest: bytes.subarray(size) };
}

/** Parses a chunked body. Undefined for a response to HEAD, which has no chunks. */
function chunkedBody(bytes: Buffer): Body | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    const size = Number.parseInt(bytes.toString("latin1", at, Math.max(at, lineEnd)), 16);
    if (Number.isNaN(size) && at === 0) return undefined;
    const start = lineEnd + 2;
    // Optional trailers and an empty line follow the last chunk.
    const end = size === 0 ? trailersEnd(bytes, start) : start + size + 2;
    if (lineEnd < 0 || Number.isNaN(size) || end > bytes.length)
      return { content: Buffer.concat(chunks), isComplete: false, rest: Buffer.alloc(0) };
    chunks.push(bytes.subarray(start, start + size));
    at = end;
    if (size === 0) return { content: Buffer.concat(chunks), isComplete: true, rest: bytes.subarray(at) };
  }
}

function trailersEnd(bytes: Buffer, start: number): number {
  if (bytes.toString("latin1", start, start + 2) === "\r\n") return start + 2;
  const blankLine = bytes.indexOf("\r\n\r\n", start);
  return blankLine < 0 ? Number.POSITIVE_INFINITY : blankLine + 4;
}

function bodyFault(status: number, head: string, body: Buffer): string | undefined {
  if (body.length === 0) return undefined;
  const type = /^content-type: *(.*)$/im.exec(head)?.[1] ?? "";
  if (BINARY.test(type)) return STACK_TRACE.test(body.toString("latin1")) ? "stack trace" : undefined;
  if (status === 200 && PAGES.test(type)) return undefined;
  if (/^application\/x-ndjson/.test(type)) return linesFault(body.toString());
  if (!/^application\/json/.test(type)) return `status ${status} with a body of type "${type}"`;
  const text = body.toString();
  // The OpenAPI document may contain anything; an error must not contain a stack trace.
  if (status !== 200 && STACK_TRACE.test(text)) return "stack trace";
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return "malformed JSON";
  }
}

/** Checks the lines of a stream. */
function linesFault(text: string): string | undefined {
  if (STACK_TRACE.test(text)) return "stack trace";
  try {
    for (const line of text.split("\n").filter(Boolean)) JSON.parse(line);
    return undefined;
  } catch {
    return "malformed line";
  }
}

function excerpt(bytes: Buffer): string {
  return JSON.stringify(bytes.toString("latin1", 0, 400));
}
