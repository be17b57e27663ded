// Measures the cost of account checks: `npm run bench:accounts`. Two servers share the same workers and take turns:
// one has accounts in SQLite, the other admits everyone. Writes bench/results/accounts.md.
import { availableParallelism } from "node:os";
import { type Authenticator, createAuthenticator } from "../src/accounts/authenticator.ts";
import { createSqlStore } from "../src/accounts/sql-store.ts";
import { ensureTrialUser } from "../src/accounts/trial-user.ts";
import { createAuditTrail } from "../src/audit/create-audit-trail.ts";
import { readConfig } from "../src/config.ts";
import { DEFAULT_MODELS_DIR, readCalibration, readFalseMatchRates } from "../src/core/index.ts";
import { createSyntheticFace } from "../src/core/synthetic-face.ts";
import { openDatabase } from "../src/database/open-database.ts";
import { createImageFetcher } from "../src/fetch/image-fetcher.ts";
import { SearchProcess } from "../src/galleries/search-process.ts";
import { createSqlGalleryStore } from "../src/galleries/sql-gallery-store.ts";
import { startServer } from "../src/http/server.ts";
import { createServices } from "../src/services.ts";
import { createLog } from "../src/telemetry/log.ts";
import { openPool } from "../src/workers/pool.ts";
import { formatTable } from "../tools/support/format.ts";
import { mapWithProgress } from "../tools/support/progress.ts";
import { USER } from "../tools/support/service-process.ts";
import { median } from "../tools/support/statistics.ts";
import { createTempDir } from "../tools/support/temp-dir.ts";
import { createPhotos } from "./load/photos.ts";
import { measureSpeed } from "./load/run-load.ts";
import { describeRun } from "./machine.ts";
import { formatSummary, writeReport } from "./report.ts";

const ROUNDS = 12;
const SECONDS = 4;
const MAX_LOSS = 0.03;

/** Admits everyone and counts nothing. */
const OPEN_AUTHENTICATOR: Authenticator = {
  accountsAvailable: true,
  admit: () => ({
    admitted: true,
    caller: {
      userId: "",
      fingerprint: "",
      plan: {},
      rights: {},
      keyHashes: [],
      limits: undefined,
      finish: () => {},
      release: () => {},
    },
  }),
  close: async () => {},
};

const folder = createTempDir("visage-accounts-");
const photo = (await createPhotos(folder)).oneFace("640x480");
const location = { databaseUrl: undefined, dataDir: folder };
const database = await openDatabase(location);
const store = createSqlStore(database);
const searcher = new SearchProcess({
  location,
  calibration: readCalibration(),
  maxBytes: 1,
  graceMs: 1,
  maxWaitMs: 1,
  onLoss: console.error,
  onOutput: console.error,
});
await ensureTrialUser({
  store,
  key: USER,
  dataDir: undefined,
  mayGenerate: false,
  runAudited: (_, create) => create(),
});
const authenticator = createAuthenticator({ store, graceMs: 60_000, onStoreError: console.error });
const pool = await openPool({ modelsDir: DEFAULT_MODELS_DIR, workers: availableParallelism() });
const config = readConfig({ VISAGE_HOST: "127.0.0.1", VISAGE_PORT: "0", VISAGE_WEB: "off" });
const fetcher = createImageFetcher({ allow: config.fetchAllow, timeoutMs: 1, maxBytes: 1 });
const log = createLog("off");
const services = createServices({
  analyzer: pool,
  fetcher,
  rates: readFalseMatchRates(),
  galleries: createSqlGalleryStore(database),
  searcher,
  accounts: store,
  hasAdmin: false,
  timeoutMs: config.requestTimeoutMs,
  isLegacy: false,
  log,
  auditTrail: createAuditTrail("stdout", { policy: "stop" }),
});
const serve = (through: Authenticator) =>
  startServer({
    config,
    services,
    pool,
    authenticator: through,
    prepare: async () => {},
    warmUpImage: createSyntheticFace(),
    log,
    observers: [],
  });
const servers = { with: await serve(authenticator), without: await serve(OPEN_AUTHENTICATOR) };

const turns = Array.from({ length: ROUNDS }, (_, i) => (["with", "without"] as const)[i % 2]!);
const mix = [{ protocol: "multipart", operation: "get_face_vec", images: [photo] }] as const;
const arrivals = { inFlight: 2 * availableParallelism(), seconds: SECONDS };
const rates = await mapWithProgress("accounts", turns, async (turn) => {
  const { perSecond } = await measureSpeed({ port: servers[turn].port, userId: USER, mix }, arrivals);
  return perSecond;
});
const medianOf = (turn: string) => median(rates.filter((_, i) => turns[i] === turn));
const loss = 1 - medianOf("with") / medianOf("without");
report();
for (const part of [servers.with, servers.without, pool, authenticator, fetcher, store]) await part.close();

function report(): void {
  const figure = {
    name: "throughput of get_face_vec lost to account checks in SQLite",
    measured: `${(100 * loss).toFixed(1)} %`,
    target: `≤ ${100 * MAX_LOSS} %`,
    isMet: loss <= MAX_LOSS,
  };
  const summary = formatSummary([{ title: "", figures: [figure], body: "" }]);
  const rows = rates.map((rate, i) => [i + 1, turns[i]!, rate.toFixed(1)]);
  writeReport("accounts.md", [
    "# Cost of account checks",
    `Written by \`npm run bench:accounts\`. ${describeRun()}`,
    summary,
    `Requests per second on one 640x480 photo with ${2 * availableParallelism()} requests in flight. Both servers use the same workers and take turns of ${SECONDS} s. The loss is computed from the medians.`,
    formatTable(["turn", "accounts", "requests/s"], rows),
  ]);
  console.log(`\n${summary}`);
}
