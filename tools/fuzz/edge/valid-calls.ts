import { connect } from "node:http2";
import { createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import { FaceService } from "../../../gen/ts/face/v1/face_pb.ts";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../../gen/ts/grpc/health/v1/health_pb.ts";
import { MULTIPART_TYPE, multipart, OPERATIONS } from "./requests.ts";

const TIMEOUT_MS = 20_000;
const VECTOR_LENGTH = 128;

/** Makes a valid call. Resolves to the length of the vector in the response, and rejects if the call fails. */
type Call = (baseUrl: string, user: string, photo: Buffer) => Promise<number | undefined>;

/** A valid GetFaceVec call over each protocol. It takes the whole photo as the face. */
export const VALID_CALLS: Readonly<Record<string, Call>> = {
  "REST over HTTP/1.1": async (baseUrl, user, photo) => {
    const response = await fetch(`${baseUrl}/get_face_vec`, {
      method: "POST",
      headers: { user_id: user, "content-type": MULTIPART_TYPE, connection: "close" },
      body: new Uint8Array(multipart(OPERATIONS[0], photo)),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return vectorLengthIn(await response.text());
  },
  "REST over HTTP/2": async (baseUrl, user, photo) => {
    const session = connect(baseUrl);
    const timer = setTimeout(() => session.destroy(new Error("timed out")), TIMEOUT_MS);
    try {
      return await new Promise<number | undefined>((resolve, reject) => {
        session.on("error", reject);
        const stream = session.request({
          ":method": "POST",
          ":path": "/get_face_vec",
          user_id: user,
          "content-type": MULTIPART_TYPE,
        });
        let body = "";
        stream.setEncoding("utf8").on("data", (chunk) => {
          body += chunk;
        });
        stream.on("error", reject).on("end", () => resolve(vectorLengthIn(body)));
        stream.end(multipart(OPERATIONS[0], photo));
      });
    } finally {
      clearTimeout(timer);
      session.destroy();
    }
  },
  gRPC: (baseUrl, user, photo) => {
    const sessionManager = new Http2SessionManager(baseUrl);
    const call = callOver(createGrpcTransport({ baseUrl, sessionManager }), user, photo);
    return call.finally(() => sessionManager.abort());
  },
  "gRPC-Web": (baseUrl, user, photo) =>
    callOver(createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }), user, photo),
  "Connect over HTTP/1.1": (baseUrl, user, photo) =>
    callOver(createConnectTransport({ baseUrl, httpVersion: "1.1" }), user, photo),
  "Connect over HTTP/2": (baseUrl, user, photo) => {
    const sessionManager = new Http2SessionManager(baseUrl);
    const call = callOver(createConnectTransport({ baseUrl, httpVersion: "2", sessionManager }), user, photo);
    return call.finally(() => sessionManager.abort());
  },
};

/** Makes a valid call over each protocol and checks readiness and gRPC health. Resolves to a list of failures. */
export async function findUnavailable(port: number, user: string, photo: Buffer): Promise<string[]> {
  const baseUrl = `http://127.0.0.1:${port}`;
  const faults: string[] = [];
  const check = async (name: string, run: () => Promise<boolean>) => {
    const fault = await run().then(
      (isExpected) => (isExpected ? undefined : "unexpected response"),
      (error: unknown) => String(error),
    );
    if (fault) faults.push(`${name}: ${fault}`);
  };
  await check("readiness", async () => (await fetch(`${baseUrl}/readyz`)).status === 200);
  await check("gRPC health", async () => {
    const sessionManager = new Http2SessionManager(baseUrl);
    const health = createClient(Health, createGrpcTransport({ baseUrl, sessionManager }));
    const response = health.check({}, { timeoutMs: TIMEOUT_MS }).finally(() => sessionManager.abort());
    return (await response).status === Status.SERVING;
  });
  for (const [name, call] of Object.entries(VALID_CALLS))
    await check(name, async () => (await call(baseUrl, user, photo)) === VECTOR_LENGTH);
  return faults;
}

async function callOver(transport: Transport, user: string, photo: Buffer): Promise<number | undefined> {
  const request = { img: { source: { case: "content" as const, value: photo } }, faceDet: false };
  const options = { headers: { user_id: user }, timeoutMs: TIMEOUT_MS };
  const { data } = await createClient(FaceService, transport).getFaceVec(request, options);
  return data?.vector.length;
}

function vectorLengthIn(body: string): number | undefined {
  const { data, message } = JSON.parse(body) as { data?: { vector?: number[] }; message: string };
  if (!data?.vector) throw new Error(message);
  return data.vector.length;
}
