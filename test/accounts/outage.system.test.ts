import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { AccountStore } from "../../src/accounts/account-store.ts";
import { createGate, type Gate } from "../../src/accounts/gate.ts";
import { openPostgresStore } from "../../src/accounts/postgres-store.ts";
import { addTestUser, storedCount } from "../support/accounts.ts";
import { hasPostgres, startPostgres, type TestPostgres } from "../support/postgres.ts";

const USERS = ["anna", "bela", "cora", "dora"];
const GRACE_MS = 10_000;
const ADDRESS = "203.0.113.5";

let postgres: TestPostgres;
let store: AccountStore;
let gate: Gate;
let load: Load;

/** Users who come all the time, each as soon as the last request is over. */
interface Load {
  /** How often each kind of answer was given since the last time it was asked. */
  takeAnswers(): Record<string, number>;
  /** Ends it, and gives how many requests succeeded in all. */
  end(): Promise<number>;
}

function startLoad(): Load {
  let isOver = false;
  let successes = 0;
  let answers: Record<string, number> = {};
  const come = async (userId: string) => {
    while (!isOver) {
      const admission = await gate.admit({ userId, address: ADDRESS });
      await sleep(1);
      const answer = admission.admitted ? "admitted" : admission.kind;
      answers[answer] = (answers[answer] ?? 0) + 1;
      if (!admission.admitted) continue;
      admission.caller.finish("get_face_vec", "ok");
      successes++;
    }
  };
  const all = USERS.map(come);
  return {
    takeAnswers: () => {
      const taken = answers;
      answers = {};
      return taken;
    },
    end: async () => {
      isOver = true;
      await Promise.all(all);
      return successes;
    },
  };
}

/** The answers that the load gets in a while. */
async function watchLoad(): Promise<string[]> {
  load.takeAnswers();
  await sleep(300);
  return Object.keys(load.takeAnswers());
}

async function kindOf(userId: string): Promise<string> {
  const admission = await gate.admit({ userId, address: ADDRESS });
  return admission.admitted ? "admitted" : admission.kind;
}

describe.skipIf(!hasPostgres)("a database under load", () => {
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres?.remove());

  beforeEach(async () => {
    store = await openPostgresStore(await postgres.createDatabase());
    for (const user of [...USERS, "late"]) await addTestUser(store, user, { requestsPerMonth: 1_000_000 });
    // The age of accounts goes by hand, all else in real time.
    vi.useFakeTimers({ toFake: ["performance"] });
  });
  afterEach(async () => {
    vi.useRealTimers();
    await store.close();
  });

  test("that is stopped is missed by nobody who is known, for the grace, and no count is lost", async () => {
    const troubles: unknown[] = [];
    gate = createGate({ store, graceMs: GRACE_MS, onTrouble: (error) => troubles.push(error) });
    load = startLoad();
    expect(await watchLoad()).toEqual(["admitted"]);

    await postgres.stop();
    vi.advanceTimersByTime(3_000);
    expect(await watchLoad()).toEqual(["admitted"]);
    expect(await kindOf("late")).toBe("accountsUnavailable");
    expect(await kindOf("stranger")).toBe("accountsUnavailable");

    vi.advanceTimersByTime(GRACE_MS);
    await sleep(50);
    expect(await watchLoad()).toEqual(["accountsUnavailable"]);
    // One for accounts that cannot be read and one for usage that cannot be written.
    await vi.waitFor(() => expect(troubles).toHaveLength(2), 2_000);

    await postgres.start();
    vi.advanceTimersByTime(1_000);
    await vi.waitFor(async () => expect(await watchLoad()).toEqual(["admitted"]), 5_000);
    expect(await kindOf("late")).toBe("admitted");
    expect(await kindOf("stranger")).toBe("unknownUser");

    const successes = await load.end();
    await gate.close();
    expect(await storedCount(store)).toBe(successes);
    expect(troubles).toHaveLength(2);
  });

  test("that dies while counts are on their way gets each of them once", async () => {
    // From before the batch arrives until long after it is stored; no answer to it ever comes back.
    const delaysMs = [0, 1, 2, 4, 50];
    let deaths = 0;
    let delayMs: number | undefined;
    const addUsage: AccountStore["addUsage"] = async (...batch) => {
      const sending = store.addUsage(...batch);
      if (delayMs !== undefined) {
        if (delayMs > 0) await sleep(delayMs);
        delayMs = undefined;
        await Promise.allSettled([postgres.kill9(), sending]);
        deaths++;
        throw new Error("The answer is lost");
      }
      return sending;
    };
    gate = createGate({ store: { ...store, addUsage }, graceMs: GRACE_MS, onTrouble: () => {} });
    load = startLoad();
    for (const [round, delay] of delaysMs.entries()) {
      delayMs = delay;
      await vi.waitFor(() => expect(deaths).toBe(round + 1), 5_000);
      await postgres.start();
      vi.advanceTimersByTime(2_500);
    }
    const successes = await load.end();
    await gate.close();
    expect(await storedCount(store)).toBe(successes);
    expect(load.takeAnswers()).toEqual({ admitted: successes });
  });
});
