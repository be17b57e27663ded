import { writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { connect } from "node:http2";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { generate } from "selfsigned";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { startTestService } from "../support/service.ts";

let service: RunningService;
let first: string;
let files: { cert: string; key: string };

async function writeCertificate(): Promise<string> {
  const pems = await generate([{ name: "commonName", value: "localhost" }], {
    extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: "localhost" }] }],
  });
  writeFileSync(files.cert, pems.cert);
  writeFileSync(files.key, pems.private);
  return pems.cert;
}

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "visage-tls-"));
  files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  first = await writeCertificate();
  service = await startTestService({ VISAGE_TLS_CERT: files.cert, VISAGE_TLS_KEY: files.key });
});
afterAll(() => service.close());

function statusOver11(ca: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({
      host: "127.0.0.1",
      servername: "localhost",
      port: service.port,
      path: "/readyz",
      ca,
      agent: false,
    })
      .on("response", (response) => resolve(response.resume().statusCode))
      .on("error", reject)
      .end();
  });
}

test("HTTP/1.1 and HTTP/2 are served under TLS on one port", async () => {
  expect(await statusOver11(first)).toBe(200);
  const session = connect(`https://127.0.0.1:${service.port}`, { ca: first, servername: "localhost" });
  const stream = session.request({ ":path": "/readyz" }).resume();
  const status = await new Promise((resolve, reject) => {
    stream.on("response", (headers) => resolve(headers[":status"])).on("error", reject);
  });
  session.close();
  expect(status).toBe(200);
});

test("gRPC is served under TLS", async () => {
  const client = new Client(`127.0.0.1:${service.port}`, credentials.createSsl(Buffer.from(first)), {
    "grpc.ssl_target_name_override": "localhost",
  });
  const asBytes = (bytes: Buffer) => bytes;
  const answer = await new Promise<Buffer | undefined>((resolve, reject) => {
    client.makeUnaryRequest(
      "/grpc.health.v1.Health/Check",
      asBytes,
      asBytes,
      Buffer.alloc(0),
      new Metadata(),
      (error, bytes) => (error ? reject(error) : resolve(bytes)),
    );
  });
  client.close();
  // HealthCheckResponse { status: SERVING }
  expect(answer).toEqual(Buffer.from([0x08, 0x01]));
});

test("a renewed certificate is taken without a restart", async () => {
  const second = await writeCertificate();
  await expect(statusOver11(second)).rejects.toThrow();
  await service.reload();
  expect(await statusOver11(second)).toBe(200);
});
