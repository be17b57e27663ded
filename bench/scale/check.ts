import { availableParallelism } from "node:os";
import { startPostgres } from "../../tools/support/postgres.ts";
import { type ServiceProcess, startServiceProcess, USER } from "../../tools/support/service-process.ts";
import { quantile } from "../../tools/support/statistics.ts";
import { createTempDir } from "../../tools/support/temp-dir.ts";
import { type Load, OK, OVERLOADED } from "../load/load.ts";
import { createPhotos } from "../load/photos.ts";
import { doneMs, runLoad } from "../load/run-load.ts";
import { readTicks } from "../machine.ts";
import type { RequestCost, Sizing } from "../sizing/costs.ts";
import { readPostgresCounters } from "../sizing/postgres-counters.ts";
import { type Prediction, simulate } from "./simulation.ts";

/** What is compared: throughput, latency, refusals, and what a request costs. */
export type Figures = Pick<
  Prediction,
  "perSecond" | "p50" | "p95" | "refused" | "transactionsPerSecond" | "serverMs"
> &
  Pick<RequestCost, "workersMs" | "bytesSent" | "bytesReceived">;

/** One run and its simulation. */
export interface Comparison {
  readonly replicas: number;
  /** Of the throughput of a closed loop. */
  readonly share: number;
  readonly offeredPerSecond: number;
  /** Cores that other programs took on average. */
  readonly otherCores: number;
  /** Tasks of other programs that compete for the cores, by the throughput of the closed loop. */
  readonly competitors: number;
  readonly predicted: Figures;
  readonly measured: Figures;
}

const REPLICAS = [2, 3];
const SHARES = [0.4, 0.8, 1.2];
const ROUNDS = 2;
const [WARM_UP_SECONDS, SECONDS] = [2, 8];
const CLOSED_LOOP_SECONDS = 4;
const MS_PER_TICK = 10;

/** Runs two and three replicas with a worker each and a PostgreSQL server on this machine, and simulates the same. */
export async function compareWithRuns(sizing: Sizing): Promise<Comparison[]> {
  const photos = await createPhotos(createTempDir("visage-scale-"));
  const postgres = await startPostgres();
  const comparisons: Comparison[] = [];
  try {
    for (const replicas of REPLICAS) {
      const url = await postgres.createDatabase();
      comparisons.push(...(await compareReplicas(replicas, url, photos.oneFace("640x480"), sizing)));
    }
  } finally {
    await postgres.remove();
  }
  return comparisons;
}

async function compareReplicas(
  replicas: number,
  url: string,
  photo: string,
  sizing: Sizing,
): Promise<Comparison[]> {
  const cost = sizing.requests.find(({ operation }) => operation === "get_face_vec")!;
  const mix = [{ protocol: "multipart", operation: "get_face_vec", images: [photo] }] as const;
  const services: ServiceProcess[] = [];
  const comparisons: Comparison[] = [];
  try {
    // One after another: the first one creates the user.
    for (let i = 0; i < replicas; i++)
      services.push(await startServiceProcess({ VISAGE_DATABASE_URL: url, VISAGE_WORKERS: "1" }));
    const load = { port: services.map(({ port }) => port), userId: USER, mix };
    for (const share of Array.from({ length: ROUNDS }, () => SHARES).flat()) {
      const arrivals = { inFlight: 2 * replicas, seconds: CLOSED_LOOP_SECONDS };
      const closedLoop = await runLoad({ ...load, arrivals });
      const capacity = closedLoop.samples.filter(({ code }) => code === OK).length / CLOSED_LOOP_SECONDS;
      const competitors = competitorsIn(capacity, replicas, cost);
      const perSecond = capacity * share;
      const { measured, otherCores } = await measureRun(load, perSecond, services, url);
      const prediction = simulate({
        ...{ cost, accounts: sizing.accounts, perSecond, replicas, workers: 1, isOneMachine: true },
        ...{ warmUpSeconds: WARM_UP_SECONDS, seconds: SECONDS },
        ...{ cores: availableParallelism(), competitors },
      });
      const { workersMs, bytesSent, bytesReceived } = cost;
      const predicted = { ...prediction, workersMs, bytesSent, bytesReceived };
      comparisons.push({
        replicas,
        share,
        offeredPerSecond: perSecond,
        otherCores,
        competitors,
        predicted,
        measured,
      });
      const served = `${measured.perSecond.toFixed(1)} of ${perSecond.toFixed(1)}/s`;
      console.error(`${replicas} replicas at ${100 * share} %: ${served}`);
    }
  } finally {
    await Promise.all(services.map((one) => one.stop()));
  }
  return comparisons;
}

/** Sends open-loop load to running replicas and measures what is compared. */
async function measureRun(
  load: Omit<Load, "arrivals">,
  perSecond: number,
  services: readonly ServiceProcess[],
  url: string,
): Promise<Pick<Comparison, "measured" | "otherCores">> {
  const before = await readUsage(services, url);
  const phases = [{ perSecond, seconds: WARM_UP_SECONDS + SECONDS }];
  const { samples, ...generator } = await runLoad({ ...load, arrivals: { phases } });
  const after = await readUsage(services, url);
  const used = (name: keyof Usage) => after[name] - before[name];
  const failed = samples.find(({ code }) => code !== OK && code !== OVERLOADED);
  if (failed) throw new Error(`A request failed with ${failed.code}.`);
  const ownMs = used("workersMs") + used("serverMs") + used("databaseMs") + generator.cpuMs;
  const [startMs, endMs] = [1_000 * WARM_UP_SECONDS, 1_000 * (WARM_UP_SECONDS + SECONDS)];
  const served = samples.filter(({ code }) => code === OK);
  const due = samples.filter(({ dueMs }) => dueMs >= startMs);
  const latencies = served.filter(({ dueMs }) => dueMs >= startMs).map(({ latencyMs }) => latencyMs);
  const done = served.filter((one) => doneMs(one) >= startMs && doneMs(one) < endMs);
  const measured = {
    perSecond: done.length / SECONDS,
    p50: quantile(latencies, 0.5),
    p95: quantile(latencies, 0.95),
    refused: 1 - latencies.length / due.length,
    transactionsPerSecond: used("transactions") / (used("timeMs") / 1_000),
    serverMs: used("serverMs") / samples.length,
    workersMs: used("workersMs") / served.length,
    bytesSent: generator.bytesSent / samples.length,
    bytesReceived: generator.bytesReceived / samples.length,
  };
  return { measured, otherCores: Math.max(0, (used("machineMs") - ownMs) / used("timeMs")) };
}

/**
 * How many tasks of other programs compete for the cores, by the throughput of a closed loop in which every worker is
 * busy all the time. Each worker then runs at the speed that processor sharing leaves it.
 */
function competitorsIn(
  capacity: number,
  replicas: number,
  { workersMs, serverMs, generatorMs }: RequestCost,
): number {
  const speed = (capacity * workersMs) / (1_000 * replicas);
  const ownTasks = (replicas * (workersMs + serverMs + generatorMs)) / workersMs;
  return Math.max(0, availableParallelism() / speed - ownTasks);
}

type Usage = Awaited<ReturnType<typeof readUsage>>;

/** CPU times and counts so far, and the time. */
async function readUsage(services: readonly ServiceProcess[], url: string) {
  const { transactions, cpuMs: databaseMs } = await readPostgresCounters(url);
  const cpu = services.map((one) => one.cpuMs());
  return {
    timeMs: performance.now(),
    machineMs: MS_PER_TICK * readTicks()!.busy,
    workersMs: cpu.reduce((sum, one) => sum + one.workers, 0),
    serverMs: cpu.reduce((sum, one) => sum + one.server, 0),
    databaseMs,
    transactions,
  };
}
