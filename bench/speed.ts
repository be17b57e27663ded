// Measures speed: `npm run bench`, which takes a quarter of an hour and writes bench/results/speed.md with its plots, or
// `npm run bench -- --short`, which takes two minutes, writes nothing, and fails if the service is far too slow.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { PACKAGE_ROOT } from "../src/model-manifest.ts";
import { prepareModels } from "../tools/models/prepare.ts";
import { type ServiceProcess, startServiceProcess } from "../tools/support/service-process.ts";
import { makePhotos, type Photos } from "./load/photos.ts";
import { describeRun } from "./machine.ts";
import { type Chapter, formatSummary } from "./report.ts";
import {
  compareSpeeds,
  comparisonChapter,
  coreShareOf,
  peerRatioOf,
  type Round,
} from "./speed/comparison.ts";
import { concurrencyChapter, latencyPlot, measureConcurrency, throughputPlot } from "./speed/concurrency.ts";
import { fairnessChapter, measureFairness } from "./speed/fairness.ts";
import { measureOverload } from "./speed/overload.ts";
import { overloadChapter, overloadLatencyPlot, overloadPlot } from "./speed/overload-chapter.ts";
import { profileChapter, profileCore } from "./speed/profile.ts";
import { measureSearches, searchChapter, searchShareOf } from "./speed/search.ts";
import { costsChapter, measureCosts } from "./speed/sizes.ts";
import { measureStarts, startChapter } from "./speed/start.ts";

/** Where the short form fails if no round is better: machines that check changes are small and busy. */
const LEAST_PEER_RATIO = 3;
const LEAST_CORE_SHARE = 0.6;
const MOST_SEARCH_SHARE = 3;

/** How long the comparison is, and how many templates are searched. */
const FULL = { rounds: 30, roundsOfPeer: 6, settlingTurns: 16, templates: 1_000_000 };
const SHORT = { rounds: 5, roundsOfPeer: 1, settlingTurns: 0, templates: 100_000 };

const { values } = parseArgs({ options: { short: { type: "boolean", default: false } } });
// So that what is to be done at the exit is done: the service must not outlive this process.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
await prepareModels();
const folder = mkdtempSync(join(tmpdir(), "visage-bench-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const photos = await makePhotos(folder);
// The short form runs on machines that are small and busy, where its closed loops may wait for longer than usual.
const service = await startServiceProcess(values.short ? { VISAGE_MAX_QUEUE_WAIT_MS: "60000" } : {});
try {
  await (values.short ? checkSpeed(service, photos) : reportSpeed(service, photos));
} finally {
  await service.stop();
}

async function checkSpeed(service: ServiceProcess, photos: Photos): Promise<void> {
  const comparison = await compareSpeeds(service, photos, SHORT);
  const searches = measureSearches(SHORT.templates);
  console.log(`\n${formatSummary([comparisonChapter(comparison), searchChapter(searches)])}`);
  if (isFarTooSlow(comparison.rounds)) {
    console.error(
      `Far too slow: less than ${LEAST_PEER_RATIO} times the peer or ${LEAST_CORE_SHARE} of the core.`,
    );
    process.exitCode = 1;
  }
  if (searchShareOf(searches) > MOST_SEARCH_SHARE) {
    console.error(`Far too slow: a search takes more than ${MOST_SEARCH_SHARE} times what it may.`);
    process.exitCode = 1;
  }
}

/** Whether no round shows that it can be fast: whatever else a machine does only ever makes it slower. */
function isFarTooSlow(rounds: readonly Round[]): boolean {
  return rounds.every(
    (round) => peerRatioOf([round]) < LEAST_PEER_RATIO || coreShareOf([round]).ratio < LEAST_CORE_SHARE,
  );
}

async function reportSpeed(service: ServiceProcess, photos: Photos): Promise<void> {
  const cells = await measureConcurrency(service, photos);
  const overload = await measureOverload(service, photos);
  const fairness = await measureFairness(service, photos);
  // Last: it takes a server some thousands of requests until all its code is compiled.
  const comparison = await compareSpeeds(service, photos, FULL);
  const chapters: Chapter[] = [
    comparisonChapter(comparison),
    concurrencyChapter(cells),
    overloadChapter(overload),
    fairnessChapter(fairness),
    costsChapter(await measureCosts(photos)),
    startChapter(await measureStarts(photos)),
    profileChapter(await profileCore(photos)),
    searchChapter(measureSearches(FULL.templates)),
  ];
  const summary = formatSummary(chapters);
  const report = [
    "# Speed",
    `Written by \`npm run bench\`. ${describeRun()}`,
    summary,
    ...chapters.map(({ title, body }) => `## ${title}\n\n${body}`),
  ].join("\n\n");

  const results = join(PACKAGE_ROOT, "bench/results");
  mkdirSync(results, { recursive: true });
  const write = (name: string, text: string) => writeFileSync(join(results, name), text);
  write("speed.md", `${report}\n`);
  write("speed-throughput.svg", throughputPlot(cells));
  write("speed-latency.svg", latencyPlot(cells));
  write("speed-overload.svg", overloadPlot(overload));
  write("speed-overload-latency.svg", overloadLatencyPlot(overload));
  console.log(`\n${summary}\n\nAll tables and plots: bench/results/speed.md`);
}
