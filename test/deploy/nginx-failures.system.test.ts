import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { createVisageClient } from "../../src/client/visage-client.ts";
import { httpErrorFrom, statusJsonFrom } from "../../src/service/error-responses.ts";
import type { ErrorKind } from "../../src/service/error-table.ts";
import { ServiceError } from "../../src/service/service-error.ts";
import { freePort } from "../../tools/support/free-port.ts";
import { type ServiceProcess, startServiceProcess, USER } from "../../tools/support/service-process.ts";
import { smallPortrait } from "../support/images.ts";
import { type Nginx, startNginx } from "../support/nginx.ts";
import { findTools } from "../support/tools.ts";

const { wanted, paths } = findTools("nginx");
const TOO_LARGE = 33 * 1024 * 1024;
const READ_TIMEOUT_MS = 10_000;

async function post(nginx: Nginx, path: string, body: FormData | Buffer | string): Promise<Response> {
  const headers = { user_id: USER, "x-request-id": "id-of-the-client" };
  return fetch(`http://127.0.0.1:${nginx.httpPort}${path}`, { method: "POST", headers, body });
}

async function requestVector(nginx: Nginx): Promise<Response> {
  const body = new FormData();
  body.append("img", new Blob([Uint8Array.from(await smallPortrait())]));
  return post(nginx, "/get_face_vec", body);
}

/** Expects an error that nginx has made to equal the one that the service would make, except its message. */
async function expectErrorOfService(response: Response, kind: ErrorKind, isTyped = false): Promise<void> {
  const body = (await response.json()) as { message: string };
  const error = new ServiceError(kind, body.message);
  expect(body).toEqual(isTyped ? statusJsonFrom(error) : httpErrorFrom(error).body);
  expect(response.headers.get("retry-after")).toBe(httpErrorFrom(error).headers["retry-after"] ?? null);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("x-request-id")).toBe("id-of-the-client");
}

/** Sends a gRPC request and returns the headers of the response. */
async function requestGrpc(nginx: Nginx): Promise<IncomingHttpHeaders> {
  const session = connect(`http://127.0.0.1:${nginx.grpcPort}`);
  onTestFinished(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": "/face.v1.FaceService/GetFaceVec",
    "content-type": "application/grpc",
    "x-request-id": "id-of-the-client",
    te: "trailers",
  });
  const [headers] = await once(stream.resume().end(Buffer.alloc(5)), "response");
  return headers;
}

describe.skipIf(!wanted)("nginx without a replica", () => {
  let nginx: Nginx;
  beforeAll(async () => {
    nginx = await startNginx(paths.nginx, [await freePort(), await freePort()]);
  });
  afterAll(() => nginx?.stop());

  test.each([
    ["/get_face_vec", false],
    ["/v1/images:analyze", true],
    ["/v1/account/keys", true],
    ["/v1/images:analyzeStream", true],
    ["/v1/galleries/staff:import", true],
  ])("answers POST %s like the service", async (path, isTyped) => {
    const response = await post(nginx, path, "{}");
    expect(response.status).toBe(502);
    await expectErrorOfService(response, "internal", isTyped);
  });

  test("answers every request, however many have failed", async () => {
    for (let i = 0; i < 20; i++)
      await expectErrorOfService(await post(nginx, "/get_face_vec", "{}"), "internal");
  });

  test("rejects a body that is too large like the service", async () => {
    const response = await post(nginx, "/get_face_vec", Buffer.alloc(TOO_LARGE));
    expect(response.status).toBe(413);
    await expectErrorOfService(response, "requestTooLarge");
    const typed = await post(nginx, "/v1/images:analyze", Buffer.alloc(TOO_LARGE));
    await expectErrorOfService(typed, "requestTooLarge", true);
  });

  test("answers over gRPC and Connect", async () => {
    expect(await requestGrpc(nginx)).toMatchObject({
      ":status": 200,
      "content-type": "application/grpc",
      "grpc-status": "14",
      "x-request-id": "id-of-the-client",
    });
    const address = `http://127.0.0.1:${nginx.grpcPort}`;
    const call = createVisageClient({ address, apiKey: USER, retries: 0 }).getFaceVec(await smallPortrait());
    await expect(call).rejects.toMatchObject({ reason: "UNREACHABLE", retryable: true });

    const baseUrl = `http://127.0.0.1:${nginx.httpPort}`;
    const client = createClient(FaceService, createConnectTransport({ baseUrl, httpVersion: "1.1" }));
    const error = ConnectError.from(await client.getFaceVec({}).catch((fault: unknown) => fault));
    expect([error.code, error.rawMessage]).toEqual([
      Code.Unavailable,
      "No replica of the service could be reached.",
    ]);
  });
});

describe.skipIf(!wanted)("nginx with replicas that fail", () => {
  let ports: readonly [number, number];
  let replicas: ServiceProcess[];
  let nginx: Nginx;
  const start = (port: number) => startServiceProcess({ VISAGE_PORT: String(port), VISAGE_WORKERS: "1" });
  beforeAll(async () => {
    ports = [await freePort(), await freePort()];
    replicas = await Promise.all(ports.map(start));
    nginx = await startNginx(paths.nginx, ports);
  });
  afterAll(async () => {
    await nginx?.stop();
    await Promise.all((replicas ?? []).map((replica) => replica.stop()));
  });

  /** Stops the processes of replicas without closing their connections, until the end of the test. */
  function hang(...hung: ServiceProcess[]): void {
    for (const { pid } of hung) process.kill(pid, "SIGSTOP");
    onTestFinished(() => {
      for (const { pid } of hung) process.kill(pid, "SIGCONT");
    });
  }

  test("passes over a replica that hangs", async () => {
    hang(replicas[0]!);
    const durations: number[] = [];
    for (let i = 0; i < 6; i++) {
      const start = performance.now();
      expect((await requestVector(nginx)).status).toBe(200);
      durations.push(performance.now() - start);
    }
    // Only the first request that the replica gets waits for it.
    expect(durations.filter((duration) => duration >= READ_TIMEOUT_MS).length).toBeLessThanOrEqual(1);

    const address = `http://127.0.0.1:${nginx.grpcPort}`;
    const client = createVisageClient({ address, apiKey: USER });
    for (let i = 0; i < 4; i++)
      expect((await client.getFaceVec(await smallPortrait())).embedding).toHaveLength(128);
  });

  test("answers like the service if all replicas hang", async () => {
    hang(...replicas);
    const response = await requestVector(nginx);
    expect(response.status).toBe(504);
    await expectErrorOfService(response, "deadlinePassed");
  });

  test("serves requests as soon as a replica is back", async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    for (let i = 0; i < 4; i++) expect((await requestVector(nginx)).status).toBe(502);
    replicas[1] = await start(ports[1]);
    for (let i = 0; i < 4; i++) expect((await requestVector(nginx)).status).toBe(200);
    replicas[0] = await start(ports[0]);
  });
});
