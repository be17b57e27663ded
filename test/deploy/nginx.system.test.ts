import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { PACKAGE_ROOT } from "../../src/model-manifest.ts";
import { startNginx, writeNginxConfig } from "../support/nginx.ts";
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

test("nginx timeouts are longer than the request timeout", () => {
  const seconds = [...config.matchAll(/(?:read|send|body)_timeout (\d+)s;/g)].map(([, text]) => Number(text));
  expect(seconds).toHaveLength(5);
  expect(Math.min(...seconds) * 1000).toBeGreaterThan(readConfig({}).requestTimeoutMs);
});

test.skipIf(!wanted).each([
  ["POST", "/get_face_vec", 2],
  ["POST", "/v1/galleries/staff:identify", 2],
  ["GET", "/v1/account", 2],
  ["POST", "/v1/account/keys", 1],
  ["PATCH", "/v1/admin/users/acme", 1],
  ["POST", "/v1/galleries", 1],
])("%s %s reaches %d replicas that lose the connection", async (method, path, expected) => {
  let received = 0;
  const replica = async () => {
    const server = createServer(({ url, socket }) => {
      if (url === path) received++;
      socket.destroy();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    return (server.address() as AddressInfo).port;
  };
  const nginx = await startNginx(paths.nginx, [await replica(), await replica()], (text) =>
    // The probe of the start must not take a replica out of rotation.
    text.replaceAll("max_fails=1", "max_fails=0"),
  );
  onTestFinished(() => nginx.stop());
  const body = method === "GET" ? {} : { body: "{}" };
  const { status } = await fetch(`http://127.0.0.1:${nginx.httpPort}${path}`, { method, ...body });
  expect([status, received]).toEqual([502, expected]);
});
