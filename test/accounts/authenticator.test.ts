import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { AccountStore } from "../../src/accounts/account-store.ts";
import type { AdmissionResult, Caller } from "../../src/accounts/admission-result.ts";
import { type Authenticator, createAuthenticator } from "../../src/accounts/authenticator.ts";
import { fingerprintOf, hashKey } from "../../src/accounts/key.ts";
import { addTestUser, newKey, openTestStore, storedCount } from "../support/accounts.ts";

const ADDRESS = "203.0.113.5";
const NOON = new Date("2026-03-31T12:00:00Z");
const SECONDS_TO_APRIL = 12 * 3600;
const WAIT = { timeout: 15_000 };

let store: AccountStore;
let authenticator: Authenticator;

beforeEach(async () => {
  // Disk I/O continues in real time.
  vi.useFakeTimers({ now: NOON, toFake: ["Date", "performance", "setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  store = await openTestStore();
  authenticator = openAuthenticator();
});

/** An authenticator on the store of the test, until that is over. */
function openAuthenticator(through: Partial<AccountStore> = {}): Authenticator {
  const created = createAuthenticator({
    store: { ...store, ...through },
    graceMs: 60_000,
    onStoreError: () => {},
  });
  onTestFinished(() => created.close());
  return created;
}

async function admit(
  keys: string | readonly string[],
  through = authenticator,
  address = ADDRESS,
): Promise<AdmissionResult> {
  return through.admit({ keys: [keys].flat(), address });
}

async function admitCaller(userId: string, through = authenticator): Promise<Caller> {
  const admission = await admit(userId, through);
  if (!admission.admitted) throw new Error(`Rejected: ${admission.kind}`);
  return admission.caller;
}

/** Sends successful requests until one is rejected. Returns the number of admitted requests and the rejection. */
async function exhaustLimit(userId: string, through = authenticator) {
  for (let count = 0; count < 1_000; count++) {
    const admission = await admit(userId, through);
    if (!admission.admitted) return { count, rejection: admission };
    admission.caller.finish("get_face_vec", "ok");
  }
  throw new Error("Never rejected");
}

const rejection = (kind: string, retryAfterSeconds?: number, limits?: object) => ({
  admitted: false,
  kind,
  message: undefined,
  retryAfterSeconds,
  limits,
  ...FAILED_AUTH[kind],
});

/** What the rejection of a credential has for the log. */
const FAILED_AUTH: Record<string, object> = {
  noUserId: { failedAuth: { address: ADDRESS, credential: "none" } },
  unknownUser: { failedAuth: { address: ADDRESS, credential: "key" } },
};

describe("authentication", () => {
  test("admits a user with the limits of the plan, synchronously after the first request", async () => {
    const { fingerprint } = await addTestUser(store, "anna", { maxImageBytes: 5000 });
    const { caller } = (await admit("anna")) as { caller: Caller };
    expect(caller).toMatchObject({
      fingerprint,
      plan: { maxImageBytes: 5000 },
      limits: undefined,
    });
    expect(authenticator.admit({ keys: ["anna"], address: ADDRESS })).toHaveProperty("admitted", true);
  });

  test("rejects a request without a key", async () => {
    expect(await admit([])).toEqual(rejection("noUserId"));
  });

  test("rejects an unknown user", async () => {
    expect(await admit("unknown")).toEqual(rejection("unknownUser"));
  });

  test("rejects a disabled user after at most 3 seconds", async () => {
    const { id } = await addTestUser(store, "anna");
    await admitCaller("anna");
    await store.updateUser(id, { enabled: false });
    vi.advanceTimersByTime(3_000);
    expect(await admit("anna")).toEqual(rejection("unknownUser"));
  });

  test.each([
    ["rejects before it starts", { startsAt: new Date(NOON.getTime() + 1) }, false],
    ["admits at its start", { startsAt: NOON }, true],
    ["admits until just before its end", { endsAt: new Date(NOON.getTime() + 1) }, true],
    ["rejects at its end", { endsAt: NOON }, false],
  ])("checks the subscription: %s", async (_, changes, isAdmitted) => {
    await addTestUser(store, "anna", {}, changes);
    const admission = await admit("anna");
    if (isAdmitted) expect(admission.admitted).toBe(true);
    else expect(admission).toEqual(rejection("noSubscription"));
  });

  test("reports the first check that fails: enabled, subscription, rate, quota", async () => {
    const limits = { requestsPerSecond: 1, burst: 1, requestsPerMonth: 0 };
    const { id } = await addTestUser(store, "anna", limits, { endsAt: NOON, enabled: false });
    expect(await admit("anna")).toHaveProperty("kind", "unknownUser");
    const change = async (changes: Parameters<AccountStore["updateUser"]>[1]) => {
      await store.updateUser(id, changes);
      vi.advanceTimersByTime(3_000);
    };
    await change({ enabled: true });
    expect(await admit("anna")).toHaveProperty("kind", "noSubscription");
    await change({ endsAt: undefined });
    expect(await admit("anna")).toHaveProperty("kind", "quotaSpent");
    expect(await admit("anna")).toHaveProperty("kind", "tooManyRequests");
  });
});

describe("a key", () => {
  const inOneHour = new Date(NOON.getTime() + 3_600_000);
  /** Replaces the key "anna" by "new key". */
  const addKeyBeside = (userId: string, expiresAt: Date) =>
    store.addKey(userId, newKey(hashKey("new key")), { replaced: { hash: hashKey("anna"), expiresAt } });

  test("works beside an older one until that expires", async () => {
    const { id } = await addTestUser(store, "anna", { requestsPerMonth: 10 });
    await addKeyBeside(id, inOneHour);
    for (const keys of ["anna", "new key", ["anna", "new key"]])
      expect(await admit(keys)).toHaveProperty("admitted", true);
    vi.setSystemTime(inOneHour);
    // The account is cached, but its key has expired.
    expect(await admit("anna")).toEqual(rejection("unknownUser"));
    expect(await admit("new key")).toHaveProperty("admitted", true);
    expect(await admit(["anna", "new key"])).toHaveProperty("kind", "unknownUser");
    // The same after the account is read again.
    vi.advanceTimersByTime(3_000);
    expect(await admit("anna")).toEqual(rejection("unknownUser"));
  });

  test("expires while the store is unavailable", async () => {
    const { id } = await addTestUser(store, "anna");
    await addKeyBeside(id, new Date(NOON.getTime() + 10_000));
    let isBroken = false;
    authenticator = openAuthenticator({
      findAccount: async (...args) => {
        if (isBroken) throw new Error("connection refused");
        return store.findAccount(...args);
      },
    });
    for (const key of ["anna", "new key"]) await admitCaller(key);
    isBroken = true;
    vi.advanceTimersByTime(10_000);
    await Promise.all([admit("anna"), admit("new key")]);
    expect(await admit("anna")).toEqual(rejection("unknownUser"));
    expect(await admit("new key")).toHaveProperty("admitted", true);
  });

  test("is rejected at most 3 seconds after it is revoked", async () => {
    await addTestUser(store, "anna");
    await admitCaller("anna");
    await store.removeKey(hashKey("anna"));
    vi.advanceTimersByTime(3_000);
    expect(await admit("anna")).toEqual(rejection("unknownUser"));
  });

  test("shares rate limit, quota and fingerprint with the other key of its user", async () => {
    const { id } = await addTestUser(store, "anna", { requestsPerMonth: 3, requestsPerSecond: 1, burst: 4 });
    await store.addKey(id, newKey(hashKey("new key")));
    const [first, second] = [await admitCaller("anna"), await admitCaller("new key")];
    expect(first.fingerprint).toBe(second.fingerprint);
    expect(second.limits).toMatchObject({ remaining: 1 });
    for (const caller of [first, second]) caller.finish("get_face_vec", "ok");
    await admitCaller("new key");
    expect(await admit("anna")).toHaveProperty("kind", "tooManyInFlight");
    expect(await admit("new key")).toHaveProperty("kind", "tooManyRequests");
    await authenticator.close();
    expect(await storedCount(store)).toBe(2);
    expect(await store.listKeys(id)).toMatchObject([{ lastUsedAt: NOON }, { lastUsedAt: NOON }]);
  });
});

describe("a client certificate", () => {
  const certificate = (subject: string | undefined, ...keys: string[]) =>
    authenticator.admit({ keys, certificate: { subject }, address: ADDRESS });

  beforeEach(async () => {
    await addTestUser(store, "anna", {}, { certificateSubject: "anna.example" });
    await addTestUser(store, "bela", {}, { certificateSubject: "bela.example" });
  });

  test("identifies its user, with or without a key of that user", async () => {
    const { caller } = (await certificate("anna.example")) as { caller: Caller };
    expect(caller.fingerprint).toBe((await store.findUsers("anna"))[0]!.fingerprint);
    expect(await certificate("anna.example", "anna")).toHaveProperty("admitted", true);
    expect(certificate("anna.example", "anna")).toHaveProperty("admitted", true);
  });

  test("contradicts the key of another user", async () => {
    expect(await certificate("anna.example", "bela")).toMatchObject({
      kind: "unknownUser",
      message: expect.stringContaining("do not belong to one user"),
    });
  });

  test.each(["nobody.example", undefined])("of nobody (%s) is ignored beside a key", async (subject) => {
    expect(await certificate(subject, "anna")).toHaveProperty("admitted", true);
    expect(await certificate(subject, "unknown")).toMatchObject({ kind: "unknownUser", message: undefined });
  });

  test.each([
    ["nobody.example", "belongs to no user"],
    [undefined, "is not trusted"],
    // A hash of a key is no subject.
    [hashKey("anna"), "belongs to no user"],
  ])("of nobody (%s) is rejected without a key", async (subject, message) => {
    expect(await certificate(subject)).toMatchObject({
      kind: "unknownUser",
      message: expect.stringContaining(message),
    });
  });

  test("is rejected for a disabled user, also beside a key of another user", async () => {
    const [anna] = await store.findUsers("anna");
    await store.updateUser(anna!.id, { enabled: false });
    expect(await certificate("anna.example")).toHaveProperty("kind", "unknownUser");
    expect(await certificate("anna.example", "bela")).toHaveProperty("kind", "unknownUser");
  });
});

describe("keys of different users in one request", () => {
  const CONTRADICTION = expect.stringContaining("do not belong to one user");

  beforeEach(async () => {
    for (const name of ["anna", "bela"]) await addTestUser(store, name);
  });

  test.each([
    ["two users", ["anna", "bela"]],
    ["a user and nobody", ["anna", "unknown"]],
    ["nobody and a user", ["unknown", "anna"]],
    ["nobody", ["unknown", "unknown too"]],
  ])("are rejected with the same answer, cached or not: %s", async (_, keys) => {
    for (const _attempt of [1, 2])
      expect(await admit(keys)).toEqual({ ...rejection("unknownUser"), message: CONTRADICTION });
    await Promise.all([admit("anna"), admit("bela")]);
    expect(await admit(keys)).toEqual({ ...rejection("unknownUser"), message: CONTRADICTION });
  });

  test("are not looked up if there are more than a user can have", async () => {
    const findAccount = vi.fn(store.findAccount);
    authenticator = openAuthenticator({ findAccount });
    expect(await admit(["anna", "b", "c"])).toEqual({ ...rejection("unknownUser"), message: CONTRADICTION });
    expect(findAccount).not.toHaveBeenCalled();
  });

  test("count as a failed authentication", async () => {
    for (let number = 0; number < 50; number++) await admit(["anna", "bela"]);
    expect(await admit(["anna", "bela"])).toHaveProperty("kind", "tooManyRequests");
    expect(await admit("anna")).toHaveProperty("admitted", true);
  });
});

describe("the rate limit", () => {
  test("allows a burst, then reports when to retry", async () => {
    await addTestUser(store, "anna", { requestsPerSecond: 0.5, burst: 4 });
    const { count, rejection: actual } = await exhaustLimit("anna");
    expect(count).toBe(4);
    const limits = { limit: 4, remaining: 0, resetSeconds: 8 };
    expect(actual).toEqual({ ...rejection("tooManyRequests", 2, limits), waitMs: 2_000 });
    vi.advanceTimersByTime(2_000);
    expect((await exhaustLimit("anna")).count).toBe(1);
  });

  test("counts failed requests too", async () => {
    await addTestUser(store, "anna", { requestsPerSecond: 1, burst: 2 });
    (await admitCaller("anna")).finish("get_face_vec", "noFace");
    (await admitCaller("anna")).finish("get_face_vec", "noFace");
    expect(await admit("anna")).toHaveProperty("kind", "tooManyRequests");
  });
});

describe("the monthly quota", () => {
  test("counts only successes and reports what is left", async () => {
    await addTestUser(store, "anna", { requestsPerMonth: 3 });
    for (let number = 0; number < 5; number++) (await admitCaller("anna")).finish("get_face_vec", "noFace");
    const caller = await admitCaller("anna");
    expect(caller.limits).toEqual({ limit: 3, remaining: 2, resetSeconds: SECONDS_TO_APRIL });
    caller.finish("get_face_vec", "ok");
    const { count, rejection: actual } = await exhaustLimit("anna");
    expect(count).toBe(2);
    const limits = { limit: 3, remaining: 0, resetSeconds: SECONDS_TO_APRIL };
    expect(actual).toEqual(rejection("quotaSpent", undefined, limits));
  });

  test("is reserved by requests in flight and released by those that fail", async () => {
    await addTestUser(store, "anna", { requestsPerMonth: 2 });
    const [first, second] = [await admitCaller("anna"), await admitCaller("anna")];
    expect(await admit("anna")).toMatchObject({ kind: "tooManyInFlight", retryAfterSeconds: 1 });
    first.finish("get_face_vec", "overloaded");
    const third = await admitCaller("anna");
    expect(third.limits).toMatchObject({ remaining: 0 });
    for (const caller of [second, third]) caller.finish("get_face_vec", "ok");
    expect(await admit("anna")).toMatchObject({
      kind: "quotaSpent",
      retryAfterSeconds: undefined,
      limits: { resetSeconds: SECONDS_TO_APRIL },
    });
  });

  test("counts a request once even if it finishes twice", async () => {
    await addTestUser(store, "anna", { requestsPerMonth: 2 });
    const caller = await admitCaller("anna");
    caller.finish("get_face_vec", "ok");
    caller.finish("get_face_vec", "ok");
    expect((await exhaustLimit("anna")).count).toBe(1);
    await authenticator.close();
    expect(await storedCount(store)).toBe(2);
  });

  test("resets each month; a request counts in the month in which it started", async () => {
    await addTestUser(store, "anna", { requestsPerMonth: 2 });
    const late = await admitCaller("anna");
    vi.setSystemTime(new Date("2026-03-31T23:59:59.900Z"));
    expect((await admitCaller("anna")).limits).toMatchObject({ remaining: 0, resetSeconds: 1 });
    vi.setSystemTime(new Date("2026-04-01T00:00:00Z"));
    expect((await admitCaller("anna")).limits).toMatchObject({ remaining: 1, resetSeconds: 30 * 24 * 3600 });
    late.finish("get_face_vec", "ok");
    expect((await admitCaller("anna")).limits).toMatchObject({ remaining: 0 });
    await authenticator.close();
    expect(await store.listUsage()).toMatchObject([{ day: "2026-03-31", count: 1 }]);
  });

  test("is counted by day, and by the first key of a request", async () => {
    await addTestUser(store, "anna", {}, { certificateSubject: "anna.example" });
    const certificate = { subject: "anna.example" };
    for (const keys of [["anna"], []]) {
      const admission = await authenticator.admit({ keys, certificate, address: ADDRESS });
      if (admission.admitted) admission.caller.finish("get_face_vec", "ok");
      vi.setSystemTime(new Date("2026-04-01T00:00:00Z"));
    }
    await authenticator.close();
    expect(await store.listUsage()).toMatchObject([
      { day: "2026-03-31", key: fingerprintOf(hashKey("anna")), count: 1 },
      { day: "2026-04-01", key: "", count: 1 },
    ]);
  });

  test("is not granted again when the clock steps back over the end of the month", async () => {
    await addTestUser(store, "anna", { requestsPerMonth: 2 });
    expect((await exhaustLimit("anna")).count).toBe(2);
    vi.setSystemTime(new Date("2026-04-01T00:00:10Z"));
    expect((await exhaustLimit("anna")).count).toBe(2);
    vi.setSystemTime(new Date("2026-03-31T23:59:50Z"));
    const { count, rejection: actual } = await exhaustLimit("anna");
    expect(count).toBe(0);
    expect(actual.limits).toMatchObject({ resetSeconds: 30 * 24 * 3600 + 10 });
    // The quota stays spent after the account is read from the store again.
    vi.advanceTimersByTime(3_000);
    expect((await exhaustLimit("anna")).count).toBe(0);
    vi.setSystemTime(new Date("2026-04-02T00:00:00Z"));
    expect((await exhaustLimit("anna")).count).toBe(0);
    await authenticator.close();
    expect(await store.listUsage()).toMatchObject([
      { day: "2026-03-31", count: 2 },
      { day: "2026-04-01", count: 2 },
    ]);
    vi.setSystemTime(new Date("2026-05-01T00:00:00Z"));
    expect((await admitCaller("anna")).limits).toMatchObject({ remaining: 1 });
  });

  test("survives a restart", async () => {
    await addTestUser(store, "anna", { requestsPerMonth: 5 });
    for (let number = 0; number < 3; number++) (await admitCaller("anna")).finish("get_face_vec", "ok");
    await authenticator.close();
    expect((await exhaustLimit("anna", openAuthenticator())).count).toBe(2);
  });

  describe("with concurrent reads and writes of the store", () => {
    /** Creates a promise that stays pending until it is released. */
    function createHold() {
      let release = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      return { held, release };
    }

    test("is not exceeded when a count is read before a write and arrives after it", async () => {
      await addTestUser(store, "anna", { requestsPerMonth: 5 });
      let hold: ReturnType<typeof createHold> | undefined;
      authenticator = openAuthenticator({
        findAccount: async (...args) => {
          const account = await store.findAccount(...args);
          await hold?.held;
          return account;
        },
      });
      const callers = [await admitCaller("anna"), await admitCaller("anna"), await admitCaller("anna")];
      hold = createHold();
      vi.advanceTimersByTime(3_000);
      const reading = exhaustLimit("anna");
      for (const caller of callers) caller.finish("get_face_vec", "ok");
      vi.advanceTimersByTime(500);
      await vi.waitUntil(async () => (await storedCount(store)) === 3);
      hold.release();
      expect((await reading).count).toBe(2);
    });

    test("rejects nobody wrongly when a count is read after an unconfirmed write", async () => {
      await addTestUser(store, "anna", { requestsPerMonth: 5 });
      const hold = createHold();
      authenticator = openAuthenticator({
        addUsage: async (...batch) => {
          await store.addUsage(...batch);
          await hold.held;
        },
      });
      for (let number = 0; number < 3; number++) (await admitCaller("anna")).finish("get_face_vec", "ok");
      vi.advanceTimersByTime(3_000);
      await vi.waitUntil(async () => (await storedCount(store)) === 3);
      expect((await exhaustLimit("anna")).count).toBe(2);
      hold.release();
    });
  });

  test("is shared by gates on one store, up to what they serve until they read each other's counts", async () => {
    await addTestUser(store, "anna", { requestsPerMonth: 100 });
    const other = openAuthenticator();
    let served = 0;
    const serve = async (through: Authenticator, count: number) => {
      for (let number = 0; number < count; number++) {
        const admission = await admit("anna", through);
        if (!admission.admitted) return;
        admission.caller.finish("get_face_vec", "ok");
        served++;
      }
    };
    const exchangeCounts = async () => {
      vi.advanceTimersByTime(3_000);
      // An authenticator sends no batch while the previous one is being written.
      await vi.waitFor(async () => {
        vi.advanceTimersByTime(500);
        expect(await storedCount(store)).toBe(served);
      }, WAIT);
    };
    for (let round = 0; round < 4; round++) {
      await Promise.all([serve(authenticator, 10), serve(other, 10)]);
      await exchangeCounts();
    }
    expect(served).toBe(80);
    await Promise.all([serve(authenticator, 1_000), serve(other, 1_000)]);
    expect(served).toBe(120);
    await exchangeCounts();
    await Promise.all([serve(authenticator, 10), serve(other, 10)]);
    expect(served).toBe(120);
    await Promise.all([authenticator.close(), other.close()]);
    expect(await storedCount(store)).toBe(120);
  });
});

describe("failed authentication", () => {
  /** Sends unknown ids from an address until it is limited. Returns the number of attempts before that. */
  async function exhaustFailures(address: string): Promise<number> {
    for (let count = 0; count < 1_000; count++) {
      const { kind } = (await admit(`guess ${address} ${count}`, authenticator, address)) as { kind: string };
      if (kind !== "unknownUser") return count;
    }
    throw new Error("Never rejected");
  }

  test("is limited to 50 failures per address, then two per second", async () => {
    expect(await exhaustFailures(ADDRESS)).toBe(50);
    const tooMany = rejection("tooManyRequests", 1);
    expect(await admit([])).toEqual({ ...tooMany, ...FAILED_AUTH.noUserId });
    expect(await admit("another guess")).toEqual({ ...tooMany, ...FAILED_AUTH.unknownUser });
    vi.advanceTimersByTime(2_000);
    expect(await exhaustFailures(ADDRESS)).toBe(4);
  });

  test("counts requests without an id and of disabled users", async () => {
    await addTestUser(store, "anna", {}, { enabled: false });
    for (let number = 0; number < 25; number++) {
      expect(await admit([])).toHaveProperty("kind", "noUserId");
      expect(await admit("anna")).toHaveProperty("kind", "unknownUser");
    }
    expect(await admit([])).toHaveProperty("kind", "tooManyRequests");
    expect(await admit("anna")).toHaveProperty("kind", "tooManyRequests");
  });

  test("counts against the original address if the client disconnects meanwhile", async () => {
    for (let number = 0; number < 50; number++) {
      const request = { keys: [`guess ${number}`], address: ADDRESS };
      const admission = authenticator.admit(request);
      // A closed socket has no address.
      request.address = "";
      expect(await admission).toHaveProperty("kind", "unknownUser");
    }
    expect(await admit("another guess")).toHaveProperty("kind", "tooManyRequests");
  });

  test("does not query the store for a limited address", async () => {
    const findAccount = vi.fn(store.findAccount);
    authenticator = openAuthenticator({ findAccount });
    await exhaustFailures(ADDRESS);
    findAccount.mockClear();
    for (let number = 0; number < 50; number++) await admit(`more ${number}`);
    expect(findAccount).not.toHaveBeenCalled();
  });

  test("does not limit known users of the same address, nor other addresses", async () => {
    await addTestUser(store, "anna");
    await admitCaller("anna");
    await exhaustFailures(ADDRESS);
    vi.advanceTimersByTime(500);
    expect(await admit("anna")).toHaveProperty("admitted", true);
    expect(await admit("unknown", authenticator, "203.0.113.6")).toHaveProperty("kind", "unknownUser");
  });

  test("does not limit a known user whose account must be read again", async () => {
    await addTestUser(store, "anna");
    await admitCaller("anna");
    vi.advanceTimersByTime(3_000);
    await exhaustFailures(ADDRESS);
    expect(await admit("anna")).toHaveProperty("admitted", true);
  });

  test("is limited per IPv6 /64 network", async () => {
    expect(await exhaustFailures("2001:db8:1:2::1")).toBe(50);
    expect(await exhaustFailures("2001:db8:1:2:ffff:ffff:ffff:ffff")).toBe(0);
    expect(await exhaustFailures("2001:db8:1:3::1")).toBe(50);
  });

  test("does not count concurrent first requests of a valid user", async () => {
    await addTestUser(store, "anna");
    const admissions = await Promise.all(Array.from({ length: 100 }, () => admit("anna")));
    expect(admissions.every(({ admitted }) => admitted)).toBe(true);
  });
});
