// Runs a long load against the service and watches its memory: `npm run soak [-- --requests N]`.
// Writes bench/results/soak.md with a plot. Ctrl-C ends the test early; the report then covers the requests so far.
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { Progress } from "../tools/support/progress.ts";
import { startServiceProcess, USER } from "../tools/support/service-process.ts";
import { createTempDir } from "../tools/support/temp-dir.ts";
import { createPhotos } from "./load/photos.ts";
import { runLoad } from "./load/run-load.ts";
import { describeRun } from "./machine.ts";
import { formatSummary, writeReport, writeResult } from "./report.ts";
import { type MemoryReading, memoryPlot, type Soak, soakChapter } from "./soak/chapter.ts";
import { createMix } from "./soak/mix.ts";

const DEFAULT_REQUESTS = 20_000;
const READ_INTERVAL_MS = 1000;
const HELP = `Usage: npm run soak [-- --requests N]

  --requests N  how many requests to send (${DEFAULT_REQUESTS})
`;

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: String(DEFAULT_REQUESTS) },
    help: { type: "boolean", default: false },
  },
});
const requests = Number(values.requests);
if (values.help || !Number.isInteger(requests) || requests < 1) {
  console.error(HELP);
  process.exit(values.help ? 0 : 1);
}
const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stopping.abort());

const folder = createTempDir("visage-soak-");
const mix = await createMix(await createPhotos(folder), folder);
const service = await startServiceProcess();
try {
  report(await soak());
} finally {
  await service.stop();
}

async function soak(): Promise<Soak> {
  const progress = new Progress("soak", requests);
  const readings: MemoryReading[] = [];
  let done = 0;
  const start = performance.now();
  const readMemory = () => {
    const seconds = (performance.now() - start) / 1000;
    readings.push({ seconds, requests: done, memory: service.memoryByProcess("VmRSS") });
  };
  const timer = setInterval(readMemory, READ_INTERVAL_MS);
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
  clearInterval(timer);
  readMemory();
  return { readings, samples, mix };
}

function report(result: Soak): void {
  const chapter = soakChapter(result);
  const summary = formatSummary([chapter]);
  writeReport("soak.md", [
    "# Soak test",
    `Written by \`npm run soak\`. ${describeRun()}`,
    summary,
    chapter.body,
  ]);
  writeResult("soak-memory.svg", memoryPlot(result));
  console.log(`\n${summary}\n\nThe table and the plot: bench/results/soak.md`);
}
