import { describe, expect, test } from "vitest";
import { Clock, Machine, Station } from "../../bench/scale/event-loop.ts";
import type { Scenario } from "../../bench/scale/scenario.ts";
import { simulate } from "../../bench/scale/simulation.ts";
import { createRandom } from "../../tools/support/random.ts";
import { mean } from "../../tools/support/statistics.ts";

const FREE = { readMs: 0, usageMs: 0, usageOfUserMs: 0, usageLockMs: 0 };
const COST = { images: 1, workersMs: 40, serverMs: 2, searchMs: 0, databaseMs: 0, transactions: 0 };
/** A replica of two workers on three cores: 50 requests per second. */
const ONE: Scenario = {
  cost: COST,
  accounts: FREE,
  perSecond: 25,
  seconds: 200,
  replicas: 1,
  workers: 2,
  cores: 3,
};
const CAPACITY = 50;

describe("the simulated computers", () => {
  /** The mean time in a queue with Poisson arrivals, one server and a constant service time of 1 ms. */
  function meanWaitMs(utilization: number): number {
    const clock = new Clock();
    const station = new Station(clock, new Machine(clock, 1), 1);
    const random = createRandom(1);
    const waits: number[] = [];
    const arrive = () => {
      const startMs = clock.nowMs;
      station.run(1, () => waits.push(clock.nowMs - startMs - 1));
      clock.after(-Math.log(1 - random()) / utilization, arrive);
    };
    clock.after(0, arrive);
    clock.runUntil(200_000);
    return mean(waits);
  }

  test.each([0.3, 0.6, 0.9])("waits at a utilization of %d are those of M/D/1", (utilization) => {
    const expected = utilization / (2 * (1 - utilization));
    expect(meanWaitMs(utilization) / expected).toBeCloseTo(1, 1);
  });

  test("tasks share the cores of a machine, and none uses more than one", () => {
    const clock = new Clock();
    const machine = new Machine(clock, 2);
    const ends: number[] = [];
    for (const workMs of [10, 10, 20]) machine.run(workMs, () => ends.push(clock.nowMs));
    clock.runUntil(1_000);
    // Three tasks at two thirds of the speed until 15 ms, then one at full speed.
    expect(ends.map((ms) => Math.round(ms))).toEqual([15, 15, 25]);
    expect(machine.usedMs).toBeCloseTo(40);
  });

  test("tasks of other programs take their share of the cores", () => {
    const clock = new Clock();
    const machine = new Machine(clock, 2, 3);
    let endMs = 0;
    machine.run(10, () => {
      endMs = clock.nowMs;
    });
    clock.runUntil(1_000);
    expect(endMs).toBeCloseTo(20);
  });
});

describe("the simulated service", () => {
  test("a load below the capacity is served without refusals, in little more than its own time", () => {
    const { perSecond, p50, refused, workerUtilization } = simulate(ONE);
    expect(perSecond / ONE.perSecond).toBeCloseTo(1, 1);
    expect(refused).toBe(0);
    expect(p50).toBeGreaterThan(41.9);
    expect(p50).toBeLessThan(60);
    expect(workerUtilization).toBeCloseTo(0.5, 1);
  });

  test("above the capacity the throughput is the capacity, the rest is refused, and waits stay within the limit", () => {
    const { perSecond, p95, refused } = simulate({ ...ONE, perSecond: 2 * CAPACITY, seconds: 60 });
    expect(perSecond / CAPACITY).toBeCloseTo(1, 1);
    expect(refused).toBeCloseTo(0.5, 1);
    expect(p95).toBeLessThan(1_100);
    expect(p95).toBeGreaterThan(700);
  });

  test("the same scenario gives the same prediction, another seed another one", () => {
    expect(simulate(ONE)).toEqual(simulate(ONE));
    expect(simulate({ ...ONE, seed: 2 })).not.toEqual(simulate(ONE));
  });

  test("replicas on machines of their own multiply the throughput; on one machine they share it", () => {
    const overload = { ...ONE, seconds: 10 };
    const of = (replicas: number) =>
      simulate({ ...overload, replicas, perSecond: 2 * CAPACITY * replicas }).perSecond / CAPACITY;
    expect([1, 2, 5].map((count) => Math.round(of(count)))).toEqual([1, 2, 5]);
    const shared = (replicas: number) =>
      simulate({ ...overload, isOneMachine: true, cores: 2, replicas, perSecond: 100 }).perSecond;
    expect(shared(3) / shared(2)).toBeCloseTo(1, 1);
  });

  test("the server process limits a replica with many workers", () => {
    const { perSecond, serverUtilization } = simulate({
      ...ONE,
      workers: 64,
      cores: 64,
      perSecond: 1_000,
      seconds: 5,
    });
    expect(perSecond).toBeLessThan(500);
    expect(serverUtilization).toBeGreaterThan(0.95);
  });

  test("searches scale with the replicas until the database is the limit", () => {
    const cost = { ...COST, images: 0, workersMs: 0, searchMs: 4, databaseMs: 1, transactions: 2 };
    const of = (replicas: number) =>
      simulate({ ...ONE, cost, replicas, databaseCores: 1, perSecond: 300 * replicas, seconds: 10 });
    expect(of(1).perSecond).toBeLessThan(260);
    expect(of(3).perSecond / of(1).perSecond).toBeCloseTo(3, 0);
    // A core of the database serves a thousand searches.
    expect(of(8).perSecond).toBeLessThan(1_010);
    expect(of(8).databaseUtilization).toBeGreaterThan(0.95);
  });
});

describe("the simulated accounts", () => {
  const accounts = { readMs: 0.1, usageMs: 1, usageOfUserMs: 0.1, usageLockMs: 2 };
  const many = { ...ONE, accounts, replicas: 10, perSecond: 250, seconds: 10 };

  test("one busy user costs each replica two transactions and half a read per second", () => {
    const { transactionsPerSecond, accountReadsPerSecond } = simulate(many);
    expect(accountReadsPerSecond / 10).toBeCloseTo(0.5, 1);
    expect(transactionsPerSecond / 10).toBeCloseTo(2.5, 0);
  });

  test("with many users nearly every request reads its account, unless the proxy sends a user to one replica", () => {
    const users = 2_000;
    expect(simulate({ ...many, users }).accountReadsPerSecond).toBeGreaterThan(200);
    const byUser = simulate({ ...many, users: 50, spread: "by user" }).accountReadsPerSecond;
    expect(byUser).toBeLessThan(30);
    expect(simulate({ ...many, users: 50 }).accountReadsPerSecond).toBeGreaterThan(3 * byUser);
  });

  test("a request waits for an account that was not read lately", () => {
    const slow = { ...ONE, accounts: { ...accounts, readMs: 40 }, seconds: 60 };
    expect(simulate({ ...slow, users: 200 }).p50).toBeGreaterThan(simulate(slow).p50 + 30);
  });

  test("the usage of one user is written by one replica after the other", () => {
    const slow = { ...many, accounts: { ...accounts, usageLockMs: 100 } };
    expect(simulate(slow).slowestUsageMs).toBeGreaterThan(500);
    expect(simulate({ ...slow, users: 1_000, spread: "by user" }).slowestUsageMs).toBeLessThan(150);
  });
});
