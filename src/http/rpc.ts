import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { type DescMessage, type DescMethod, fromBinary, toJsonString } from "@bufbuild/protobuf";
import {
  Code,
  type ConnectError,
  type ConnectRouter,
  type ContextValues,
  createConnectRouter,
  type Interceptor,
} from "@connectrpc/connect";
import {
  compressedFlag,
  createAsyncIterable,
  encodeEnvelope,
  readAllBytes,
  type UniversalHandler,
  type UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { compressionGzip } from "@connectrpc/connect-node";
import { binaryFromJson } from "../rest/json-message.ts";
import { checkJson } from "../rest/json-scan.ts";
import { connectErrorFrom } from "../service/error-responses.ts";
import { reasonFromKind } from "../service/error-table.ts";
import { contextWith, noteOutcome } from "../service/record.ts";
import { ServiceError, serviceErrorFrom } from "../service/service-error.ts";
import { type Body, bodyParts } from "./body.ts";
import { explainEarlyErrors } from "./early-errors.ts";
import { send, sendStream } from "./exchange.ts";
import { LIMITS } from "./limits.ts";
import { checkProtobuf } from "./protobuf-scan.ts";
import type { RequestContext } from "./request-context.ts";

/** What is served as RPCs. */
export interface RpcOptions {
  /** Adds services whose methods are unary and need a user. */
  readonly routes: (router: ConnectRouter) => void;
  /** Adds services that anyone may call. */
  readonly openRoutes: (router: ConnectRouter) => void;
  readonly interceptors: Interceptor[];
  readonly maxRequestBytes: number;
}

/** RPCs over gRPC, gRPC-Web and Connect, by path. */
export type RpcHandlers = ReadonlyMap<string, UniversalHandler>;

/** Flags, then four bytes of length, before every message of gRPC and gRPC-Web. */
const ENVELOPE_BYTES = 5;

/** Unknown fields are discarded: each that is kept becomes an object, however small it is on the wire. */
const BINARY_OPTIONS = { readUnknownFields: false };

/** The handlers of services that need a user, and of those that do not. */
export function createRpcHandlers({ routes, openRoutes, interceptors, maxRequestBytes }: RpcOptions): {
  readonly handlers: RpcHandlers;
  readonly openHandlers: RpcHandlers;
} {
  const router = createConnectRouter({
    interceptors,
    binaryOptions: BINARY_OPTIONS,
    readMaxBytes: maxRequestBytes,
    // For responses: requests are decompressed before Connect sees them.
    acceptCompression: [compressionGzip],
  });
  routes(router);
  explainEarlyErrors(router, explanationIn);
  const openRouter = createConnectRouter({
    binaryOptions: BINARY_OPTIONS,
    readMaxBytes: LIMITS.openMessageBytes,
    acceptCompression: [],
  });
  openRoutes(openRouter);
  explainEarlyErrors(openRouter, () => explainOpenError);
  return { handlers: byPath(router), openHandlers: byPath(openRouter) };
}

function byPath({ handlers }: ConnectRouter): RpcHandlers {
  return new Map(handlers.map((handler) => [handler.requestPath, handler]));
}

function explanationIn(values: ContextValues) {
  return (early: ConnectError) => {
    const error = isParseError(early) ? new ServiceError("badRequest") : serviceErrorFrom(early);
    noteOutcome(values, reasonFromKind(error.kind));
    return connectErrorFrom(error);
  };
}

/** Health and reflection have no errors of our own; only what the client is to blame for must not look like ours. */
function explainOpenError(early: ConnectError): ConnectError {
  return isParseError(early) ? connectErrorFrom(new ServiceError("badRequest")) : early;
}

/** No code of ours has run: what Connect takes for an internal error is a message that it cannot parse. */
function isParseError({ code }: ConnectError): boolean {
  return code === Code.Internal;
}

/** Serves a unary RPC whose body has been read. */
export async function serveUnary(
  context: RequestContext,
  handler: UniversalHandler,
  body: Body,
  options: { readonly maxBytes: number; readonly timeoutMs: number },
): Promise<void> {
  const { request } = context;
  const header = headersFrom(request.headers);
  const { bytes, isConverted } = await preparedBody(context, handler.method, body, header, options.maxBytes);
  setTimeoutHeader(context, header, options.timeoutMs);
  const answer = await handler({
    httpVersion: request.httpVersion,
    method: request.method ?? "POST",
    url: urlOf(request.url),
    header,
    body: createAsyncIterable([bytes]),
    signal: context.signal,
    contextValues: contextWith(context.record),
  });
  throwIfUnsupported(answer);
  const content = answer.body && (await readAllBytes(answer.body, Number.MAX_SAFE_INTEGER));
  const { "content-length": _, ...headers } = nodeHeadersFrom(answer.header);
  const isJson = isConverted && answer.status === 200;
  send(context, {
    status: answer.status,
    headers: isJson ? { ...headers, "content-type": "application/json" } : headers,
    body: isJson ? jsonFromBinary(handler.method.output, content!) : content,
    trailers: answer.trailer && nodeHeadersFrom(answer.trailer),
  });
}

function jsonFromBinary(schema: DescMessage, bytes: Uint8Array): string {
  return toJsonString(schema, fromBinary(schema, bytes));
}

/** Serves an RPC of a service that anyone may call, which may be a stream in either direction. */
export async function serveOpen(context: RequestContext, handler: UniversalHandler): Promise<void> {
  const { request, signal } = context;
  const header = headersFrom(request.headers);
  setTimeoutHeader(context, header, LIMITS.clientDeadlineMs);
  const answer = await handler({
    httpVersion: request.httpVersion,
    method: request.method ?? "POST",
    url: urlOf(request.url),
    header,
    body: bodyParts(context),
    signal,
    contextValues: contextWith(undefined),
  });
  throwIfUnsupported(answer);
  const head = { status: answer.status, headers: nodeHeadersFrom(answer.header) };
  const trailers = () => (answer.trailer ? nodeHeadersFrom(answer.trailer) : {});
  await sendStream(context, head, answer.body ?? createAsyncIterable([]), trailers, signal);
}

/** Connect answers what it does not support with a bare status. */
function throwIfUnsupported({ status }: UniversalServerResponse): void {
  if (status === 415)
    throw new ServiceError("badRequest", "The content type is not one that this method supports.");
  if (status === 505) throw new ServiceError("badRequest", "This method needs HTTP/2.");
}

/** What Connect is to read in place of a body. */
interface PreparedBody {
  readonly bytes: Uint8Array;
  /** Whether JSON became binary, so that the response has to become JSON. */
  readonly isConverted: boolean;
}

/** Decompresses the message of a body where it is compressed, and checks it before Connect parses it. */
async function preparedBody(
  context: RequestContext,
  { input }: DescMethod,
  body: Body,
  header: Headers,
  maxBytes: number,
): Promise<PreparedBody> {
  const isEnveloped = context.protocol !== "connect";
  const encodingHeader = isEnveloped ? "grpc-encoding" : "content-encoding";
  const encoding = header.get(encodingHeader) ?? "identity";
  if (encoding !== "identity" && encoding !== "gzip") throw new ServiceError("unsupportedEncoding");
  header.delete(encodingHeader);
  const message = isEnveloped
    ? messageIn(body.bytes)
    : { bytes: body.bytes, isCompressed: encoding === "gzip" };
  if (message.isCompressed && encoding !== "gzip")
    throw new ServiceError("badRequest", "The message is compressed in an encoding that is not named.");
  const bytes = message.isCompressed
    ? await decompressed(context, body, message.bytes, maxBytes)
    : message.bytes;
  body.lease.complete();
  const isJson = /json/.test(header.get("content-type") ?? "");
  if (isJson && bytes.length > LIMITS.plainJsonBytes) return converted(bytes, input, header, isEnveloped);
  if (isJson) await checkJson(bytes);
  else checkProtobuf(bytes, input);
  if (!message.isCompressed) return { bytes: body.bytes, isConverted: false };
  header.delete("content-length");
  return { bytes: isEnveloped ? encodeEnvelope(0, bytes) : bytes, isConverted: false };
}

/** Converts a large JSON message, as Connect's own parser would block the event loop for too long. */
async function converted(
  json: Buffer,
  schema: DescMessage,
  header: Headers,
  isEnveloped: boolean,
): Promise<PreparedBody> {
  if (isEnveloped)
    throw new ServiceError(
      "requestTooLarge",
      `A JSON message is larger than ${LIMITS.plainJsonBytes} bytes.`,
    );
  header.set("content-type", "application/proto");
  header.delete("content-length");
  // The response is converted, too, which it could not be in compressed form.
  header.delete("accept-encoding");
  const bytes = await binaryFromJson(json, schema);
  checkProtobuf(bytes, schema);
  return { bytes, isConverted: true };
}

/** The one message in the body of a unary call. */
function messageIn(body: Buffer): { readonly bytes: Buffer; readonly isCompressed: boolean } {
  const isWhole = body.length >= ENVELOPE_BYTES && body.readUInt32BE(1) === body.length - ENVELOPE_BYTES;
  const flags = body[0] ?? 0;
  if (!isWhole || (flags & ~compressedFlag) !== 0)
    throw new ServiceError("badRequest", "The request must hold exactly one message.");
  return { bytes: body.subarray(ENVELOPE_BYTES), isCompressed: flags === compressedFlag };
}

const gunzipAsync = promisify(gunzip);

/**
 * Decompresses gzip. Its last four bytes announce the size, which the budget is charged for first; a message that turns
 * out to be larger is rejected.
 */
async function decompressed(
  { signal }: RequestContext,
  { lease }: Body,
  bytes: Buffer,
  maxBytes: number,
): Promise<Buffer> {
  if (bytes.length === 0) return bytes;
  const size = bytes.length < 4 ? 0 : bytes.readUInt32LE(bytes.length - 4);
  if (size > maxBytes)
    throw new ServiceError("requestTooLarge", `The request is larger than ${maxBytes} bytes.`);
  await lease.charge(size, signal);
  try {
    return await gunzipAsync(bytes, { maxOutputLength: Math.max(1, size) });
  } catch (cause) {
    throw new ServiceError("badRequest", "The message cannot be decompressed.", { cause });
  }
}

/** How long the client is willing to wait, by its headers; undefined where it does not say. */
export function clientTimeoutMs(headers: IncomingHttpHeaders): number | undefined {
  const grpc = /^(\d{1,8})([HMSmun])$/.exec(String(headers["grpc-timeout"] ?? ""));
  if (grpc) return Number(grpc[1]) * UNIT_MS[grpc[2] as keyof typeof UNIT_MS];
  const connect = /^\d{1,10}$/.exec(String(headers["connect-timeout-ms"] ?? ""));
  return connect ? Number(connect[0]) : undefined;
}

const UNIT_MS = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };

/**
 * Passes on what is left of the client's time. Not a time beyond the service's own limit, which would overflow Node's
 * timers.
 */
function setTimeoutHeader({ request, startMs }: RequestContext, header: Headers, maxMs: number): void {
  const timeoutMs = clientTimeoutMs(request.headers);
  if (timeoutMs === undefined) return;
  const leftMs = Math.max(0, Math.ceil(startMs + timeoutMs - performance.now()));
  for (const name of ["grpc-timeout", "connect-timeout-ms"]) {
    if (!header.has(name)) continue;
    if (leftMs >= maxMs) header.delete(name);
    else header.set(name, name === "grpc-timeout" ? `${leftMs}m` : String(leftMs));
  }
}

/** Connect wants a whole URL. The host is not the client's: nothing here depends on it, and it may be malformed. */
function urlOf(target = "/"): string {
  return `http://visage${target.startsWith("/") ? target : "/"}`;
}

function headersFrom(incoming: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming)) {
    if (value === undefined || name.startsWith(":")) continue;
    for (const one of [value].flat()) headers.append(name, one);
  }
  return headers;
}

function nodeHeadersFrom(headers: Headers | undefined): OutgoingHttpHeaders {
  return Object.fromEntries(headers ?? []);
}
