import { formatMs, formatTable } from "../../tools/support/format.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { startServiceProcess, USER } from "../../tools/support/service-process.ts";
import { median } from "../../tools/support/statistics.ts";
import type { Photos } from "../load/photos.ts";
import { runLoad } from "../load/run-load.ts";
import type { Chapter } from "../report.ts";

const STARTS = 15;

/** Requests between the first and the 100th. They are sent back to back over one connection. */
const BACK_TO_BACK = 98;
const LAST_BACK_TO_BACK = 10;

/** The 100th request and some more that are sent the same way, because a single latency is noisy. */
const LATE_REQUESTS = 5;

/** One start of the service: the time until it was ready, and the latencies of its requests. */
export interface Start {
  readonly readyMs: number;
  readonly firstMs: number;
  readonly backToBackMs: readonly number[];
  readonly lateMs: readonly number[];
}

/**
 * Starts the service several times and sends its first requests one at a time. The 100th is sent like the first, over a
 * new connection to an idle service, so that the comparison shows the effect of warm code alone.
 */
export function measureStarts(photos: Photos): Promise<Start[]> {
  const mix = [
    { protocol: "multipart", operation: "get_face_vec", images: [photos.oneFace("640x480")] },
  ] as const;
  return mapWithProgress("start", Array.from({ length: STARTS }), async () => {
    const service = await startServiceProcess();
    const { port, startMs: readyMs } = service;
    const send = async (requests: number) => {
      const { samples } = await runLoad({ port, userId: USER, mix, arrivals: { inFlight: 1, requests } });
      return samples.map(({ latencyMs }) => latencyMs);
    };
    try {
      const [firstMs] = (await send(1)) as [number];
      const backToBackMs = await send(BACK_TO_BACK);
      const lateMs: number[] = [];
      while (lateMs.length < LATE_REQUESTS) lateMs.push(...(await send(1)));
      return { readyMs, firstMs, backToBackMs, lateMs };
    } finally {
      await service.stop();
    }
  });
}

/** Reports the time to readiness, and whether the first requests are slower than later ones. */
export function startChapter(starts: readonly Start[]): Chapter {
  const medianOf = (value: (start: Start) => number) => median(starts.map(value));
  const backToBack = ({ backToBackMs }: Start) => median(backToBackMs.slice(-LAST_BACK_TO_BACK));
  const late = ({ lateMs }: Start) => median(lateMs);
  const ready = medianOf(({ readyMs }) => readyMs);
  const ratio = medianOf((start) => start.firstMs / late(start));
  const backToBackRatio = medianOf((start) => start.firstMs / backToBack(start));
  return {
    title: "Start-up",
    figures: [
      { name: "time from start to ready", measured: formatMs(ready), target: "≤ 2 s", isMet: ready <= 2000 },
      {
        name: "latency of the first request / the 100th",
        measured: ratio.toFixed(2),
        target: "≤ 1.2",
        isMet: ratio <= 1.2,
      },
    ],
    body: `Medians of ${starts.length} starts; the load generator is warm.

${formatTable(
  ["", "median"],
  [
    ["start of the process until `/readyz` succeeds (all workers have run every network)", formatMs(ready)],
    ["first request", formatMs(medianOf(({ firstMs }) => firstMs))],
    [
      `100th request and ${LATE_REQUESTS - 1} more, each over a new connection to the idle service`,
      formatMs(medianOf(late)),
    ],
    [
      `last ${LAST_BACK_TO_BACK} of ${BACK_TO_BACK} requests sent back to back over one connection`,
      formatMs(medianOf(backToBack)),
    ],
    ["first request / back to back", backToBackRatio.toFixed(2)],
  ],
)}`,
  };
}
