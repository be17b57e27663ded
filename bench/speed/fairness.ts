import { formatMs, formatTable } from "../../tools/support/format.ts";
import { waitWithProgress } from "../../tools/support/progress.ts";
import { SECOND_USER, type ServiceProcess, USER } from "../../tools/support/service-process.ts";
import { type ClosedLoop, type Load, OK, type Sample } from "../load/load.ts";
import type { Photos } from "../load/photos.ts";
import { percentilesOf, runLoad } from "../load/run-load.ts";
import type { Chapter } from "../report.ts";
import { PHASE_SECONDS } from "./pace.ts";

const HEAVY_IN_FLIGHT = 64;

/** How a user with one request at a time fared, alone and beside one with many, and how that one did. */
export interface Fairness {
  readonly alone: readonly Sample[];
  readonly beside: readonly Sample[];
  readonly heavy: readonly Sample[];
}

/** Measures a light user alone and then beside a heavy one. */
export async function measureFairness(service: ServiceProcess, photos: Photos): Promise<Fairness> {
  const { port } = service;
  await service.addSecondUser();
  const load = (userId: string, arrivals: ClosedLoop): Load => ({
    port,
    userId,
    mix: [{ wire: "multipart", operation: "get_face_vec", images: [photos.one("640x480")] }],
    arrivals,
  });
  const light = load(SECOND_USER, { inFlight: 1, seconds: PHASE_SECONDS });
  const heavy = load(USER, { inFlight: HEAVY_IN_FLIGHT, seconds: PHASE_SECONDS });
  const { samples: alone } = await waitWithProgress("light user", PHASE_SECONDS, runLoad(light));
  const both = Promise.all([runLoad(light), runLoad(heavy)]);
  const [{ samples: beside }, { samples: ofHeavy }] = await waitWithProgress(
    "and a heavy one",
    PHASE_SECONDS,
    both,
  );
  return { alone, beside, heavy: ofHeavy };
}

/** Tells how much a heavy user costs a light one. */
export function fairnessChapter({ alone, beside, heavy }: Fairness): Chapter {
  const title = "Fairness between users";
  const percentiles = (samples: readonly Sample[]) =>
    percentilesOf(samples.filter(({ code }) => code === OK));
  const [quiet, crowded] = [percentiles(alone), percentiles(beside)];
  const failed = beside.filter(({ code }) => code !== OK).length;
  const served = heavy.filter(({ code }) => code === OK).length;
  const row = (name: string, { p50, p99 }: typeof quiet, count: number) => [
    name,
    count,
    formatMs(p50),
    formatMs(p99),
  ];
  const ratio = crowded.p50 / quiet.p50;
  return {
    title,
    figures: [
      {
        name: `p50 of a user with one request at a time, beside one with ${HEAVY_IN_FLIGHT} against alone`,
        measured: `${ratio.toFixed(1)} times`,
        target: "≤ 3 times",
        isMet: ratio <= 3,
      },
    ],
    body: `get_face_vec on a 640x480 photo over multipart: a light user sends one request at a time, alone and then beside a heavy user with ${HEAVY_IN_FLIGHT} in flight, who asks again at once when it is refused, though told to wait. Requests of the light user that did not succeed: ${failed}. Of the heavy user's, ${served} were served and ${heavy.length - served} refused.

${formatTable(["light user", "requests", "p50", "p99"], [row("alone", quiet, alone.length), row("beside a heavy user", crowded, beside.length)])}`,
  };
}
