import { formatMs, formatTable } from "../../tools/support/format.ts";
import { waitWithProgress } from "../../tools/support/progress.ts";
import { SECOND_USER, type ServiceProcess, USER } from "../../tools/support/service-process.ts";
import { type ClosedLoop, type Load, OK, type Sample } from "../load/load.ts";
import type { Photos } from "../load/photos.ts";
import { latencyPercentiles, runLoad } from "../load/run-load.ts";
import type { Chapter } from "../report.ts";

const PHASE_SECONDS = 15;
const HEAVY_IN_FLIGHT = 64;

/** The requests of a light user, alone and next to a heavy user, and those of the heavy user. */
export interface Fairness {
  readonly lightAlone: readonly Sample[];
  readonly lightBesideHeavy: readonly Sample[];
  readonly heavy: readonly Sample[];
}

/** Measures a light user alone, and then next to a heavy user. */
export async function measureFairness(service: ServiceProcess, photos: Photos): Promise<Fairness> {
  const { port } = service;
  await service.addSecondUser();
  const createLoad = (userId: string, arrivals: ClosedLoop): Load => ({
    port,
    userId,
    mix: [{ protocol: "multipart", operation: "get_face_vec", images: [photos.oneFace("640x480")] }],
    arrivals,
  });
  const light = createLoad(SECOND_USER, { inFlight: 1, seconds: PHASE_SECONDS });
  const heavy = createLoad(USER, { inFlight: HEAVY_IN_FLIGHT, seconds: PHASE_SECONDS });
  const alone = await waitWithProgress("light user", PHASE_SECONDS, runLoad(light));
  const both = Promise.all([runLoad(light), runLoad(heavy)]);
  const [beside, ofHeavy] = await waitWithProgress("with heavy user", PHASE_SECONDS, both);
  return { lightAlone: alone.samples, lightBesideHeavy: beside.samples, heavy: ofHeavy.samples };
}

/** Reports how much a heavy user slows down a light one. */
export function fairnessChapter({ lightAlone, lightBesideHeavy, heavy }: Fairness): Chapter {
  const alone = latencyPercentiles(lightAlone.filter(isOk));
  const beside = latencyPercentiles(lightBesideHeavy.filter(isOk));
  const failed = lightBesideHeavy.filter((sample) => !isOk(sample)).length;
  const served = heavy.filter(isOk).length;
  const row = (name: string, { p50, p99 }: typeof alone, count: number) => [
    name,
    count,
    formatMs(p50),
    formatMs(p99),
  ];
  const ratio = beside.p50 / alone.p50;
  return {
    title: "Fairness between users",
    figures: [
      {
        name: `p50 of a user with 1 request in flight, next to a user with ${HEAVY_IN_FLIGHT} / alone`,
        measured: ratio.toFixed(1),
        target: "≤ 3",
        isMet: ratio <= 3,
      },
    ],
    body: `get_face_vec on a 640x480 photo over multipart. A light user has one request in flight: first alone, then next to a heavy user with ${HEAVY_IN_FLIGHT} in flight. The heavy user ignores Retry-After and retries at once when it is rejected. Failed requests of the light user: ${failed}. Requests of the heavy user: ${served} served, ${heavy.length - served} rejected.

${formatTable(
  ["light user", "requests", "p50", "p99"],
  [row("alone", alone, lightAlone.length), row("next to a heavy user", beside, lightBesideHeavy.length)],
)}`,
  };
}

function isOk({ code }: Sample): boolean {
  return code === OK;
}
