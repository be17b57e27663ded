import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { variableNames } from "../../src/config.ts";
import { PACKAGE_ROOT } from "../../src/model-manifest.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";

const FOLDER = join(PACKAGE_ROOT, "deploy");
const texts = readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
  .map((name) => join(FOLDER, name))
  .filter((path) => statSync(path).isFile())
  .map((path) => readFileSync(path, "utf8"));

function namesLike(pattern: RegExp): string[] {
  return [...new Set(texts.flatMap((text) => text.match(pattern) ?? []))];
}

test("deploy/ names variables that are read", () => {
  const named = namesLike(/\b(?:VISAGE|OTEL)_[A-Z_]+\b/g);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !variableNames().includes(name))).toEqual([]);
});

test("deploy/ names metrics that are told", async () => {
  const metrics = createMetrics(() => ({
    identity: "some",
    workers: { size: 1, pids: [], busy: 0, waiting: 0, restarts: 0 },
    server: {
      connections: { http1: 0, http2: 0 },
      requestsInFlight: 0,
      bodyBytes: 0,
      rejectedConnections: {},
    },
    accountsAvailable: true,
    droppedLogLines: 0,
  }));
  const told = [...(await metrics.text()).matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name);
  const named = namesLike(/\b(?:visage|process|nodejs)_[a-z_]+\b/g);
  expect(named.length).toBeGreaterThan(8);
  // A histogram is asked for by what it is kept in.
  expect(named.filter((name) => !told.includes(name.replace(/_bucket$/, "")))).toEqual([]);
});
