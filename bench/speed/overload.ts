import { availableParallelism } from "node:os";
import { mapWithProgress, waitWithProgress } from "../../tools/support/progress.ts";
import { type ServiceProcess, USER } from "../../tools/support/service-process.ts";
import { type Load, OK, type Sample } from "../load/load.ts";
import type { Photos } from "../load/photos.ts";
import { measureSpeed, runLoad, WARM_UP_SECONDS } from "../load/run-load.ts";
import { PHASE_SECONDS, SECONDS } from "./pace.ts";
import { type Probe, startProbes } from "./probes.ts";

/** What parts of its capacity the service is asked for, in phases of equal length. */
export const PARTS = [0.5, 2, 0.5];

/** Clients of a closed loop in which no request may be rejected. */
export const CLIENTS = 32;

/** Repetitions of a closed loop, half and twice the capacity: the machine may be slower in one minute than in another. */
const ROUNDS = 5;

/** One repetition: the throughput at twice the capacity as a share of a closed loop's right before, and all samples. */
export interface Round {
  readonly throughput: number;
  readonly samples: readonly Sample[];
}

/** What became of the requests of all phases. */
export interface Overload {
  /** The most requests a second that it answered in a closed loop. */
  readonly capacity: number;
  /** The time of one request in a worker at that capacity, in milliseconds. */
  readonly serviceMs: number;
  /** Those of the closed loop of many clients. */
  readonly ofClients: readonly Sample[];
  readonly rounds: readonly Round[];
  readonly samples: readonly Sample[];
  /** Those of the overloaded phase. */
  readonly probes: readonly Probe[];
}

/** Finds the service's capacity, runs a closed loop of many clients, then sends half, twice and half the capacity. */
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

  const clients = runLoad({ ...load, arrivals: { inFlight: CLIENTS, seconds: PHASE_SECONDS } });
  const { samples: ofClients } = await waitWithProgress(`${CLIENTS} clients`, PHASE_SECONDS, clients);

  const probing = startProbes(port);
  const phases = PARTS.map((part) => ({ perSecond: part * capacity, seconds: PHASE_SECONDS }));
  const running = runLoad({ ...load, arrivals: { phases } });
  const { startedAt, samples } = await waitWithProgress("overload", PARTS.length * PHASE_SECONDS, running);
  const probes = await probing.stop();

  const rounds = await mapWithProgress("rounds", Array.from({ length: ROUNDS }), async () => {
    const { perSecond } = await measureSpeed(load, { inFlight, seconds: SECONDS });
    return runRound(load, capacity, perSecond);
  });
  return {
    capacity,
    serviceMs: (1000 * availableParallelism()) / capacity,
    ofClients,
    rounds,
    samples,
    probes: probes.filter(({ at }) => phaseAt(at - startedAt) === 1),
  };
}

async function runRound(load: Omit<Load, "arrivals">, capacity: number, atMost: number): Promise<Round> {
  const phases = [
    { perSecond: capacity / 2, seconds: SECONDS },
    { perSecond: 2 * capacity, seconds: WARM_UP_SECONDS + SECONDS },
  ];
  const { samples } = await runLoad({ ...load, arrivals: { phases } });
  const done = ({ dueMs, tookMs }: Sample) => dueMs + tookMs;
  const answers = samples.filter((sample) => sample.code === OK && isLate(done(sample)));
  return { throughput: answers.length / SECONDS / atMost, samples };
}

/** The requests of a round that were due at half the capacity, and at twice it after the queue had filled. */
export function splitRound({ samples }: Round): { atHalf: Sample[]; atTwice: Sample[] } {
  return {
    atHalf: samples.filter(({ dueMs }) => dueMs < 1000 * SECONDS),
    atTwice: samples.filter(({ dueMs }) => isLate(dueMs)),
  };
}

/** Whether a moment of a round, in milliseconds, lies in the last of its seconds, which count for twice the capacity. */
function isLate(ms: number): boolean {
  const from = SECONDS + WARM_UP_SECONDS;
  return ms >= 1000 * from && ms < 1000 * (from + SECONDS);
}

/** Which of the phases a moment belongs to, in milliseconds since the load began. */
export function phaseAt(ms: number): number {
  return Math.floor(ms / 1000 / PHASE_SECONDS);
}
