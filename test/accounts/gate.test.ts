import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { AccountStore } from "../../src/accounts/account-store.ts";
import { type Admission, type Caller, createGate, type Gate } from "../../src/accounts/gate.ts";
import { fingerprintOf, hashOf } from "../../src/accounts/user-id.ts";
import { addTestUser, openTestStore, storedCount } from "../support/accounts.ts";

const ADDRESS = "203.0.113.5";
const NOON = new Date("2026-03-31T12:00:00Z");
const SECONDS_TO_APRIL = 12 * 3600;

let store: AccountStore;
let gate: Gate;

beforeEach(async () => {
  // What waits for the disk goes on in real time.
  vi.useFakeTimers({ now: NOON, toFake: ["Date", "performance", "setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  store = await openTestStore();
  gate = openGate();
});

/** A gate on the store of the test, until that is over. */
function openGate(through: Partial<AccountStore> = {}): Gate {
  const made = createGate({ store: { ...store, ...through }, graceMs: 60_000, onTrouble: () => {} });
  onTestFinished(() => made.close());
  return made;
}

async function admit(userId: string | undefined, through = gate, address = ADDRESS): Promise<Admission> {
  return through.admit({ userId, address });
}

async function enter(userId: string, through = gate): Promise<Caller> {
  const admission = await admit(userId, through);
  if (!admission.admitted) throw new Error(`Refused: ${admission.kind}`);
  return admission.caller;
}

/** Asks until refused, and gives how many were admitted, and the refusal. */
async function enterAll(userId: string, through = gate) {
  for (let count = 0; count < 1_000; count++) {
    const admission = await admit(userId, through);
    if (!admission.admitted) return { count, refusal: admission };
    admission.caller.finish("get_face_vec", "ok");
  }
  throw new Error("Never refused");
}

const refusal = (kind: string, retryAfterSeconds?: number, limits?: object) => ({
  admitted: false,
  kind,
  retryAfterSeconds,
  limits,
});

describe("who may enter", () => {
  test("a user, at once after the first time, with what the plan allows", async () => {
    await addTestUser(store, "anna", { maxImageBytes: 5000 });
    const { caller } = (await admit("anna")) as { caller: Caller };
    expect(caller).toMatchObject({
      fingerprint: fingerprintOf(hashOf("anna")),
      maxImageBytes: 5000,
      limits: undefined,
    });
    expect(gate.admit({ userId: "anna", address: ADDRESS })).toHaveProperty("admitted", true);
  });

  test.each([undefined, ""])("nobody without an id: %j", async (userId) => {
    expect(await admit(userId)).toEqual(refusal("noUserId"));
  });

  test("nobody who is unknown", async () => {
    expect(await admit("stranger")).toEqual(refusal("unknownUser"));
  });

  test("nobody who is disabled, 3 seconds later at the latest", async () => {
    const { idHash } = await addTestUser(store, "anna");
    await enter("anna");
    await store.changeUser(idHash, { enabled: false });
    vi.advanceTimersByTime(3_000);
    expect(await admit("anna")).toEqual(refusal("unknownUser"));
  });

  test.each([
    ["before it begins", { startsAt: new Date(NOON.getTime() + 1) }, false],
    ["from its first moment", { startsAt: NOON }, true],
    ["up to its last moment", { endsAt: new Date(NOON.getTime() + 1) }, true],
    ["when it is over", { endsAt: NOON }, false],
  ])("by a subscription, %s", async (_, changes, isAdmitted) => {
    await addTestUser(store, "anna", {}, changes);
    const admission = await admit("anna");
    if (isAdmitted) expect(admission.admitted).toBe(true);
    else expect(admission).toEqual(refusal("noSubscription"));
  });

  test("by the first check that fails: enabled, subscription, rate, month", async () => {
    const limits = { requestsPerSecond: 1, burst: 1, requestsPerMonth: 0 };
    const { idHash } = await addTestUser(store, "anna", limits, { endsAt: NOON, enabled: false });
    expect(await admit("anna")).toHaveProperty("kind", "unknownUser");
    const change = async (changes: Parameters<AccountStore["changeUser"]>[1]) => {
      await store.changeUser(idHash, changes);
      vi.advanceTimersByTime(3_000);
    };
    await change({ enabled: true });
    expect(await admit("anna")).toHaveProperty("kind", "noSubscription");
    await change({ endsAt: undefined });
    expect(await admit("anna")).toHaveProperty("kind", "quotaSpent");
    expect(await admit("anna")).toHaveProperty("kind", "tooManyRequests");
  });
});

describe("the rate", () => {
  test("lets a burst through, then tells when to come again", async () => {
    await addTestUser(store, "anna", { requestsPerSecond: 0.5, burst: 4 });
    const { count, refusal: refused } = await enterAll("anna");
    expect(count).toBe(4);
    expect(refused).toEqual(refusal("tooManyRequests", 2, { limit: 4, remaining: 0, resetSeconds: 8 }));
    vi.advanceTimersByTime(2_000);
    expect((await enterAll("anna")).count).toBe(1);
  });

  test("counts every request, also those that fail", async () => {
    await addTestUser(store, "anna", { requestsPerSecond: 1, burst: 2 });
    (await enter("anna")).finish("get_face_vec", "noFace");
    (await enter("anna")).finish("get_face_vec", "noFace");
    expect(await admit("anna")).toHaveProperty("kind", "tooManyRequests");
  });
});

describe("the month's quota", () => {
  test("counts successes alone, and tells what is left", async () => {
    await addTestUser(store, "anna", { requestsPerMonth: 3 });
    for (let number = 0; number < 5; number++) (await enter("anna")).finish("get_face_vec", "noFace");
    const caller = await enter("anna");
    expect(caller.limits).toEqual({ limit: 3, remaining: 2, resetSeconds: SECONDS_TO_APRIL });
    caller.finish("get_face_vec", "ok");
    const { count, refusal: refused } = await enterAll("anna");
    expect(count).toBe(2);
    const limits = { limit: 3, remaining: 0, resetSeconds: SECONDS_TO_APRIL };
    expect(refused).toEqual(refusal("quotaSpent", SECONDS_TO_APRIL, limits));
  });

  test("is held by requests under way, and given back by those that fail", async () => {
    await addTestUser(store, "anna", { requestsPerMonth: 2 });
    const [first, second] = [await enter("anna"), await enter("anna")];
    expect(await admit("anna")).toMatchObject({ kind: "quotaSpent", retryAfterSeconds: 1 });
    first.finish("get_face_vec", "overloaded");
    const third = await enter("anna");
    expect(third.limits).toMatchObject({ remaining: 0 });
    for (const caller of [second, third]) caller.finish("get_face_vec", "ok");
    expect(await admit("anna")).toMatchObject({
      kind: "quotaSpent",
      retryAfterSeconds: SECONDS_TO_APRIL,
    });
  });

  test("is counted once by a caller who finishes twice", async () => {
    await addTestUser(store, "anna", { requestsPerMonth: 2 });
    const caller = await enter("anna");
    caller.finish("get_face_vec", "ok");
    caller.finish("get_face_vec", "ok");
    expect((await enterAll("anna")).count).toBe(1);
    await gate.close();
    expect(await storedCount(store)).toBe(2);
  });

  test("is new in a new month; a request counts in the month in which it came", async () => {
    await addTestUser(store, "anna", { requestsPerMonth: 2 });
    const late = await enter("anna");
    vi.setSystemTime(new Date("2026-03-31T23:59:59.900Z"));
    expect((await enter("anna")).limits).toMatchObject({ remaining: 0, resetSeconds: 1 });
    vi.setSystemTime(new Date("2026-04-01T00:00:00Z"));
    expect((await enter("anna")).limits).toMatchObject({ remaining: 1, resetSeconds: 30 * 24 * 3600 });
    late.finish("get_face_vec", "ok");
    expect((await enter("anna")).limits).toMatchObject({ remaining: 0 });
    await gate.close();
    expect(await store.listUsage()).toMatchObject([{ month: "2026-03", count: 1 }]);
  });

  test("is not granted again by a clock that steps back over the end of the month", async () => {
    await addTestUser(store, "anna", { requestsPerMonth: 2 });
    expect((await enterAll("anna")).count).toBe(2);
    vi.setSystemTime(new Date("2026-04-01T00:00:10Z"));
    expect((await enterAll("anna")).count).toBe(2);
    vi.setSystemTime(new Date("2026-03-31T23:59:50Z"));
    const { count, refusal: refused } = await enterAll("anna");
    expect(count).toBe(0);
    expect(refused.limits).toMatchObject({ resetSeconds: 30 * 24 * 3600 + 10 });
    // Neither from memory nor from the store.
    vi.advanceTimersByTime(3_000);
    expect((await enterAll("anna")).count).toBe(0);
    vi.setSystemTime(new Date("2026-04-02T00:00:00Z"));
    expect((await enterAll("anna")).count).toBe(0);
    await gate.close();
    expect(await store.listUsage()).toMatchObject([
      { month: "2026-03", count: 2 },
      { month: "2026-04", count: 2 },
    ]);
    vi.setSystemTime(new Date("2026-05-01T00:00:00Z"));
    expect((await enter("anna")).limits).toMatchObject({ remaining: 1 });
  });

  test("goes on where it was after a restart", async () => {
    await addTestUser(store, "anna", { requestsPerMonth: 5 });
    for (let number = 0; number < 3; number++) (await enter("anna")).finish("get_face_vec", "ok");
    await gate.close();
    expect((await enterAll("anna", openGate())).count).toBe(2);
  });

  describe("where the store is read and written at the same time", () => {
    /** What waits for it goes on when it is let go. */
    function createHold() {
      let letGo = () => {};
      const held = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      return { held, letGo };
    }

    test("is not exceeded when a count was read before a write and comes after it", async () => {
      await addTestUser(store, "anna", { requestsPerMonth: 5 });
      let hold: ReturnType<typeof createHold> | undefined;
      gate = openGate({
        findAccount: async (...of) => {
          const account = await store.findAccount(...of);
          await hold?.held;
          return account;
        },
      });
      const callers = [await enter("anna"), await enter("anna"), await enter("anna")];
      hold = createHold();
      vi.advanceTimersByTime(3_000);
      const reading = enterAll("anna");
      for (const caller of callers) caller.finish("get_face_vec", "ok");
      vi.advanceTimersByTime(500);
      await vi.waitUntil(async () => (await storedCount(store)) === 3);
      hold.letGo();
      expect((await reading).count).toBe(2);
    });

    test("is not refused when a count is read after a write that has not been answered", async () => {
      await addTestUser(store, "anna", { requestsPerMonth: 5 });
      const hold = createHold();
      gate = openGate({
        addUsage: async (...batch) => {
          await store.addUsage(...batch);
          await hold.held;
        },
      });
      for (let number = 0; number < 3; number++) (await enter("anna")).finish("get_face_vec", "ok");
      vi.advanceTimersByTime(3_000);
      await vi.waitUntil(async () => (await storedCount(store)) === 3);
      expect((await enterAll("anna")).count).toBe(2);
      hold.letGo();
    });
  });

  test("is shared by gates on one store, up to what they serve until they hear of each other", async () => {
    await addTestUser(store, "anna", { requestsPerMonth: 100 });
    const other = openGate();
    let served = 0;
    const serve = async (through: Gate, count: number) => {
      for (let number = 0; number < count; number++) {
        const admission = await admit("anna", through);
        if (!admission.admitted) return;
        admission.caller.finish("get_face_vec", "ok");
        served++;
      }
    };
    const hearOfEachOther = async () => {
      vi.advanceTimersByTime(3_000);
      // A gate writes no more while what it wrote before is on its way to the disk.
      await vi.waitFor(async () => {
        vi.advanceTimersByTime(500);
        expect(await storedCount(store)).toBe(served);
      });
    };
    for (let round = 0; round < 4; round++) {
      await Promise.all([serve(gate, 10), serve(other, 10)]);
      await hearOfEachOther();
    }
    expect(served).toBe(80);
    await Promise.all([serve(gate, 1_000), serve(other, 1_000)]);
    expect(served).toBe(120);
    await hearOfEachOther();
    await Promise.all([serve(gate, 10), serve(other, 10)]);
    expect(served).toBe(120);
    await Promise.all([gate.close(), other.close()]);
    expect(await storedCount(store)).toBe(120);
  });
});

describe("strangers", () => {
  /** Fails from an address until that is refused, and gives how often it could. */
  async function failAll(address: string): Promise<number> {
    for (let count = 0; count < 1_000; count++) {
      const { kind } = (await admit(`guess ${address} ${count}`, gate, address)) as { kind: string };
      if (kind !== "unknownUser") return count;
    }
    throw new Error("Never refused");
  }

  test("may fail 50 times from one address, then twice a second", async () => {
    expect(await failAll(ADDRESS)).toBe(50);
    expect(await admit(undefined)).toEqual(refusal("tooManyRequests", 1));
    expect(await admit("another guess")).toEqual(refusal("tooManyRequests", 1));
    vi.advanceTimersByTime(2_000);
    expect(await failAll(ADDRESS)).toBe(4);
  });

  test("are counted where they give no id, and where they are disabled", async () => {
    await addTestUser(store, "anna", {}, { enabled: false });
    for (let number = 0; number < 25; number++) {
      expect(await admit(undefined)).toHaveProperty("kind", "noUserId");
      expect(await admit("anna")).toHaveProperty("kind", "unknownUser");
    }
    expect(await admit(undefined)).toHaveProperty("kind", "tooManyRequests");
    expect(await admit("anna")).toHaveProperty("kind", "tooManyRequests");
  });

  test("are counted at the address from which they came, also those who left meanwhile", async () => {
    for (let number = 0; number < 50; number++) {
      const visitor = { userId: `guess ${number}`, address: ADDRESS };
      const admission = gate.admit(visitor);
      // What a closed socket tells.
      visitor.address = "";
      expect(await admission).toHaveProperty("kind", "unknownUser");
    }
    expect(await admit("another guess")).toHaveProperty("kind", "tooManyRequests");
  });

  test("are not looked up when they failed too often", async () => {
    const findAccount = vi.fn(store.findAccount);
    gate = openGate({ findAccount });
    await failAll(ADDRESS);
    findAccount.mockClear();
    for (let number = 0; number < 50; number++) await admit(`more ${number}`);
    expect(findAccount).not.toHaveBeenCalled();
  });

  test("do not keep out known users of their address, nor strangers of another", async () => {
    await addTestUser(store, "anna");
    await enter("anna");
    await failAll(ADDRESS);
    vi.advanceTimersByTime(500);
    expect(await admit("anna")).toHaveProperty("admitted", true);
    expect(await admit("stranger", gate, "203.0.113.6")).toHaveProperty("kind", "unknownUser");
  });

  test("do not keep out a known user whose account must be read again", async () => {
    await addTestUser(store, "anna");
    await enter("anna");
    vi.advanceTimersByTime(3_000);
    await failAll(ADDRESS);
    expect(await admit("anna")).toHaveProperty("admitted", true);
  });

  test("share what they may within an IPv6 network of 64 bits", async () => {
    expect(await failAll("2001:db8:1:2::1")).toBe(50);
    expect(await failAll("2001:db8:1:2:ffff:ffff:ffff:ffff")).toBe(0);
    expect(await failAll("2001:db8:1:3::1")).toBe(50);
  });

  test("many who come at once with one good id are not taken for strangers", async () => {
    await addTestUser(store, "anna");
    const admissions = await Promise.all(Array.from({ length: 100 }, () => admit("anna")));
    expect(admissions.every(({ admitted }) => admitted)).toBe(true);
  });
});
