import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:http2";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { type Nginx, startNginx, writeNginxConfig } from "../support/nginx.ts";
import { findTools } from "../support/tools.ts";

const config = readFileSync(join(PACKAGE_ROOT, "deploy/nginx.conf"), "utf8");
const { wanted, paths } = findTools("nginx");

test.skipIf(!wanted)("nginx accepts the example configuration", () => {
  const folder = mkdtempSync(join(tmpdir(), "visage-nginx-"));
  const file = writeNginxConfig(folder, (text) => text.replaceAll(/listen (\d+)/g, "listen 127.0.0.1:180$1"));
  const { status, stderr } = spawnSync(paths.nginx, ["-t", "-e", "stderr", "-c", file], { encoding: "utf8" });
  expect(stderr).toMatch("test is successful");
  expect(status).toBe(0);
});

test("nginx accepts the same body size and headers as the service", () => {
  const [, megabytes] = /client_max_body_size (\d+)m;/.exec(config)!;
  expect(Number(megabytes) * 1024 * 1024).toBe(readConfig({}).maxRequestBytes);
  expect(config).toMatch("underscores_in_headers on;");
});

test("nginx waits longer than an analysis takes, and tries the other replica before a client gives up", () => {
  const { fetchTimeoutMs, maxQueueWaitMs, requestTimeoutMs } = readConfig({});
  const readTimeouts = [...config.matchAll(/read_timeout (\d+)s;/g)].map(([, text]) => Number(text) * 1000);
  const [usualMs, galleryMs, streamMs] = [...new Set(readTimeouts)].sort((a, b) => a - b);
  expect(usualMs).toBeGreaterThan(fetchTimeoutMs + maxQueueWaitMs + 3_000);
  expect(usualMs).toBeLessThan(requestTimeoutMs / 2);
  expect(galleryMs).toBeLessThan(requestTimeoutMs);
  expect(streamMs).toBeGreaterThan(requestTimeoutMs);
});

/** Starts nginx in front of two replicas, which lose every connection. */
async function startBeforeReplicas(createReplica: () => Server): Promise<Nginx> {
  const replica = async () => {
    const server = createReplica().listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    return (server.address() as AddressInfo).port;
  };
  const nginx = await startNginx(paths.nginx, [await replica(), await replica()]);
  onTestFinished(() => nginx.stop());
  return nginx;
}

test.skipIf(!wanted).each([
  ["POST", "/get_face_vec", 2],
  ["POST", "/v1/galleries/staff:identify", 2],
  ["GET", "/v1/account", 2],
  ["POST", "/v1/account/keys", 1],
  ["PATCH", "/v1/admin/users/acme", 1],
  ["POST", "/v1/galleries", 1],
])("%s %s reaches %d replicas that lose the connection", async (method, path, expected) => {
  let received = 0;
  const nginx = await startBeforeReplicas(() =>
    createServer(({ url, socket }) => {
      if (url === path) received++;
      socket.destroy();
    }),
  );
  const body = method === "GET" ? {} : { body: "{}" };
  const { status } = await fetch(`http://127.0.0.1:${nginx.httpPort}${path}`, { method, ...body });
  expect([status, received]).toEqual([502, expected]);
});

test.skipIf(!wanted).each(["face.v1.FaceService/GetFaceVec", "visage.v1.AccountService/CreateKey"])(
  "%s over gRPC reaches one replica that loses the connection",
  async (method) => {
    let received = 0;
    const nginx = await startBeforeReplicas(() =>
      createTcpServer((socket) => {
        socket
          .on("error", () => {})
          .once("data", () => {
            received++;
            socket.destroy();
          });
      }),
    );
    // That of the probe of the start does not count.
    received = 0;
    const session = connect(`http://127.0.0.1:${nginx.grpcPort}`);
    onTestFinished(() => session.close());
    const headers = { "content-type": "application/grpc", te: "trailers" };
    const stream = session.request({ ":method": "POST", ":path": `/${method}`, ...headers });
    const [response] = await once(stream.resume().end(Buffer.alloc(5)), "response");
    expect(response).toMatchObject({ ":status": 200, "grpc-status": "14" });
    expect(received).toBe(1);
  },
);
