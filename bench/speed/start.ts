import { formatMs } from "../../tools/support/format.ts";
import { mapWithProgress } from "../../tools/support/progress.ts";
import { startServiceProcess, USER } from "../../tools/support/service-process.ts";
import { median } from "../../tools/support/statistics.ts";
import type { Photos } from "../load/photos.ts";
import { runLoad } from "../load/run-load.ts";
import type { Chapter } from "../report.ts";

const STARTS = 15;

/** Requests between the first and the hundredth, which follow one another over one connection. */
const BETWEEN = 98;
const LAST_BETWEEN = 10;

/** The hundredth, and some more in its way: one alone says little on a machine that is shared. */
const HUNDREDTHS = 5;

/** One start of the service: how long until it was ready, and how long its requests took, in order. */
export interface Start {
  readonly readyMs: number;
  readonly firstMs: number;
  readonly betweenMs: readonly number[];
  readonly hundredthsMs: readonly number[];
}

/**
 * Starts the service a few times and sends each its first requests, one at a time. The hundredth is sent as the first
 * is, after a moment in which the service had nothing to do and over a new connection, so that nothing else is compared.
 */
export function measureStarts(photos: Photos): Promise<Start[]> {
  const mix = [{ wire: "multipart", operation: "get_face_vec", images: [photos.one("640x480")] }] as const;
  return mapWithProgress("start", Array.from({ length: STARTS }), async () => {
    const service = await startServiceProcess();
    const { port, startMs: readyMs } = service;
    const ask = async (requests: number) => {
      const { samples } = await runLoad({ port, userId: USER, mix, arrivals: { inFlight: 1, requests } });
      return samples.map(({ tookMs }) => tookMs);
    };
    try {
      const [firstMs] = (await ask(1)) as [number];
      const betweenMs = await ask(BETWEEN);
      const hundredthsMs: number[] = [];
      while (hundredthsMs.length < HUNDREDTHS) hundredthsMs.push(...(await ask(1)));
      return { readyMs, firstMs, betweenMs, hundredthsMs };
    } finally {
      await service.stop();
    }
  });
}

/** Tells how soon the service is ready, and whether its first users pay for it. */
export function startChapter(starts: readonly Start[]): Chapter {
  const over = (figureOf: (start: Start) => number) => median(starts.map(figureOf));
  const busyOf = ({ betweenMs }: Start) => median(betweenMs.slice(-LAST_BETWEEN));
  const hundredthOf = ({ hundredthsMs }: Start) => median(hundredthsMs);
  const ready = over(({ readyMs }) => readyMs);
  const ratio = over((start) => start.firstMs / hundredthOf(start));
  const busyRatio = over((start) => start.firstMs / busyOf(start));
  return {
    title: "Start",
    figures: [
      { name: "start to ready", measured: formatMs(ready), target: "≤ 2 s", isMet: ready <= 2000 },
      {
        name: "first request against the hundredth, sent alike",
        measured: `${ratio.toFixed(2)} times`,
        target: "≤ 1.2 times",
        isMet: ratio <= 1.2,
      },
    ],
    body: `From the start of the process until \`/readyz\` says yes: ${formatMs(ready)} (workers have then run every network). The first request, of a client that is not new, takes ${formatMs(over(({ firstMs }) => firstMs))}; the hundredth and ${HUNDREDTHS - 1} more, each sent as the first was, over a new connection to a service that had a moment's rest, take ${formatMs(over(hundredthOf))}. The requests between follow one another over one connection, which is faster: ${formatMs(over(busyOf))} for the last ${LAST_BETWEEN} of them, and the first takes ${busyRatio.toFixed(2)} times that. Each is the median of ${starts.length} starts, and so are the ratios.`,
  };
}
