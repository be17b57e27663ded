import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { type DescMessage, fromBinary, toJsonString } from "@bufbuild/protobuf";
import {
  Code,
  type ConnectError,
  type ConnectRouter,
  type ContextValues,
  createConnectRouter,
} from "@connectrpc/connect";
import {
  createAsyncIterable,
  readAllBytes,
  type UniversalHandler,
  type UniversalServerRequest,
  type UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { trailerFlag, trailerParse } from "@connectrpc/connect/protocol-grpc-web";
import { compressionGzip } from "@connectrpc/connect-node";
import { connectErrorFrom, ERROR_DETAILS } from "../service/error-responses.ts";
import { reasonFromKind } from "../service/error-table.ts";
import { contextValuesWith, setOutcome } from "../service/request-record.ts";
import { ServiceError, serviceErrorFrom } from "../service/service-error.ts";
import { STREAM_ITEMS } from "../service/stream-items.ts";
import type { Body } from "./body.ts";
import type { BodyLease } from "./byte-budget.ts";
import { setTimeoutHeader, TIMEOUT_HEADERS } from "./client-timeout.ts";
import { type ErrorTranslation, translateEarlyErrors } from "./early-errors.ts";
import type { Request } from "./exchange.ts";
import { LIMITS } from "./limits.ts";
import type { RequestContext } from "./request-context.ts";
import type { RequestItems } from "./request-items.ts";
import { ENVELOPE_HEADER_BYTES, prepareMessage, prepareMessages } from "./rpc-message.ts";
import { sendResponse } from "./send-response.ts";
import { sendStream } from "./send-stream.ts";
import type { StreamBody } from "./stream-body.ts";

/** Unknown fields are discarded: a parser that keeps them makes an object of each, however small it is. */
const BINARY_OPTIONS = { readUnknownFields: false };

/** Adds services to a router. */
export type RpcRoutes = (router: ConnectRouter) => unknown;

/** Creates the handlers of services that need a user, for gRPC, gRPC-Web and Connect. */
export function createRpcHandlers(routes: RpcRoutes, maxRequestBytes: number): readonly UniversalHandler[] {
  const router = createConnectRouter({
    binaryOptions: BINARY_OPTIONS,
    // The responses of a stream may have errors with details.
    jsonOptions: { registry: ERROR_DETAILS },
    readMaxBytes: maxRequestBytes,
    // For responses: requests are decompressed before Connect sees them.
    acceptCompression: [compressionGzip],
  });
  routes(router);
  translateEarlyErrors(router, createTranslation);
  return router.handlers;
}

/** Creates the handlers of open services, which anyone may call. */
export function createOpenRpcHandlers(routes: RpcRoutes): readonly UniversalHandler[] {
  const router = createConnectRouter({
    binaryOptions: BINARY_OPTIONS,
    readMaxBytes: LIMITS.openMessageBytes,
    acceptCompression: [],
  });
  routes(router);
  translateEarlyErrors(router, () => translateOpenError);
  return router.handlers;
}

/** Translates early errors to those of the error table, and records the outcome of the request. */
function createTranslation(values: ContextValues): ErrorTranslation {
  return (early) => {
    const error = isParseError(early) ? new ServiceError("badRequest") : serviceErrorFrom(early);
    setOutcome(values, reasonFromKind(error.kind));
    return connectErrorFrom(error);
  };
}

/** Health and reflection keep Connect's errors, except that a parse error is the client's fault, not internal. */
function translateOpenError(early: ConnectError): ConnectError {
  return isParseError(early) ? connectErrorFrom(new ServiceError("badRequest")) : early;
}

/** Before any handler has run, Connect reports only a message that it cannot parse as an internal error. */
function isParseError({ code }: ConnectError): boolean {
  return code === Code.Internal;
}

/** Serves a unary RPC whose body has been read. Throws ServiceError or RestError for a request that it cannot serve. */
export async function serveUnary(
  context: RequestContext,
  handler: UniversalHandler,
  body: Body,
  options: { readonly maxBytes: number; readonly timeoutMs: number },
): Promise<void> {
  const { request } = context;
  const header = headersFrom(request.headers);
  const message = await prepareMessage(context, handler.method.input, body, header, options.maxBytes);
  setTimeoutHeader(context, header, options.timeoutMs);
  const response = await handler({
    ...requestLineOf(request),
    header,
    body: createAsyncIterable([message.body]),
    signal: context.signal,
    contextValues: contextValuesWith(context.record),
  });
  throwIfUnsupported(response);
  const content = response.body && (await readAllBytes(response.body, Number.MAX_SAFE_INTEGER));
  const { "content-length": _, ...headers } = nodeHeadersFrom(response.header);
  const errorTrailer = errorTrailerFrom(response, content);
  if (errorTrailer) {
    sendResponse(context, { status: 200, headers: { ...headers, ...nodeHeadersFrom(errorTrailer) } });
    return;
  }
  const isJson = message.isConverted && response.status === 200;
  sendResponse(context, {
    status: response.status,
    headers: isJson ? { ...headers, "content-type": "application/json" } : headers,
    body: isJson ? jsonFromBinary(handler.method.output, content!) : content,
    trailers: response.trailer && nodeHeadersFrom(response.trailer),
  });
}

/**
 * Returns the trailers of a gRPC or gRPC-Web error, which has no message; undefined for any other response. They are
 * sent among the headers (Trailers-Only): a gRPC client retries only such errors (gRFC A6), and metadata that is also a
 * header, such as the request id, arrives once.
 */
function errorTrailerFrom(
  { header, trailer }: UniversalServerResponse,
  content: Uint8Array | undefined,
): Headers | undefined {
  if (trailer) return content?.length ? undefined : trailer;
  const isGrpcWeb = header?.get("content-type")?.startsWith("application/grpc-web");
  if (!isGrpcWeb || content?.[0] !== trailerFlag) return undefined;
  return trailerParse(content.subarray(ENVELOPE_HEADER_BYTES));
}

function jsonFromBinary(schema: DescMessage, bytes: Uint8Array): string {
  return toJsonString(schema, fromBinary(schema, bytes));
}

/** Serves an RPC of an open service, which may stream in either direction. */
export async function serveOpen(
  context: RequestContext,
  handler: UniversalHandler,
  body: AsyncIterable<Uint8Array>,
): Promise<void> {
  const header = headersFrom(context.request.headers);
  setTimeoutHeader(context, header, LIMITS.clientDeadlineMs);
  await callAndSend(context, handler, { header, body, contextValues: contextValuesWith(undefined) });
}

/** How the messages of a stream are received. */
export interface StreamOptions {
  readonly maxBytes: number;
  /** Takes over the lease of each message. */
  readonly onMessage: (lease: BodyLease) => void;
  /** The items of the stream, if each message is one. */
  readonly items?: RequestItems;
}

/** Serves an RPC that streams in one or both directions. */
export async function serveStream(
  context: RequestContext,
  handler: UniversalHandler,
  body: StreamBody,
  { items, ...options }: StreamOptions,
): Promise<void> {
  const { request, protocol } = context;
  if (protocol === "grpc-web" && handler.method.methodKind !== "server_streaming")
    throw new ServiceError("badRequest", "gRPC-Web cannot carry this method.");
  const header = headersFrom(request.headers);
  // The deadline stops the reading of messages, and Connect has nothing to stop.
  for (const name of TIMEOUT_HEADERS) header.delete(name);
  const { input } = handler.method;
  const messages = prepareMessages(context, input, body.readEnvelopes(), header, options);
  const contextValues = contextValuesWith(context.record).set(STREAM_ITEMS, items);
  await callAndSend(context, handler, { header, body: messages, contextValues }, () => body.close());
}

/** Calls a method and sends its response as a stream. */
async function callAndSend(
  context: RequestContext,
  handler: UniversalHandler,
  call: Pick<UniversalServerRequest, "header" | "body" | "contextValues">,
  onPartsEnd?: () => void,
): Promise<void> {
  const { request, signal } = context;
  const response = await handler({ ...requestLineOf(request), ...call, signal });
  throwIfUnsupported(response);
  const head = { status: response.status, headers: nodeHeadersFrom(response.header) };
  const trailers = () => nodeHeadersFrom(response.trailer);
  await sendStream(context, head, response.body ?? createAsyncIterable([]), {
    trailers,
    signal,
    ...(onPartsEnd && { onPartsEnd }),
  });
}

/** The version, method and URL of a request, as Connect requires them. */
function requestLineOf({ httpVersion, method = "POST", url }: Request) {
  return { httpVersion, method, url: absoluteUrl(url) };
}

/** Connect answers unsupported requests with a bare status; these errors have a body. */
function throwIfUnsupported({ status }: UniversalServerResponse): void {
  if (status === 415)
    throw new ServiceError("badRequest", "The content type is not one that this method supports.");
  if (status === 505) throw new ServiceError("badRequest", "This method needs HTTP/2.");
}

/** Makes the absolute URL that Connect requires. The host is fixed, because the client's may be malformed. */
function absoluteUrl(target = "/"): string {
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
