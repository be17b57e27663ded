import { availableParallelism } from "node:os";
import { type Load, OK, type Sample } from "../load/load.ts";
import type { Photos } from "../load/photos.ts";
import { measureSpeed, runLoad, WARM_UP_SECONDS } from "../load/run-load.ts";
import { mapWithProgress, waitWithProgress } from "../progress.ts";
import { type ServiceProcess, USER } from "../service-process.ts";
import { PHASE_SECONDS, SECONDS } from "./pace.ts";
import { type Probe, startProbes } from "./probes.ts";

/** What parts of its capacity the service is asked for, in phases of equal length. */
export const PARTS = [0.5, 2, 0.5];

/** How often the overload takes turns with a closed loop: the machine may be slower in one minute than in another. */
const TURNS = 5;

/** What became of the requests of all phases. */
export interface Overload {
  /** The most requests a second that it answered in a closed loop. */
  readonly capacity: number;
  /** Answers a second at twice the capacity, as a part of those in a closed loop right before. */
  readonly throughputs: readonly number[];
  readonly samples: readonly Sample[];
  /** Those of the overloaded phase. */
  readonly probes: readonly Probe[];
}

/** Finds the service's capacity, then sends half of it, twice of it, and half again, whatever it answers. */
export async function measureOverload({ port }: ServiceProcess, photos: Photos): Promise<Overload> {
  const load: Omit<Load, "arrivals"> = {
    port,
    userId: USER,
    mix: [{ wire: "multipart", operation: "get_face_vec", images: [photos.one("640x480")] }],
  };
  const tries = [1, 2, 4].map((perCore) => perCore * availableParallelism());
  const rates = await mapWithProgress("capacity", tries, async (inFlight) => {
    const { perSecond } = await measureSpeed(load, { inFlight, seconds: SECONDS });
    return perSecond;
  });
  const capacity = Math.max(...rates);
  const inFlight = tries[rates.indexOf(capacity)]!;

  const probing = startProbes(port);
  const phases = PARTS.map((part) => ({ perSecond: part * capacity, seconds: PHASE_SECONDS }));
  const running = runLoad({ ...load, arrivals: { phases } });
  const { startedAt, samples } = await waitWithProgress("overload", PARTS.length * PHASE_SECONDS, running);
  const probes = await probing.stop();

  const twice = { perSecond: 2 * capacity, seconds: WARM_UP_SECONDS + SECONDS };
  const throughputs = await mapWithProgress("throughput", Array.from({ length: TURNS }), async () => {
    const { perSecond } = await measureSpeed(load, { inFlight, seconds: SECONDS });
    const overloaded = await runLoad({ ...load, arrivals: { phases: [twice] } });
    return answersAfterWarmUp(overloaded.samples) / SECONDS / perSecond;
  });
  return {
    capacity,
    throughputs,
    samples,
    probes: probes.filter(({ at }) => phaseAt(at - startedAt) === 1),
  };
}

function answersAfterWarmUp(samples: readonly Sample[]): number {
  const [from, to] = [1000 * WARM_UP_SECONDS, 1000 * (WARM_UP_SECONDS + SECONDS)];
  const doneMs = samples.filter(({ code }) => code === OK).map(({ dueMs, tookMs }) => dueMs + tookMs);
  return doneMs.filter((done) => done >= from && done < to).length;
}

/** Which of the phases a moment belongs to, in milliseconds since the load began. */
export function phaseAt(ms: number): number {
  return Math.floor(ms / 1000 / PHASE_SECONDS);
}
