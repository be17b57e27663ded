import { availableParallelism } from "node:os";
import { mapWithProgress, waitWithProgress } from "../../tools/support/progress.ts";
import { type ServiceProcess, USER } from "../../tools/support/service-process.ts";
import { type Load, OK, type Sample } from "../load/load.ts";
import type { Photos } from "../load/photos.ts";
import { doneMs, measureSpeed, runLoad, WARM_UP_SECONDS } from "../load/run-load.ts";
import { type Probe, startProbes } from "./probes.ts";

/** The arrival rates of the three phases, as multiples of the capacity. */
export const PHASE_RATES = [0.5, 2, 0.5];

/** The length of a phase, which is plotted second by second. */
export const PHASE_SECONDS = 15;

/** The length of the shorter measurements that are repeated. */
const SECONDS = 4;

/** The size of the closed loop in which no request may be rejected. */
export const CLIENTS = 32;

/** Repetitions of a closed loop, half and twice the capacity, because the speed of a machine drifts. */
const ROUNDS = 5;

/** One repetition. */
export interface Round {
  /** Throughput at twice the capacity, divided by that of a closed loop right before. */
  readonly throughput: number;
  readonly samples: readonly Sample[];
}

export interface Overload {
  /** The highest throughput of a closed loop, in requests per second. */
  readonly capacity: number;
  /** The time of one request in a worker at that capacity, in milliseconds. */
  readonly serviceMs: number;
  /** The samples of the closed loop of many clients. */
  readonly closedLoop: readonly Sample[];
  readonly rounds: readonly Round[];
  /** The samples of the three phases. */
  readonly samples: readonly Sample[];
  /** The health checks of the overloaded phase. */
  readonly probes: readonly Probe[];
}

/** Finds the capacity, runs a closed loop of many clients, and then sends half, twice and half the capacity. */
export async function measureOverload({ port }: ServiceProcess, photos: Photos): Promise<Overload> {
  const load: Omit<Load, "arrivals"> = {
    port,
    userId: USER,
    mix: [{ protocol: "multipart", operation: "get_face_vec", images: [photos.oneFace("640x480")] }],
  };
  const concurrencies = [1, 2, 4].map((perCore) => perCore * availableParallelism());
  const rates = await mapWithProgress("capacity", concurrencies, async (inFlight) => {
    const { perSecond } = await measureSpeed(load, { inFlight, seconds: SECONDS });
    return perSecond;
  });
  const capacity = Math.max(...rates);
  const inFlight = concurrencies[rates.indexOf(capacity)]!;

  const clients = runLoad({ ...load, arrivals: { inFlight: CLIENTS, seconds: PHASE_SECONDS } });
  const { samples: closedLoop } = await waitWithProgress(`${CLIENTS} clients`, PHASE_SECONDS, clients);

  const probing = startProbes(port);
  const phases = PHASE_RATES.map((rate) => ({ perSecond: rate * capacity, seconds: PHASE_SECONDS }));
  const running = runLoad({ ...load, arrivals: { phases } });
  const { startedAt, samples } = await waitWithProgress(
    "overload",
    PHASE_RATES.length * PHASE_SECONDS,
    running,
  );
  const probes = await probing.stop();

  const rounds = await mapWithProgress("rounds", Array.from({ length: ROUNDS }), async () => {
    const { perSecond } = await measureSpeed(load, { inFlight, seconds: SECONDS });
    return runRound(load, capacity, perSecond);
  });
  return {
    capacity,
    serviceMs: (1000 * availableParallelism()) / capacity,
    closedLoop,
    rounds,
    samples,
    probes: probes.filter(({ at }) => phaseAt(at - startedAt) === 1),
  };
}

async function runRound(
  load: Omit<Load, "arrivals">,
  capacity: number,
  closedLoopRate: number,
): Promise<Round> {
  const phases = [
    { perSecond: capacity / 2, seconds: SECONDS },
    { perSecond: 2 * capacity, seconds: WARM_UP_SECONDS + SECONDS },
  ];
  const { samples } = await runLoad({ ...load, arrivals: { phases } });
  const completed = samples.filter((sample) => sample.code === OK && isOverloaded(doneMs(sample)));
  return { throughput: completed.length / SECONDS / closedLoopRate, samples };
}

/** The samples of a round that were due at half the capacity, and at twice the capacity once the queue was full. */
export function splitRound({ samples }: Round): { atHalf: Sample[]; atTwice: Sample[] } {
  return {
    atHalf: samples.filter(({ dueMs }) => dueMs < 1000 * SECONDS),
    atTwice: samples.filter(({ dueMs }) => isOverloaded(dueMs)),
  };
}

/** Whether a time of a round lies in the part at twice the capacity, after the warm-up in which the queue fills. */
function isOverloaded(ms: number): boolean {
  const from = SECONDS + WARM_UP_SECONDS;
  return ms >= 1000 * from && ms < 1000 * (from + SECONDS);
}

/** The index of the phase at a time, in milliseconds since the load began. */
export function phaseAt(ms: number): number {
  return Math.floor(ms / 1000 / PHASE_SECONDS);
}
