import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fileVariableNames, variableNames } from "../../src/config.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";

const FOLDER = join(PACKAGE_ROOT, "deploy");
const texts = readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
  .map((name) => join(FOLDER, name))
  .filter((path) => statSync(path).isFile())
  .map((path) => readFileSync(path, "utf8"));

function findNames(pattern: RegExp): string[] {
  return [...new Set(texts.flatMap((text) => text.match(pattern) ?? []))];
}

test("deploy/ uses only existing settings", () => {
  const used = findNames(/\b(?:VISAGE|OTEL)_[A-Z_]+\b/g);
  expect(used.length).toBeGreaterThan(10);
  const known = [...variableNames(), ...fileVariableNames()];
  expect(used.filter((name) => !known.includes(name))).toEqual([]);
});

test("deploy/ uses only exported metrics", async () => {
  const metrics = createMetrics(() => ({
    identity: "some",
    workers: { size: 1, pids: [], busy: 0, waiting: 0, restarts: 0 },
    server: {
      connections: { http1: 0, http2: 0 },
      requestsInFlight: 0,
      requestsRunning: 0,
      bodyBytes: 0,
      rejectedConnections: {},
    },
    accountsAvailable: true,
    erasureDelayed: false,
    audit: { isFailing: false, lines: { written: 0, lost: 0 } },
    galleries: { galleries: 0, faces: 0, bytes: 0, evictions: 0, restarts: 0 },
    droppedLogLines: 0,
  }));
  const exported = [...(await metrics.text()).matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name);
  const used = findNames(/\b(?:visage|process|nodejs)_[a-z_]+\b/g);
  expect(used.length).toBeGreaterThan(8);
  // Histograms are queried by their series.
  expect(used.filter((name) => !exported.includes(name.replace(/_(bucket|sum|count)$/, "")))).toEqual([]);
});
