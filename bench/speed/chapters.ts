import { type ServiceProcess, startServiceProcess } from "../../tools/support/service-process.ts";
import type { Photos } from "../load/photos.ts";
import type { Chapter } from "../report.ts";
import { type ComparisonLength, compareSpeeds, comparisonChapter } from "./comparison.ts";
import { concurrencyChapter, latencyPlot, measureConcurrency, throughputPlot } from "./concurrency.ts";
import { costsChapter, measureCosts } from "./costs.ts";
import { fairnessChapter, measureFairness } from "./fairness.ts";
import { type GalleriesLength, galleriesChapter, measureGalleries } from "./galleries.ts";
import { measureOpencv, opencvChapter } from "./opencv.ts";
import { measureOverload } from "./overload.ts";
import { overloadChapter, overloadLatencyPlot, overloadPlot } from "./overload-chapter.ts";
import { profileChapter, profileCore } from "./profile.ts";
import { measureSearches, searchChapter } from "./search.ts";
import { measureStarts, startChapter } from "./start.ts";
import { measureStream, type StreamLength, streamChapter } from "./stream.ts";

const COMPARISON_LENGTH: ComparisonLength = { rounds: 30, peerInterval: 6, warmUpTurns: 16 };
const STREAM_LENGTH: StreamLength = { rounds: 16, withCore: true, warmUpTurns: 6 };
const GALLERIES_LENGTH: GalleriesLength = { sizes: [1_000, 100_000, 1_000_000], rounds: 12 };
const TEMPLATES = 1_000_000;

/** A chapter and its plots as SVG, by file name. */
export interface MeasuredChapter {
  readonly chapter: Chapter;
  readonly plots: Readonly<Record<string, string>>;
}

type Measure = (photos: Photos, service: ServiceProcess) => Promise<MeasuredChapter>;

/** The chapters of the speed report, in its order. */
const MEASUREMENTS = {
  comparison: async (photos, service) =>
    withoutPlots(comparisonChapter(await compareSpeeds(service, photos, COMPARISON_LENGTH))),
  opencv: async (photos) => withoutPlots(opencvChapter(await measureOpencv(photos))),
  stream: async (photos, service) =>
    withoutPlots(streamChapter(await measureStream(service, photos, STREAM_LENGTH))),
  concurrency: async (photos, service) => {
    const cells = await measureConcurrency(service, photos);
    const plots = { "speed-throughput.svg": throughputPlot(cells), "speed-latency.svg": latencyPlot(cells) };
    return { chapter: concurrencyChapter(cells), plots };
  },
  overload: async (photos) => {
    const overload = await withDefaults((service) => measureOverload(service, photos));
    const plots = {
      "speed-overload.svg": overloadPlot(overload),
      "speed-overload-latency.svg": overloadLatencyPlot(overload),
    };
    return { chapter: overloadChapter(overload), plots };
  },
  fairness: async (photos) => {
    const fairness = await withDefaults((service) => measureFairness(service, photos));
    return withoutPlots(fairnessChapter(fairness));
  },
  costs: async (photos) => withoutPlots(costsChapter(await measureCosts(photos))),
  start: async (photos) => withoutPlots(startChapter(await measureStarts(photos))),
  profile: async (photos) => withoutPlots(profileChapter(await profileCore(photos))),
  search: async () => withoutPlots(searchChapter(measureSearches(TEMPLATES))),
  galleries: async (photos, service) =>
    withoutPlots(galleriesChapter(await measureGalleries(service, photos, GALLERIES_LENGTH))),
} satisfies Readonly<Record<string, Measure>>;

export type ChapterName = keyof typeof MEASUREMENTS;

export const CHAPTER_NAMES = Object.keys(MEASUREMENTS) as ChapterName[];

/** The comparison comes after the other chapters that load the service: they compile the server's code. */
const MEASURING_ORDER: readonly ChapterName[] = [
  "concurrency",
  "overload",
  "fairness",
  "comparison",
  "opencv",
  "stream",
  "costs",
  "start",
  "profile",
  "search",
  "galleries",
];

/**
 * Measures the named chapters, most of them with this service, and reports each. Returns them in the order of the
 * report.
 */
export async function measureChapters(
  names: readonly ChapterName[],
  photos: Photos,
  service: ServiceProcess,
  onMeasured: (chapter: Chapter) => void,
): Promise<MeasuredChapter[]> {
  const measured = new Map<ChapterName, MeasuredChapter>();
  for (const name of MEASURING_ORDER) {
    if (!names.includes(name)) continue;
    const result = await MEASUREMENTS[name](photos, service);
    measured.set(name, result);
    onMeasured(result.chapter);
  }
  return CHAPTER_NAMES.flatMap((name) => measured.get(name) ?? []);
}

/** Measures a service that rejects requests by its default limits. */
async function withDefaults<T>(measure: (service: ServiceProcess) => Promise<T>): Promise<T> {
  const service = await startServiceProcess();
  try {
    return await measure(service);
  } finally {
    await service.stop();
  }
}

function withoutPlots(chapter: Chapter): MeasuredChapter {
  return { chapter, plots: {} };
}
