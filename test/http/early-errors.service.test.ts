import type { IncomingHttpHeaders } from "node:http";
import { connect } from "node:http2";
import { ConnectError } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { errorFromJson } from "@connectrpc/connect/protocol-connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { trailerParse } from "@connectrpc/connect/protocol-grpc-web";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BadRequestSchema, ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import type { RunningService } from "../../src/main.ts";
import { startTestService, USER } from "../support/service.ts";

const PATH = "/face.v1.FaceService/GetFaceVec";
const MAX_REQUEST_BYTES = 4096;

let service: RunningService;
beforeAll(async () => {
  service = await startTestService({ VISAGE_MAX_REQUEST_BYTES: String(MAX_REQUEST_BYTES) });
});
afterAll(() => service.close());

/** Bytes that are not a message, and a message that is too large. */
const NOT_A_MESSAGE = Buffer.from("\xff\xff\xff\xff", "latin1");
const TOO_LARGE = Buffer.alloc(2 * MAX_REQUEST_BYTES);

type Call = (body: Uint8Array) => Promise<ConnectError>;

const PROTOCOLS: Readonly<Record<string, Call>> = {
  gRPC: async (body) => findTrailerError(await callGrpc(encodeEnvelope(0, body)))!,
  "gRPC-Web": async (body) => {
    const response = await postHttp1("application/grpc-web+proto", encodeEnvelope(0, body));
    // The status of an error without a message is among the headers.
    const early = findTrailerError(response.headers);
    return early ?? findTrailerError(trailerParse(new Uint8Array(await response.arrayBuffer()).subarray(5)))!;
  },
  "Connect binary": async (body) => connectError(await postHttp1("application/proto", body)),
  "Connect JSON": async (body) => connectError(await postHttp1("application/json", body)),
};

function postHttp1(type: string, body: Uint8Array): Promise<Response> {
  const headers = { user_id: USER, "content-type": type };
  return fetch(`http://127.0.0.1:${service.port}${PATH}`, { method: "POST", headers, body: body.slice() });
}

async function connectError(response: Response): Promise<ConnectError> {
  expect(response.headers.get("x-request-id")).toBeTruthy();
  return errorFromJson((await response.json()) as never, undefined, new ConnectError("no error"));
}

function callGrpc(body: Uint8Array): Promise<Headers> {
  const session = connect(`http://127.0.0.1:${service.port}`);
  const head = { ":method": "POST", ":path": PATH, "content-type": "application/grpc", te: "trailers" };
  const stream = session.request({ ...head, user_id: USER });
  return new Promise((resolve, reject) => {
    const take = (headers: IncomingHttpHeaders) => {
      if (!("grpc-status" in headers)) return;
      const plain = Object.entries(headers).filter(([name]) => !name.startsWith(":"));
      resolve(new Headers(plain as [string, string][]));
      session.close();
    };
    // The status of an error without a message is among the headers.
    stream.on("response", take).on("trailers", take);
    stream.on("error", reject).resume().end(body);
  });
}

describe.each(Object.entries(PROTOCOLS))("over %s", (_, call) => {
  test("bytes that are not a message are an error with details", async () => {
    const error = await call(NOT_A_MESSAGE);
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([
      { reason: "BAD_REQUEST", domain: "visage.dev", metadata: { code: "2001", retryable: "false" } },
    ]);
    expect(error.findDetails(BadRequestSchema)).toHaveLength(1);
  });

  test("a message beyond the limit is an error with details", async () => {
    const error = await call(TOO_LARGE);
    expect(error.rawMessage).toBe(`The request body is larger than ${MAX_REQUEST_BYTES} bytes.`);
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([
      { reason: "REQUEST_TOO_LARGE", metadata: { code: "2010" } },
    ]);
  });

  test("an error of an operation keeps its own details", async () => {
    const error = await call(new Uint8Array());
    expect(error.findDetails(ErrorInfoSchema)).toHaveLength(1);
  });
});
