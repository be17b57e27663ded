// The queue under load, with simulated workers and a simulated clock.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { QueueError } from "../../src/workers/queue-error.ts";
import { SimulatedWorkers } from "../support/simulated-workers.ts";

const MAX_WAIT_MS = 1000;
const LIGHT_MS = 35;
const MINUTE_MS = 60_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance", "setTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** Creates a seeded generator of random numbers from 0 to 1. */
function createRandom(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Runs clients for a minute, each of which has one job at a time. Counts the jobs by outcome. */
async function runClosedLoop(workers: SimulatedWorkers, clients: number, costMs: () => number) {
  const endMs = performance.now() + MINUTE_MS;
  const count = { done: 0, overloaded: 0, workerLost: 0, closed: 0 };
  const client = async () => {
    while (performance.now() < endMs) {
      const outcome = await workers.run(costMs()).then(
        () => "done" as const,
        ({ kind }: QueueError) => kind,
      );
      count[outcome]++;
      if (outcome === "overloaded") await sleep(100);
    }
  };
  const all = Promise.all(Array.from({ length: clients }, client));
  await vi.advanceTimersByTimeAsync(MINUTE_MS + 10_000);
  await all;
  return count;
}

describe("a closed loop of 32 clients on two workers", () => {
  test("sees no rejection from the first job on", async () => {
    const random = createRandom();
    const { done, overloaded } = await runClosedLoop(
      new SimulatedWorkers(2, MAX_WAIT_MS),
      32,
      () => LIGHT_MS * (0.5 + random()),
    );
    expect(overloaded).toBe(0);
    expect(done).toBeGreaterThan(0.98 * ((2 * MINUTE_MS) / LIGHT_MS));
  });

  test.each([1, 2, 3, 20, 300])("sees none when job %i takes half a second", async (slow) => {
    let jobs = 0;
    const costMs = () => (++jobs === slow ? 500 : LIGHT_MS);
    expect(await runClosedLoop(new SimulatedWorkers(2, MAX_WAIT_MS), 32, costMs)).toMatchObject({
      overloaded: 0,
    });
  });

  test("sees none while a worker is replaced within 600 ms", async () => {
    const workers = new SimulatedWorkers(2, MAX_WAIT_MS);
    setTimeout(() => workers.lose("worker 1"), 20_000);
    setTimeout(() => workers.add("worker 2"), 20_600);
    const count = await runClosedLoop(workers, 32, () => LIGHT_MS);
    expect(count).toMatchObject({ overloaded: 0, workerLost: 1 });
    expect(count.done).toBeGreaterThan(3000);
  });
});

describe("at twice the capacity of two workers", () => {
  /** Lets jobs arrive for a minute as a Poisson process. */
  async function runOpenLoop(costMs: (random: () => number) => number, meanMs: number) {
    const random = createRandom();
    const workers = new SimulatedWorkers(2, MAX_WAIT_MS);
    const waitsMs: number[] = [];
    const rejections: QueueError[] = [];
    let workMs = 0;
    const startMs = performance.now();
    while (performance.now() < startMs + MINUTE_MS) {
      const cost = costMs(random);
      workers.run(cost).then(
        (waitMs) => {
          waitsMs.push(waitMs);
          workMs += cost;
        },
        (error: QueueError) => rejections.push(error),
      );
      await vi.advanceTimersByTimeAsync((-Math.log(1 - random()) * meanMs) / 4);
    }
    const sorted = waitsMs.toSorted((one, other) => one - other);
    return {
      p99Ms: sorted[Math.floor(0.99 * sorted.length)]!,
      throughput: workMs / (2 * (performance.now() - startMs)),
      rejections,
    };
  }

  test("accepted jobs wait no longer than the limit, workers stay busy, and rejections state a delay before a retry", async () => {
    const { p99Ms, throughput, rejections } = await runOpenLoop(
      (random) => LIGHT_MS * (0.7 + 0.6 * random()),
      LIGHT_MS,
    );
    expect(p99Ms).toBeLessThan(MAX_WAIT_MS + LIGHT_MS);
    expect(throughput).toBeGreaterThan(0.95);
    expect(rejections.length).toBeGreaterThan(1000);
    for (const error of rejections) {
      expect(error).toBeInstanceOf(QueueError);
      expect(error.retryAfterMs).toBeGreaterThanOrEqual(400);
      expect(error.retryAfterMs).toBeLessThanOrEqual(2000);
    }
  });

  test.each([
    ["a tenth", 0.1],
    ["half", 0.5],
  ])(
    "accepted jobs wait at most twice the limit if %s of the jobs take twelve times as long",
    async (_, share) => {
      const { p99Ms, throughput } = await runOpenLoop(
        (random) => (random() < share ? 300 : 25),
        share * 300 + (1 - share) * 25,
      );
      expect(p99Ms).toBeLessThan(2 * MAX_WAIT_MS);
      expect(throughput).toBeGreaterThan(0.95);
    },
  );
});

test("a caller with one job at a time is never rejected beside one that sends twice the capacity", async () => {
  const workers = new SimulatedWorkers(2, MAX_WAIT_MS);
  let isOver = false;
  const heavy = { rejected: 0 };
  const flood = (async () => {
    while (!isOver) {
      workers.run(LIGHT_MS, { caller: "heavy" }).catch(() => heavy.rejected++);
      await sleep(LIGHT_MS / 4);
    }
  })();
  const waitsMs: number[] = [];
  const light = (async () => {
    for (let job = 0; job < 100; job++) {
      await sleep(50);
      waitsMs.push(await workers.run(LIGHT_MS, { caller: "light" }));
    }
    isOver = true;
  })();
  await vi.advanceTimersByTimeAsync(MINUTE_MS);
  await Promise.all([flood, light]);
  expect(waitsMs).toHaveLength(100);
  expect(Math.max(...waitsMs)).toBeLessThanOrEqual(3 * LIGHT_MS);
  expect(heavy.rejected).toBeGreaterThan(100);
});
