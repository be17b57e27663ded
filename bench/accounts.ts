// Measures what checking accounts costs: `npm run bench:accounts`. Two servers share the same workers, one with
// accounts in SQLite and one that admits everyone, and take turns. Writes bench/results/accounts.md.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { createGate, type Gate } from "../src/accounts/gate.ts";
import { openSqliteStore } from "../src/accounts/sqlite-store.ts";
import { openTrialUser } from "../src/accounts/trial-user.ts";
import { readConfig } from "../src/config.ts";
import { createSyntheticFace } from "../src/core/image/synthetic-face.ts";
import { createImageFetcher } from "../src/fetch/image-fetcher.ts";
import { startServer } from "../src/http/server.ts";
import { PACKAGE_ROOT } from "../src/model-manifest.ts";
import { createLog } from "../src/telemetry/log.ts";
import { openPool } from "../src/workers/pool.ts";
import { prepareModels } from "../tools/models/prepare.ts";
import { formatTable } from "../tools/support/format.ts";
import { mapWithProgress } from "../tools/support/progress.ts";
import { USER } from "../tools/support/service-process.ts";
import { median } from "../tools/support/statistics.ts";
import { makePhotos } from "./load/photos.ts";
import { measureSpeed } from "./load/run-load.ts";
import { describeRun } from "./machine.ts";
import { formatSummary } from "./report.ts";

const ROUNDS = 12;
const SECONDS = 4;
const MOST_SHARE = 0.03;

/** Admits everyone at once and counts nothing. */
const OPEN_GATE: Gate = {
  hasAccounts: true,
  admit: () => ({
    admitted: true,
    caller: { fingerprint: "", maxImageBytes: undefined, limits: undefined, finish: () => {} },
  }),
  close: async () => {},
};

const folder = mkdtempSync(join(tmpdir(), "visage-accounts-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const modelsDir = await prepareModels();
const photo = (await makePhotos(folder)).one("640x480");
const store = await openSqliteStore(join(folder, "accounts.db"));
await openTrialUser({ store, id: USER, dataDir: undefined });
const gate = createGate({ store, graceMs: 60_000, onTrouble: console.error });
const pool = await openPool({ modelsDir, workers: availableParallelism() });
const config = readConfig({ VISAGE_HOST: "127.0.0.1", VISAGE_PORT: "0", VISAGE_WEB: "off" });
const fetcher = createImageFetcher({ allow: config.fetchAllow, timeoutMs: 1, maxBytes: 1 });
const serve = (through: Gate) =>
  startServer({
    config,
    analyzer: pool,
    fetcher,
    gate: through,
    warmUpImage: createSyntheticFace(),
    log: createLog("off"),
    observers: [],
  });
const servers = { with: await serve(gate), without: await serve(OPEN_GATE) };

const turns = Array.from({ length: ROUNDS }, (_, i) => (["with", "without"] as const)[i % 2]!);
const mix = [{ wire: "multipart", operation: "get_face_vec", images: [photo] }] as const;
const arrivals = { inFlight: 2 * availableParallelism(), seconds: SECONDS };
const rates = await mapWithProgress("accounts", turns, async (turn) => {
  const { perSecond } = await measureSpeed({ port: servers[turn].port, userId: USER, mix }, arrivals);
  return perSecond;
});
const medianOf = (turn: string) => median(rates.filter((_, i) => turns[i] === turn));
const cost = 1 - medianOf("with") / medianOf("without");
report();
for (const part of [servers.with, servers.without, pool, gate, fetcher, store]) await part.close();

function report(): void {
  const figure = {
    name: "throughput of get_face_vec lost to the check of accounts in SQLite",
    measured: `${(100 * cost).toFixed(1)} %`,
    target: `≤ ${100 * MOST_SHARE} %`,
    isMet: cost <= MOST_SHARE,
  };
  const summary = formatSummary([{ title: "", figures: [figure], body: "" }]);
  const rows = rates.map((rate, i) => [i + 1, turns[i]!, rate.toFixed(1)]);
  const text = [
    "# What accounts cost",
    `Written by \`npm run bench:accounts\`. ${describeRun()}`,
    summary,
    `Requests a second on one 640x480 photo, ${2 * availableParallelism()} in flight, in turns of ${SECONDS} s on the same workers; the loss is taken between the medians.`,
    formatTable(["turn", "accounts", "requests a second"], rows),
  ].join("\n\n");
  const results = join(PACKAGE_ROOT, "bench/results");
  mkdirSync(results, { recursive: true });
  writeFileSync(join(results, "accounts.md"), `${text}\n`);
  console.log(`\n${summary}`);
}
