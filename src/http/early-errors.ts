import {
  Code,
  ConnectError,
  type ConnectRouter,
  type ContextValues,
  createContextValues,
} from "@connectrpc/connect";
import {
  createAsyncIterable,
  encodeEnvelope,
  readAllBytes,
  type UniversalServerRequest,
  type UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { codeToHttpStatus, errorFromJsonBytes, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { findTrailerError, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { trailerFlag, trailerParse, trailerSerialize } from "@connectrpc/connect/protocol-grpc-web";
import { ENVELOPE_HEADER_BYTES } from "./rpc-message.ts";

/** Translates an error that Connect raised by itself to one with details. */
export type ErrorTranslation = (error: ConnectError) => ConnectError;

/**
 * Translates the errors that Connect raises before any interceptor runs: for a message that cannot be parsed or is too
 * large. Connect returns them as finished responses, so this wraps the unary handlers of the router: it parses the
 * response of each protocol and writes it again. Responses with error details are the service's own and stay unchanged.
 */
export function translateEarlyErrors(
  router: ConnectRouter,
  createTranslation: (values: ContextValues) => ErrorTranslation,
): void {
  for (const [i, handle] of router.handlers.entries()) {
    if (handle.method.methodKind !== "unary") continue;
    const wrapped = async (request: UniversalServerRequest) => {
      const translate = createTranslation(request.contextValues ?? createContextValues());
      return rewriteResponse(await handle(request), translate);
    };
    router.handlers[i] = Object.assign(wrapped, handle);
  }
}

function rewriteResponse(
  response: UniversalServerResponse,
  translate: ErrorTranslation,
): Promise<UniversalServerResponse> {
  if (response.trailer) return rewriteGrpc(response, translate);
  const type = response.header?.get("content-type") ?? "";
  if (type.startsWith("application/grpc-web")) return rewriteGrpcWeb(response, translate);
  return rewriteConnect(response, translate);
}

async function rewriteGrpc(response: UniversalServerResponse, translate: ErrorTranslation) {
  // A response without a message has its trailers already.
  const error = findTrailerError(response.trailer!);
  if (error && error.details.length === 0) setTrailerStatus(response.trailer!, translate(error));
  return response;
}

async function rewriteGrpcWeb(response: UniversalServerResponse, translate: ErrorTranslation) {
  const bytes = await readAll(response);
  const withBody = (body: Uint8Array) => ({ ...response, body: createAsyncIterable([body]) });
  if (bytes[0] !== trailerFlag) return withBody(bytes);
  const trailer = trailerParse(bytes.subarray(ENVELOPE_HEADER_BYTES));
  const error = findTrailerError(trailer);
  if (!error || error.details.length > 0) return withBody(bytes);
  setTrailerStatus(trailer, translate(error));
  return withBody(encodeEnvelope(trailerFlag, trailerSerialize(trailer)));
}

async function rewriteConnect(response: UniversalServerResponse, translate: ErrorTranslation) {
  const isError = response.status >= 400 && response.body && !response.header?.has("content-encoding");
  if (!isError) return response;
  const bytes = await readAll(response);
  const error = errorFromJsonBytes(bytes, undefined, new ConnectError("", Code.Internal));
  if (error.details.length > 0) return { ...response, body: createAsyncIterable([bytes]) };
  const translated = translate(error);
  const body = errorToJsonBytes(translated, undefined);
  const header = new Headers(response.header);
  header.set("content-length", String(body.byteLength));
  return {
    ...response,
    status: codeToHttpStatus(translated.code),
    header,
    body: createAsyncIterable([body]),
  };
}

function readAll({ body }: UniversalServerResponse): Promise<Uint8Array> {
  return readAllBytes(body!, Number.MAX_SAFE_INTEGER);
}
