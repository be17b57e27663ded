import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { PACKAGE_ROOT } from "../../src/model-manifest.ts";
import { writeNginxConfig } from "../support/nginx.ts";
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
