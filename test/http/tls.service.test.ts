import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { connect } from "node:http2";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { generate } from "selfsigned";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { startTestService } from "../support/service.ts";

let service: RunningService;
let first: string;
let files: { cert: string; key: string };
const lines: string[] = [];

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
  const log = createLog("info", {
    write: (line) => void lines.push(line),
    dropped: 0,
    flush: async () => {},
  });
  service = await startTestService({ VISAGE_TLS_CERT: files.cert, VISAGE_TLS_KEY: files.key }, log);
});
afterAll(() => service.close());

function http1Status(ca: string): Promise<number | undefined> {
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
  expect(await http1Status(first)).toBe(200);
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
  const identity = (bytes: Buffer) => bytes;
  const answer = await new Promise<Buffer | undefined>((resolve, reject) => {
    client.makeUnaryRequest(
      "/grpc.health.v1.Health/Check",
      identity,
      identity,
      Buffer.alloc(0),
      new Metadata(),
      (error, bytes) => (error ? reject(error) : resolve(bytes)),
    );
  });
  client.close();
  // HealthCheckResponse { status: SERVING }
  expect(answer).toEqual(Buffer.from([0x08, 0x01]));
});

describe("an unusable certificate", () => {
  let cert: string;
  let key: string;
  beforeAll(() => {
    cert = readFileSync(files.cert, "utf8");
    key = readFileSync(files.key, "utf8");
  });
  afterEach(() => {
    writeFileSync(files.cert, cert);
    writeFileSync(files.key, key);
  });

  const DEFECTS: readonly [string, () => Promise<unknown> | unknown][] = [
    ["half a certificate", () => writeFileSync(files.cert, cert.slice(0, cert.length / 2))],
    ["an empty certificate", () => writeFileSync(files.cert, "")],
    ["no certificate", () => rmSync(files.cert)],
    ["a truncated chain", () => writeFileSync(files.cert, cert + cert.slice(0, cert.length / 2))],
    ["half a key", () => writeFileSync(files.key, key.slice(0, key.length / 2))],
    ["an empty key", () => writeFileSync(files.key, "")],
    [
      "another key",
      async () => {
        await writeCertificate();
        writeFileSync(files.cert, cert);
      },
    ],
  ];

  test.each(DEFECTS)("does not replace the current one: %s", async (_, damage) => {
    lines.splice(0);
    await damage();
    await service.reload();
    expect(await http1Status(cert)).toBe(200);
    expect(lines.join("")).toMatch(
      /"level":"error".*"event":"certificate reload failed","cause":"VISAGE_TLS_CERT and VISAGE_TLS_KEY cannot be used: ./,
    );
    expect(lines.join("")).not.toContain("PRIVATE KEY");
  });

  test.each(DEFECTS)("fails the start: %s", async (_, damage) => {
    await damage();
    const starting = startTestService({ VISAGE_TLS_CERT: files.cert, VISAGE_TLS_KEY: files.key });
    await expect(starting).rejects.toThrow("VISAGE_TLS_CERT and VISAGE_TLS_KEY cannot be used: ");
  });
});

test("the last of overlapping reloads wins", async () => {
  const old = readFileSync(files.cert, "utf8");
  // The first reload reads its certificate from a pipe, so that the second one could overtake it.
  rmSync(files.cert);
  execFileSync("mkfifo", [files.cert]);
  const pipe = openSync(files.cert, constants.O_RDWR);
  const first = service.reload();
  await sleep(100);
  rmSync(files.cert);
  const last = await writeCertificate();
  const second = service.reload();
  await sleep(200);
  writeSync(pipe, old);
  closeSync(pipe);
  await Promise.all([first, second]);
  expect(await http1Status(last)).toBe(200);
});

test("a renewed certificate is used without a restart", async () => {
  const second = await writeCertificate();
  await expect(http1Status(second)).rejects.toThrow();
  await service.reload();
  expect(await http1Status(second)).toBe(200);
});
