// Keeps the service busy for long and watches its memory: `npm run soak`, or `npm run soak -- --requests N`.
// Writes bench/results/soak.md with a plot; Ctrl-C ends it early, and the report is of what was seen by then.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { PACKAGE_ROOT } from "../src/model-manifest.ts";
import { prepareModels } from "../tools/models/prepare.ts";
import { Progress } from "../tools/support/progress.ts";
import { startServiceProcess, USER } from "../tools/support/service-process.ts";
import { makePhotos } from "./load/photos.ts";
import { runLoad } from "./load/run-load.ts";
import { describeRun } from "./machine.ts";
import { readMemory } from "./memory.ts";
import { formatSummary } from "./report.ts";
import { type Moment, memoryPlot, type Soak, soakChapter } from "./soak/chapter.ts";
import { makeMix } from "./soak/mix.ts";

const DEFAULT_REQUESTS = 20_000;
const LOOK_EVERY_MS = 1000;

const { values } = parseArgs({
  options: { requests: { type: "string", default: String(DEFAULT_REQUESTS) } },
});
const requests = Number(values.requests);
if (!Number.isInteger(requests) || requests < 1) {
  console.error(`--requests must be a whole number of at least 1, not "${values.requests}".`);
  process.exit(1);
}
const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stopping.abort());

await prepareModels();
const folder = mkdtempSync(join(tmpdir(), "visage-soak-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const mix = await makeMix(await makePhotos(folder), folder);
const service = await startServiceProcess();
try {
  report(await soak());
} finally {
  await service.stop();
}

async function soak(): Promise<Soak> {
  const progress = new Progress("soak", requests);
  const moments: Moment[] = [];
  let done = 0;
  const start = performance.now();
  const look = () => {
    const seconds = (performance.now() - start) / 1000;
    moments.push({ seconds, requests: done, memory: readMemory(service.pid) });
  };
  const clock = setInterval(look, LOOK_EVERY_MS);
  const arrivals = { inFlight: 2 * availableParallelism(), requests };
  const { samples } = await runLoad(
    { port: service.port, userId: USER, mix, arrivals },
    {
      signal: stopping.signal,
      onSamples: (more) => {
        done += more.length;
        for (const _ of more) progress.step();
      },
    },
  );
  clearInterval(clock);
  look();
  return { moments, samples, mix };
}

function report(soak: Soak): void {
  const chapter = soakChapter(soak);
  const summary = formatSummary([chapter]);
  const results = join(PACKAGE_ROOT, "bench/results");
  mkdirSync(results, { recursive: true });
  const text = ["# Soak", `Written by \`npm run soak\`. ${describeRun()}`, summary, chapter.body].join(
    "\n\n",
  );
  writeFileSync(join(results, "soak.md"), `${text}\n`);
  writeFileSync(join(results, "soak-memory.svg"), memoryPlot(soak));
  console.log(`\n${summary}\n\nThe table and the plot: bench/results/soak.md`);
}
