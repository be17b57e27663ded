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

/** Says anew, with details, an error that Connect raised by itself. */
export type Explanation = (error: ConnectError) => ConnectError;

/** Flags, then four bytes of length, before every message of gRPC-Web. */
const ENVELOPE_HEAD_BYTES = 5;

/**
 * Explains the errors that Connect raises before any interceptor runs: a message that cannot be parsed, or is
 * too large. They leave the methods registered so far as answers that are written already, so each wire's
 * answer is opened and written again. Answers with details are ours and pass as they are.
 */
export function explainEarlyErrors(
  router: ConnectRouter,
  explanationIn: (context: ContextValues) => Explanation,
): void {
  for (const [i, handle] of router.handlers.entries()) {
    // The response of a stream is not there yet.
    if (handle.method.methodKind !== "unary") continue;
    const explained = async (request: UniversalServerRequest) => {
      const explain = explanationIn(request.contextValues ?? createContextValues());
      return rewritten(await handle(request), explain);
    };
    router.handlers[i] = Object.assign(explained, handle);
  }
}

function rewritten(
  response: UniversalServerResponse,
  explain: Explanation,
): Promise<UniversalServerResponse> {
  if (response.trailer) return grpcRewritten(response, explain);
  const type = response.header?.get("content-type") ?? "";
  if (type.startsWith("application/grpc-web")) return grpcWebRewritten(response, explain);
  return connectRewritten(response, explain);
}

async function grpcRewritten(response: UniversalServerResponse, explain: Explanation) {
  // An answer without a message has its trailers already.
  const error = findTrailerError(response.trailer!);
  if (error && error.details.length === 0) setTrailerStatus(response.trailer!, explain(error));
  return response;
}

async function grpcWebRewritten(response: UniversalServerResponse, explain: Explanation) {
  const bytes = await bodyOf(response);
  const answer = (body: Uint8Array) => ({ ...response, body: createAsyncIterable([body]) });
  if (bytes[0] !== trailerFlag) return answer(bytes);
  const trailer = trailerParse(bytes.subarray(ENVELOPE_HEAD_BYTES));
  const error = findTrailerError(trailer);
  if (!error || error.details.length > 0) return answer(bytes);
  setTrailerStatus(trailer, explain(error));
  return answer(encodeEnvelope(trailerFlag, trailerSerialize(trailer)));
}

async function connectRewritten(response: UniversalServerResponse, explain: Explanation) {
  const isError = response.status >= 400 && response.body && !response.header?.has("content-encoding");
  if (!isError) return response;
  const bytes = await bodyOf(response);
  const error = errorFromJsonBytes(bytes, undefined, new ConnectError("", Code.Internal));
  if (error.details.length > 0) return { ...response, body: createAsyncIterable([bytes]) };
  const explained = explain(error);
  const body = errorToJsonBytes(explained, undefined);
  const header = new Headers(response.header);
  header.set("content-length", String(body.byteLength));
  return {
    ...response,
    status: codeToHttpStatus(explained.code),
    header,
    body: createAsyncIterable([body]),
  };
}

function bodyOf({ body }: UniversalServerResponse): Promise<Uint8Array> {
  return readAllBytes(body!, Number.MAX_SAFE_INTEGER);
}
