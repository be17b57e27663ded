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

/** What is no message at all, and a message that is too large. */
const NO_MESSAGE = Buffer.from("\xff\xff\xff\xff", "latin1");
const TOO_LARGE = Buffer.alloc(2 * MAX_REQUEST_BYTES);

type Ask = (body: Uint8Array) => Promise<ConnectError>;

const WIRES: Readonly<Record<string, Ask>> = {
  gRPC: async (body) => findTrailerError(await askGrpc(encodeEnvelope(0, body)))!,
  "gRPC-Web": async (body) => {
    const answer = await askHttp1("application/grpc-web+proto", encodeEnvelope(0, body));
    // An error without a message has its status among the headers.
    const early = findTrailerError(answer.headers);
    return early ?? findTrailerError(trailerParse(new Uint8Array(await answer.arrayBuffer()).subarray(5)))!;
  },
  "Connect binary": async (body) => connectError(await askHttp1("application/proto", body)),
  "Connect JSON": async (body) => connectError(await askHttp1("application/json", body)),
};

function askHttp1(type: string, body: Uint8Array): Promise<Response> {
  const headers = { user_id: USER, "content-type": type };
  return fetch(`http://127.0.0.1:${service.port}${PATH}`, { method: "POST", headers, body: body.slice() });
}

async function connectError(answer: Response): Promise<ConnectError> {
  expect(answer.headers.get("x-request-id")).toBeTruthy();
  return errorFromJson((await answer.json()) as never, undefined, new ConnectError("no error"));
}

function askGrpc(body: Uint8Array): Promise<Headers> {
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
    // An error without a message has its status among the headers.
    stream.on("response", take).on("trailers", take);
    stream.on("error", reject).resume().end(body);
  });
}

describe.each(Object.entries(WIRES))("over %s", (_, ask) => {
  test("what is no message is told with its kind", async () => {
    const error = await ask(NO_MESSAGE);
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([
      { reason: "BAD_REQUEST", domain: "visage", metadata: { code: "2001", retryable: "false" } },
    ]);
    expect(error.findDetails(BadRequestSchema)).toHaveLength(1);
  });

  test("a message beyond the limit is told with its kind", async () => {
    const error = await ask(TOO_LARGE);
    expect(error.rawMessage).toBe(`The request body is larger than ${MAX_REQUEST_BYTES} bytes.`);
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([
      { reason: "REQUEST_TOO_LARGE", metadata: { code: "2010" } },
    ]);
  });

  test("an error of an operation keeps its own details", async () => {
    const error = await ask(new Uint8Array());
    expect(error.findDetails(ErrorInfoSchema)).toHaveLength(1);
  });
});
