import type { Photos } from "../load/photos.ts";
import { runLoad } from "../load/run-load.ts";
import { mapWithProgress } from "../progress.ts";
import { median } from "../quantiles.ts";
import { type Chapter, milliseconds } from "../report.ts";
import { startServiceProcess, USER } from "../service-process.ts";

const STARTS = 15;
const REQUESTS = 100;
const LAST = 10;

/** One start of the service: how long until it was ready, and how long its first requests took, in order. */
export interface Start {
  readonly readyMs: number;
  readonly requestMs: readonly number[];
}

/** Starts the service a few times and sends each its first hundred requests, one at a time. */
export function measureStarts(photos: Photos): Promise<Start[]> {
  const mix = [{ wire: "multipart", operation: "get_face_vec", images: [photos.one("640x480")] }] as const;
  return mapWithProgress("start", Array.from({ length: STARTS }), async () => {
    const service = await startServiceProcess();
    const { port, startMs } = service;
    try {
      const arrivals = { inFlight: 1, requests: REQUESTS };
      const { samples } = await runLoad({ port, userId: USER, mix, arrivals });
      return { readyMs: startMs, requestMs: samples.map(({ tookMs }) => tookMs) };
    } finally {
      await service.stop();
    }
  });
}

/** Tells how soon the service is ready, and whether its first users pay for it. */
export function startChapter(starts: readonly Start[]): Chapter {
  const ready = median(starts.map(({ readyMs }) => readyMs));
  const firsts = starts.map(({ requestMs }) => requestMs[0]!);
  const lasts = starts.map(({ requestMs }) => median(requestMs.slice(-LAST)));
  const ratio = median(firsts.map((first, i) => first / lasts[i]!));
  return {
    title: "Start",
    figures: [
      { what: "start to ready", measured: milliseconds(ready), target: "≤ 2 s", reached: ready <= 2000 },
      {
        what: "first request against the hundredth",
        measured: `${ratio.toFixed(2)} times`,
        target: "≤ 1.2 times",
        reached: ratio <= 1.2,
      },
    ],
    body: `From the start of the process until \`/readyz\` says yes: ${milliseconds(ready)} (workers have then run every network). The first request, of a client that is not new, takes ${milliseconds(median(firsts))}; the last ${LAST} of ${REQUESTS} take ${milliseconds(median(lasts))}. Each is the median of ${starts.length} starts, and so is the ratio.`,
  };
}
