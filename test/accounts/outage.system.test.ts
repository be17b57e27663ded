import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { AccountStore } from "../../src/accounts/account-store.ts";
import { type Authenticator, createAuthenticator } from "../../src/accounts/authenticator.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { addTestUser, storedCount } from "../support/accounts.ts";
import { hasPostgres, startPostgres, type TestPostgres } from "../support/postgres.ts";

const USERS = ["anna", "bela", "cora", "dora"];
const GRACE_MS = 10_000;
const ADDRESS = "203.0.113.5";
const RESULTS_TO_WATCH = 400;
const REQUEST_MS = 1;
const WAIT = { timeout: 20_000 };

let postgres: TestPostgres;
let store: AccountStore;
let authenticator: Authenticator;
let load: Load;

/** Users that send requests continuously, each after the previous one has finished. */
interface Load {
  /** Returns and resets the number of results of each kind. */
  takeResults(): Record<string, number>;
  /** Returns the number of results of each kind since the last reset. */
  peekResults(): Record<string, number>;
  /** Stops the load. Returns the total number of successful requests. */
  stop(): Promise<number>;
}

function startLoad(): Load {
  let isStopped = false;
  let successes = 0;
  let results: Record<string, number> = {};
  const sendRequests = async (userId: string) => {
    while (!isStopped) {
      const admission = await authenticator.admit({ keys: [userId], address: ADDRESS });
      await sleep(REQUEST_MS);
      const result = admission.admitted ? "admitted" : admission.kind;
      results[result] = (results[result] ?? 0) + 1;
      if (!admission.admitted) continue;
      admission.caller.finish("get_face_vec", "ok");
      successes++;
    }
  };
  const all = USERS.map(sendRequests);
  return {
    takeResults: () => {
      const taken = results;
      results = {};
      return taken;
    },
    peekResults: () => ({ ...results }),
    stop: async () => {
      isStopped = true;
      await Promise.all(all);
      return successes;
    },
  };
}

/** Waits for the next results of the load and returns their kinds. */
async function watchLoad(): Promise<string[]> {
  load.takeResults();
  let results: Record<string, number> = {};
  await vi.waitUntil(() => {
    results = load.peekResults();
    return sum(Object.values(results)) >= RESULTS_TO_WATCH;
  }, WAIT);
  return Object.keys(results);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

async function admit(userId: string): Promise<string> {
  const admission = await authenticator.admit({ keys: [userId], address: ADDRESS });
  return admission.admitted ? "admitted" : admission.kind;
}

describe.skipIf(!hasPostgres)("a database outage under load", () => {
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres?.remove());

  beforeEach(async () => {
    store = await openAccountStore({ databaseUrl: await postgres.createDatabase(), dataDir: "" });
    for (const user of [...USERS, "late"]) await addTestUser(store, user, { requestsPerMonth: 1_000_000 });
    // Only the age of cached accounts uses fake time.
    vi.useFakeTimers({ toFake: ["performance"] });
  });
  afterEach(async () => {
    vi.useRealTimers();
    await store.close();
  });

  test("admits known users during the grace period and loses no count", async () => {
    const storeErrors: unknown[] = [];
    let recoveries = 0;
    authenticator = createAuthenticator({
      store,
      graceMs: GRACE_MS,
      onStoreError: (error) => storeErrors.push(error),
      onStoreRecovery: () => recoveries++,
    });
    load = startLoad();
    expect(await watchLoad()).toEqual(["admitted"]);

    await postgres.stop();
    vi.advanceTimersByTime(3_000);
    expect(await watchLoad()).toEqual(["admitted"]);
    expect(await admit("late")).toBe("accountsUnavailable");
    expect(await admit("unknown")).toBe("accountsUnavailable");

    vi.advanceTimersByTime(GRACE_MS);
    await vi.waitFor(async () => expect(await watchLoad()).toEqual(["accountsUnavailable"]), WAIT);
    // One error for reading accounts, one for writing usage.
    await vi.waitFor(() => expect(storeErrors).toHaveLength(2), WAIT);

    await postgres.start();
    vi.advanceTimersByTime(1_000);
    await vi.waitFor(async () => expect(await watchLoad()).toEqual(["admitted"]), WAIT);
    expect(await admit("late")).toBe("admitted");
    expect(await admit("unknown")).toBe("unknownUser");

    const successes = await load.stop();
    await authenticator.close();
    expect(await storedCount(store)).toBe(successes);
    expect(storeErrors).toHaveLength(2);
    expect(recoveries).toBe(1);
  });

  test("stores every count exactly once when the database crashes during a write", async () => {
    // From before the batch arrives until long after it is stored. The response is always lost.
    const delaysMs = [0, 1, 2, 4, 50];
    let crashes = 0;
    let delayMs: number | undefined;
    const addUsage: AccountStore["addUsage"] = async (...batch) => {
      const sending = store.addUsage(...batch);
      if (delayMs !== undefined) {
        if (delayMs > 0) await sleep(delayMs);
        delayMs = undefined;
        await Promise.allSettled([postgres.kill9(), sending]);
        crashes++;
        throw new Error("The response is lost");
      }
      return sending;
    };
    authenticator = createAuthenticator({
      store: { ...store, addUsage },
      graceMs: GRACE_MS,
      onStoreError: () => {},
    });
    load = startLoad();
    for (const [round, delay] of delaysMs.entries()) {
      delayMs = delay;
      await vi.waitFor(() => expect(crashes).toBe(round + 1), WAIT);
      await postgres.start();
      vi.advanceTimersByTime(2_500);
    }
    const successes = await load.stop();
    await authenticator.close();
    expect(await storedCount(store)).toBe(successes);
    expect(load.takeResults()).toEqual({ admitted: successes });
  });
});
