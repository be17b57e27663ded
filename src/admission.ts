import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { codeToHttpStatus, errorToJson } from "@connectrpc/connect/protocol-connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { dropBody } from "./rest/drop-body.ts";
import { REQUEST_ID, requestIdFrom } from "./service/interceptors.ts";
import { connectErrorFrom, httpAnswerFrom, type ServiceError } from "./service/service-error.ts";

export type Request = IncomingMessage | Http2ServerRequest;
export type Response = ServerResponse | Http2ServerResponse;

/**
 * Answers a request that is refused at its headers, in the way of its own wire. Connect's
 * interceptors would come too late: they run when the whole body has been read.
 */
export function refuse(
  request: Request,
  response: Response,
  error: ServiceError,
  isRpc: boolean,
  httpStatus: (status: number) => number,
): void {
  const type = request.headers["content-type"] ?? "";
  const headers: Record<string, string> = { [REQUEST_ID]: requestIdFrom(request.headers[REQUEST_ID]) };
  dropBody(request);
  if (type.startsWith("application/grpc")) {
    const trailer = new Headers();
    setTrailerStatus(trailer, connectErrorFrom(error));
    writeTrailersOnly(response, { ...headers, "content-type": type, ...Object.fromEntries(trailer) });
  } else if (isRpc) {
    const told = connectErrorFrom(error);
    const body = JSON.stringify(errorToJson(told, undefined));
    write(response, codeToHttpStatus(told.code), { ...headers, "content-type": "application/json" }, body);
  } else {
    const { status, headers: more, body } = httpAnswerFrom(error);
    write(
      response,
      httpStatus(status),
      { ...headers, ...more, "content-type": "application/json" },
      JSON.stringify(body),
    );
  }
}

/** A gRPC answer without a message: its headers are its trailers, and must end the stream. */
function writeTrailersOnly(response: Response, headers: Record<string, string>): void {
  if ("stream" in response)
    response.stream.respond({ ...response.getHeaders(), ":status": 200, ...headers }, { endStream: true });
  else write(response, 200, headers, "");
}

function write(response: Response, status: number, headers: Record<string, string>, body: string): void {
  // Set by hand: Node knows the length only of an answer whose headers it writes itself.
  const length = String(Buffer.byteLength(body));
  (response as ServerResponse).writeHead(status, { ...headers, "content-length": length });
  (response as ServerResponse).end(body);
}
