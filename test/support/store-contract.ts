import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import {
  AccountError,
  type AccountStore,
  type UsageCount,
  type User,
} from "../../src/accounts/account-store.ts";
import { openStore, type StorePlace } from "../../src/accounts/open-store.ts";
import { fingerprintOf, hashOf } from "../../src/accounts/user-id.ts";
import { PACKAGE_ROOT } from "../../src/model-manifest.ts";

export const MONTH = "2026-03";

/** How the contract reaches databases of one kind. */
export interface StoreKind {
  /** Returns the place of a new, empty database. */
  createPlace(): Promise<StorePlace>;
  /** Runs SQL past the store and returns the rows. */
  executeAt(place: StorePlace, sql: string): Promise<Record<string, unknown>[]>;
}

/** Opens a store that is closed after the test. */
export async function openAt(place: StorePlace): Promise<AccountStore> {
  const store = await openStore(place);
  onTestFinished(() => store.close());
  return store;
}

export function userOf(name: string, changes: Partial<User> = {}): User {
  const idHash = hashOf(`id-of-${name}`);
  return {
    idHash,
    fingerprint: fingerprintOf(idHash),
    name,
    plan: "basic",
    startsAt: new Date("2026-01-02T03:04:05.678Z"),
    endsAt: undefined,
    enabled: true,
    ...changes,
  };
}

export function usageOf({ idHash }: User, count: number, changes: Partial<UsageCount> = {}): UsageCount {
  return { idHash, month: MONTH, operation: "match_faces", outcome: "ok", count, ...changes };
}

/** Runs a module with the compiled `openStore` and the given values at hand, in a process of its own. */
export function spawnModule(code: string, values: Record<string, unknown>) {
  const module = JSON.stringify(join(PACKAGE_ROOT, "dist/src/accounts/open-store.js"));
  const names = Object.keys(values).join(", ");
  const text = `import { writeSync } from "node:fs";
    const { openStore } = await import(${module});
    const { ${names} } = ${JSON.stringify(values)};
    ${code}`;
  const args = ["--input-type=module", "--eval", text];
  return spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
}

/** The behaviour that every account store shares, as tests. */
export function describeStoreContract(kind: string, { createPlace, executeAt }: StoreKind): void {
  describe(`the account store on ${kind}`, () => {
    let place: StorePlace;
    let store: AccountStore;
    const ann = userOf("ann");
    const bob = userOf("bob", { plan: "pro", endsAt: new Date("2027-01-01T00:00:00Z"), enabled: false });

    beforeEach(async () => {
      place = await createPlace();
      store = await openAt(place);
    });

    test("has four plans at first", async () => {
      const rest = { maxImageBytes: undefined };
      expect(await store.listPlans()).toEqual([
        { name: "basic", requestsPerSecond: 10, burst: 20, requestsPerMonth: 50_000, ...rest },
        { name: "pro", requestsPerSecond: 50, burst: 100, requestsPerMonth: 1_000_000, ...rest },
        { name: "trial", requestsPerSecond: 2, burst: 10, requestsPerMonth: 1_000, ...rest },
        {
          name: "unlimited",
          requestsPerSecond: undefined,
          burst: 1,
          requestsPerMonth: undefined,
          ...rest,
        },
      ]);
    });

    test("adds and changes plans, and keeps the changes when it is opened again", async () => {
      const slow = {
        name: "slow",
        requestsPerSecond: 0.5,
        burst: 1,
        requestsPerMonth: undefined,
        maxImageBytes: 1_000_000,
      };
      const trial = {
        name: "trial",
        requestsPerSecond: undefined,
        burst: 3,
        requestsPerMonth: 2 ** 40,
        maxImageBytes: undefined,
      };
      await store.setPlan(slow);
      await store.setPlan(trial);
      const again = await openAt(place);
      const plans = await again.listPlans();
      expect(plans.map(({ name }) => name)).toEqual(["basic", "pro", "slow", "trial", "unlimited"]);
      expect(plans).toContainEqual(slow);
      expect(plans).toContainEqual(trial);
    });

    test("finds an account by its id with what it used in a month", async () => {
      await store.addUser(bob);
      await store.addUser(ann);
      expect(await store.findAccount(hashOf("id-of-ann"), MONTH)).toEqual({
        user: ann,
        plan: expect.objectContaining({ name: "basic", requestsPerSecond: 10, burst: 20 }),
        usedThisMonth: 0,
      });
      await store.addUsage("1", [
        usageOf(ann, 3),
        usageOf(ann, 4, { operation: "get_face_vec" }),
        usageOf(ann, 100, { outcome: "NO_FACE" }),
        usageOf(ann, 100, { month: "2026-02" }),
        usageOf(bob, 100),
      ]);
      expect(await store.findAccount(ann.idHash, MONTH)).toMatchObject({ user: ann, usedThisMonth: 7 });
      expect(await store.findAccount(bob.idHash, "2026-04")).toMatchObject({ user: bob, usedThisMonth: 0 });
      expect(await store.findAccount(hashOf("stranger"), MONTH)).toBeUndefined();
      expect(await store.findAccount("id-of-ann", MONTH)).toBeUndefined();
    });

    test("lists users by name, and finds them by hash, fingerprint or name", async () => {
      for (const user of [bob, ann]) await store.addUser(user);
      expect(await store.listUsers()).toEqual([ann, bob]);
      for (const text of [ann.idHash, ann.fingerprint, ann.name])
        expect(await store.findUsers(text)).toEqual([ann]);
      for (const text of ["", "an", "id-of-ann", ann.idHash.slice(0, 9), ann.idHash.slice(0, 11), "%"])
        expect(await store.findUsers(text)).toEqual([]);
      const shadow = userOf("shadow", { name: ann.fingerprint });
      await store.addUser(shadow);
      expect(await store.findUsers(ann.fingerprint)).toEqual([shadow, ann]);
    });

    test("refuses a user whose name, id or plan will not do", async () => {
      await store.addUser(ann);
      const wrong: [User, RegExp][] = [
        [userOf("other", { name: "ann" }), /user named "ann"/],
        [{ ...ann, name: "other" }, /id is taken/],
        [userOf("other", { plan: "none" }), /no plan named "none"/],
      ];
      for (const [user, message] of wrong) {
        const adding = store.addUser(user);
        await expect(adding).rejects.toThrow(AccountError);
        await expect(adding).rejects.toThrow(message);
      }
      expect(await store.listUsers()).toEqual([ann]);
    });

    test("lets one of several win who add the same name at the same time", async () => {
      const others = await Promise.all([1, 2, 3, 4].map(() => openAt(place)));
      const results = await Promise.allSettled(
        others.map((other, i) => other.addUser(userOf(`${i}`, { name: "same" }))),
      );
      const refused = results.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
      expect(refused).toHaveLength(3);
      for (const { reason } of refused) expect(reason).toBeInstanceOf(AccountError);
    });

    test("changes what is given of a user and leaves the rest", async () => {
      await store.addUser(ann);
      const endsAt = new Date("2026-12-31T23:59:59.999Z");
      const startsAt = new Date("2025-01-01T00:00:00Z");
      expect(await store.changeUser(ann.idHash, { endsAt })).toEqual({ ...ann, endsAt });
      expect(await store.changeUser(ann.idHash, { enabled: false })).toEqual({
        ...ann,
        endsAt,
        enabled: false,
      });
      expect(await store.changeUser(ann.idHash, { endsAt: undefined })).toEqual({ ...ann, enabled: false });
      const changed = { ...ann, startsAt, plan: "pro", enabled: true };
      expect(await store.changeUser(ann.idHash, { startsAt, plan: "pro", enabled: true })).toEqual(changed);
      expect(await store.changeUser(ann.idHash, {})).toEqual(changed);
      expect(await store.listUsers()).toEqual([changed]);
    });

    test("refuses to change a user, or to a plan, that does not exist", async () => {
      await store.addUser(ann);
      await expect(store.changeUser(ann.idHash, { plan: "none" })).rejects.toThrow(AccountError);
      await expect(store.changeUser(bob.idHash, { enabled: true })).rejects.toThrow(AccountError);
      expect(await store.listUsers()).toEqual([ann]);
    });

    test("removes a user with its usage, and nothing of others", async () => {
      for (const user of [ann, bob]) await store.addUser(user);
      await store.addUsage("1", [usageOf(ann, 1), usageOf(bob, 2)]);
      await store.removeUser(ann.idHash);
      expect(await store.listUsers()).toEqual([bob]);
      expect(await store.listUsage()).toEqual([usageOf(bob, 2)]);
      await store.removeUser(ann.idHash);
      // One who comes back starts afresh.
      await store.addUser(ann);
      expect(await store.findAccount(ann.idHash, MONTH)).toMatchObject({ usedThisMonth: 0 });
    });

    test("adds up usage and lists it by user and month", async () => {
      for (const user of [ann, bob]) await store.addUser(user);
      const failed = { outcome: "NO_FACE" };
      const april = { month: "2026-04" };
      await store.addUsage("1", [usageOf(ann, 1), usageOf(ann, 2, failed), usageOf(bob, 3)]);
      await store.addUsage("2", [usageOf(ann, 10), usageOf(ann, 20, april), usageOf(ann, 5)]);
      await store.addUsage("3", []);
      const ofAnn = [usageOf(ann, 2, failed), usageOf(ann, 16), usageOf(ann, 20, april)];
      expect(await store.listUsage({ idHash: ann.idHash })).toEqual(ofAnn);
      expect(await store.listUsage({ month: "2026-04" })).toEqual([usageOf(ann, 20, april)]);
      expect(await store.listUsage({ idHash: bob.idHash, month: MONTH })).toEqual([usageOf(bob, 3)]);
      expect(await store.listUsage({ idHash: bob.idHash, month: "2026-04" })).toEqual([]);
      expect(await store.listUsage()).toHaveLength(4);
    });

    test("adds a batch once, also when it comes twice at the same time", async () => {
      await store.addUser(ann);
      const other = await openAt(place);
      await store.addUsage("1", [usageOf(ann, 1)]);
      await other.addUsage("1", [usageOf(ann, 1)]);
      await Promise.all(
        [1, 2, 3, 4].flatMap(() => [store, other].map((s) => s.addUsage("2", [usageOf(ann, 10)]))),
      );
      expect(await store.listUsage()).toEqual([usageOf(ann, 11)]);
    });

    test("forgets the ids of batches after a day", async () => {
      await store.addUser(ann);
      const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
      for (const id of ["1", "2", "3"]) await store.addUsage(id, [usageOf(ann, 1)]);
      await executeAt(place, `update usage_batches set added_at = '${hoursAgo(25)}' where id = '1'`);
      await executeAt(place, `update usage_batches set added_at = '${hoursAgo(23)}' where id = '2'`);
      await store.addUsage("4", [usageOf(ann, 1)]);
      const ids = await executeAt(place, "select id from usage_batches order by id");
      expect(ids.map(({ id }) => id)).toEqual(["2", "3", "4"]);
    });

    test("passes over usage of users who are gone, and keeps the rest of the batch", async () => {
      await store.addUser(ann);
      await store.addUsage("1", [usageOf(bob, 1), usageOf(ann, 2)]);
      expect(await store.listUsage()).toEqual([usageOf(ann, 2)]);
    });

    test("takes a batch of all or none", async () => {
      await store.addUser(ann);
      const bad = {
        ...usageOf(ann, 1),
        count: "many" as unknown as number,
        month: null as unknown as string,
      };
      await expect(store.addUsage("1", [usageOf(ann, 1), bad])).rejects.not.toThrow(AccountError);
      expect(await store.listUsage()).toEqual([]);
      await store.addUsage("1", [usageOf(ann, 1)]);
      expect(await store.listUsage()).toEqual([usageOf(ann, 1)]);
    });

    test("takes a batch of ten thousand counts", async () => {
      await store.addUser(ann);
      const counts = Array.from({ length: 10_000 }, (_, i) => usageOf(ann, i, { outcome: `o${i}` }));
      await store.addUsage("1", counts);
      const listed = await store.listUsage();
      expect(listed).toHaveLength(10_000);
      expect(listed).toContainEqual(usageOf(ann, 9_999, { outcome: "o9999" }));
    });

    test("loses nothing of what many add side by side", async () => {
      for (const user of [ann, bob]) await store.addUser(user);
      const other = await openAt(place);
      const counts = [usageOf(ann, 1), usageOf(bob, 2), usageOf(ann, 3, { operation: "get_face_vec" })];
      await Promise.all(
        Array.from({ length: 50 }, async (_, i) => {
          // Each in an order of its own: databases that lock rows as they come would wait in a circle.
          await store.addUsage(`a${i}`, i % 2 ? counts : counts.toReversed());
          await other.addUsage(`b${i}`, i % 2 ? counts.toReversed() : counts);
        }),
      );
      expect(await store.findAccount(ann.idHash, MONTH)).toMatchObject({ usedThisMonth: 400 });
      expect(await store.findAccount(bob.idHash, MONTH)).toMatchObject({ usedThisMonth: 200 });
    });

    test("can be opened and filled by several processes at once on an empty database", async () => {
      const fresh = await createPlace();
      const code = `while (Date.now() < at);
        const store = await openStore(place);
        for (const user of users) await store.addUser({ ...user, startsAt: new Date() });
        await store.close();
        writeSync(1, "done");`;
      const at = Date.now() + 500;
      const outputs = await Promise.all(
        Array.from({ length: 5 }, (_, process) => {
          const users = Array.from({ length: 30 }, (_, i) => userOf(`${process}-${i}`));
          return spawnModule(code, { place: fresh, at, users }).stdout.toArray();
        }),
      );
      expect(outputs.map((chunks) => chunks.join(""))).toEqual(Array(5).fill("done"));
      const filled = await openAt(fresh);
      expect(await filled.listPlans()).toHaveLength(4);
      expect(await filled.listUsers()).toHaveLength(150);
    });

    test("keeps what it has acknowledged when its process is killed", async () => {
      await store.addUser(ann);
      let acknowledged = 0;
      for (const round of [1, 2, 3]) {
        const code = `const store = await openStore(place);
          for (let i = 0; ; i++) {
            await store.addUsage(round + "-" + i, [usage]);
            writeSync(1, ".");
          }`;
        const child = spawnModule(code, { place, usage: usageOf(ann, 1), round });
        child.stdout.on("data", (chunk: Buffer) => {
          acknowledged += chunk.length;
        });
        await once(child.stdout, "data");
        await sleep(300);
        child.kill("SIGKILL");
        await once(child, "close");
        const { usedThisMonth } = (await store.findAccount(ann.idHash, MONTH))!;
        expect(usedThisMonth).toBeGreaterThanOrEqual(acknowledged);
        expect(usedThisMonth).toBeLessThanOrEqual(acknowledged + round);
      }
      expect(acknowledged).toBeGreaterThan(20);
    });

    test("refuses a database of a newer version", async () => {
      await executeAt(place, "update schema_version set version = 99");
      const opening = openStore(place);
      await expect(opening).rejects.toThrow(AccountError);
      await expect(opening).rejects.toThrow("kept in version 99 and this programme knows versions up to 1");
    });
  });
}
