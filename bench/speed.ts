// Measures speed: `npm run bench`. See HELP for the options.
import { parseArgs } from "node:util";
import { startServiceProcess } from "../tools/support/service-process.ts";
import { createTempDir } from "../tools/support/temp-dir.ts";
import { createPhotos } from "./load/photos.ts";
import { describeRun } from "./machine.ts";
import { type Chapter, formatChapters, formatSummary, writeReport, writeResult } from "./report.ts";
import { CHAPTER_NAMES, type ChapterName, measureChapters } from "./speed/chapters.ts";
import { compareSpeeds, comparisonChapter, coreRatio, peerRatio, type Round } from "./speed/comparison.ts";
import {
  enrolmentRatio,
  galleriesChapter,
  identifyTimeToTarget,
  measureGalleries,
} from "./speed/galleries.ts";
import { measureSearches, searchChapter, searchTimeToTarget } from "./speed/search.ts";
import { measureStream, type StreamRound, streamChapter, streamRatio } from "./speed/stream.ts";

const HELP = `Usage: npm run bench [-- OPTIONS]

Without options, measures all chapters in about 30 minutes and writes bench/results/speed.md with its plots.

  --chapter NAME  measures only this chapter and prints it; writes nothing; may be given several times:
                  ${CHAPTER_NAMES.join(", ")}
  --short         checks in about two minutes that the service is not far too slow; writes nothing
`;

/** The short form fails if no round is better than this. The limits are low because CI machines are small and busy. */
const MIN_PEER_RATIO = 3;
const MIN_CORE_RATIO = 0.6;
const MIN_STREAM_RATIO = 0.7;
const MAX_SEARCH_TIME_TO_TARGET = 3;
const MIN_ENROLMENT_RATIO = 0.4;
const SHORT = { rounds: 5, peerInterval: 1, warmUpTurns: 0 };
const SHORT_STREAM = { rounds: 2, withCore: false, warmUpTurns: 0 };
const SHORT_TEMPLATES = 100_000;
const SHORT_GALLERIES = { sizes: [1_000], rounds: 2 };

const { values } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    chapter: { type: "string", multiple: true },
    help: { type: "boolean", default: false },
  },
});
const names = values.chapter?.filter(isChapterName);
const hasUnknownChapter = names?.length !== values.chapter?.length;
if (values.help || hasUnknownChapter || (values.short && names)) {
  console.error(HELP);
  process.exit(values.help ? 0 : 1);
}

// Exit handlers stop the service, so it does not outlive this process.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
const photos = await createPhotos(createTempDir("visage-bench-"));
// On a busy machine, a closed loop may wait longer than the default limit.
const service = await startServiceProcess({ VISAGE_MAX_QUEUE_WAIT_MS: "60000" });
try {
  if (values.short) await checkSpeed();
  else if (names) await printChapters(names);
  else await reportAll();
} finally {
  await service.stop();
}

async function reportAll(): Promise<void> {
  const measured = await measureChapters(CHAPTER_NAMES, photos, service, printChapter);
  const chapters = measured.map(({ chapter }) => chapter);
  const summary = formatSummary(chapters);
  writeReport("speed.md", [
    "# Speed",
    `Written by \`npm run bench\`. ${describeRun()}`,
    summary,
    formatChapters(chapters),
  ]);
  for (const { plots } of measured)
    for (const [fileName, svg] of Object.entries(plots)) writeResult(fileName, svg);
  console.log(`\n${summary}\n\nAll tables and plots: bench/results/speed.md`);
}

async function printChapters(names: readonly ChapterName[]): Promise<void> {
  await measureChapters(names, photos, service, printChapter);
  console.log(`\n${describeRun()}`);
}

/** Prints a chapter when it is measured, so that it is not lost if a later one fails. */
function printChapter(chapter: Chapter): void {
  console.log(`\n${formatSummary([chapter])}\n\n${formatChapters([chapter])}\n`);
}

async function checkSpeed(): Promise<void> {
  const comparison = await compareSpeeds(service, photos, SHORT);
  const stream = await measureStream(service, photos, SHORT_STREAM);
  const searches = measureSearches(SHORT_TEMPLATES);
  const galleries = await measureGalleries(service, photos, SHORT_GALLERIES);
  const chapters = [
    comparisonChapter(comparison),
    streamChapter(stream),
    searchChapter(searches),
    galleriesChapter(galleries),
  ];
  console.log(`\n${formatSummary(chapters)}`);
  if (comparison.rounds.every(isFarTooSlow)) {
    console.error(
      `The service is far too slow: below ${MIN_PEER_RATIO} times the peer or ${MIN_CORE_RATIO} times the bare core.`,
    );
    process.exitCode = 1;
  }
  if (stream.rounds.every(isStreamFarTooSlow)) {
    console.error(`A stream is far too slow: below ${MIN_STREAM_RATIO} times unary calls.`);
    process.exitCode = 1;
  }
  if (searchTimeToTarget(searches) > MAX_SEARCH_TIME_TO_TARGET) {
    console.error(`The search is far too slow: above ${MAX_SEARCH_TIME_TO_TARGET} times its target.`);
    process.exitCode = 1;
  }
  if (identifyTimeToTarget(galleries) > MAX_SEARCH_TIME_TO_TARGET) {
    console.error(
      `The search of a gallery is far too slow: above ${MAX_SEARCH_TIME_TO_TARGET} times its target.`,
    );
    process.exitCode = 1;
  }
  if (galleries.enrolment.every((round) => enrolmentRatio([round]).ratio < MIN_ENROLMENT_RATIO)) {
    console.error(`Enrolment is far too slow: below ${MIN_ENROLMENT_RATIO} times get_face_vec.`);
    process.exitCode = 1;
  }
}

/** One fast round is enough to pass, because other work on the machine can only slow a round down. */
function isFarTooSlow(round: Round): boolean {
  return peerRatio([round]) < MIN_PEER_RATIO || coreRatio([round]).ratio < MIN_CORE_RATIO;
}

function isStreamFarTooSlow(round: StreamRound): boolean {
  return streamRatio([round]).ratio < MIN_STREAM_RATIO;
}

function isChapterName(name: string): name is ChapterName {
  return (CHAPTER_NAMES as readonly string[]).includes(name);
}
