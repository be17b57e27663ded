import { beforeEach, describe, expect, test } from "vitest";
import { AccountError, type AccountStore, type UsageSelection } from "../../src/accounts/account-store.ts";
import { fingerprintOf, hashKey } from "../../src/accounts/key.ts";
import { createPlan } from "../../src/accounts/plan.ts";
import { newKey } from "./accounts.ts";
import {
  addUser,
  createUsage,
  createUser,
  DAY,
  keyHashOf,
  MONTH,
  openAt,
  type StoreKind,
} from "./store-contract.ts";

/** The behaviour of administration that every account store shares, as tests. */
export function describeAdministrationContract(kind: string, { createLocation }: StoreKind): void {
  describe(`administration on ${kind}`, () => {
    let store: AccountStore;
    const ann = createUser("Ann 100%");
    const bob = createUser("bob_", { plan: "pro" });
    const cyd = createUser("cyd!");

    beforeEach(async () => {
      store = await openAt(await createLocation());
      for (const user of [bob, cyd, ann]) await addUser(store, user);
    });

    const search = (query: string, after = "", size = 10) =>
      store.searchUsers({ query, after, size, month: MONTH });

    test("finds users by a part of the name, by fingerprint and by plan", async () => {
      const found: readonly (readonly [string, readonly string[]])[] = [
        ["", ["Ann 100%", "bob_", "cyd!"]],
        ["NN 1", ["Ann 100%"]],
        ["%", ["Ann 100%"]],
        ["_", ["bob_"]],
        ["!", ["cyd!"]],
        ["PRO", ["bob_"]],
        [cyd.fingerprint, ["cyd!"]],
        ["nobody", []],
      ];
      for (const [query, names] of found) {
        const { users, total } = await search(query);
        expect(users.map(({ user }) => user.name).toSorted()).toEqual(names);
        expect(total).toBe(names.length);
      }
    });

    test("lists pages of users with their usage of the month", async () => {
      await store.addUsage("1", [createUsage(ann, 3), createUsage(ann, 5, { outcome: "NO_FACE" })]);
      await store.addUsage("2", [createUsage(ann, 7, { day: "2026-02-28" })]);
      const first = await search("", "", 2);
      expect(first.total).toBe(3);
      const rest = await search("", first.users[1]!.user.name, 2);
      const all = [...first.users, ...rest.users];
      expect(all.map(({ user }) => user)).toEqual(await store.listUsers());
      expect(all.find(({ user }) => user.name === ann.name)).toEqual({ user: ann, usedThisMonth: 3 });
      expect(all.find(({ user }) => user.name === bob.name)!.usedThisMonth).toBe(0);
    });

    test("sums usage over months, of one user or all", async () => {
      await store.addUsage("1", [
        createUsage(ann, 1, { day: "2026-02-28" }),
        createUsage(ann, 2),
        createUsage(ann, 9, { outcome: "NO_FACE" }),
        createUsage(bob, 4),
      ]);
      const march = { firstMonth: MONTH, lastMonth: MONTH };
      const sums = await store.sumUsage(march);
      expect(sums).toMatchObject([
        { month: MONTH, outcome: "NO_FACE", count: 9 },
        { month: MONTH, outcome: "ok", count: 6 },
      ]);
      expect(sums[0]!.operation).toBe(sums[1]!.operation);
      const ofAnn = await store.sumUsage({ userId: ann.id, firstMonth: "2026-01", lastMonth: MONTH });
      expect(ofAnn.map(({ month, count }) => [month, count])).toEqual([
        ["2026-02", 1],
        [MONTH, 9],
        [MONTH, 2],
      ]);
    });

    test("sums usage by day and key, after the key is deleted too", async () => {
      const key = fingerprintOf(keyHashOf(ann));
      const first = { day: `${MONTH}-01` };
      await store.addUsage("1", [
        createUsage(ann, 1, { day: "2026-02-28", key }),
        createUsage(ann, 2, { ...first, key }),
        createUsage(ann, 4, { key }),
        createUsage(ann, 8),
        createUsage(ann, 16, { key, outcome: "NO_FACE" }),
        createUsage(bob, 32, { ...first, key }),
        createUsage(bob, 64, { day: "2026-04-01" }),
      ]);
      await store.removeKey(keyHashOf(ann));
      const march = { firstMonth: MONTH, lastMonth: MONTH };
      const sum = async (selection: Partial<UsageSelection>) =>
        (await store.sumUsage({ ...march, ...selection })).map((one) => [one.day, one.key, one.count]);
      expect(await sum({ byDay: true })).toEqual([
        [first.day, undefined, 34],
        [DAY, undefined, 16],
        [DAY, undefined, 12],
      ]);
      expect(await sum({ userId: ann.id, byKey: true })).toEqual([
        [undefined, "", 8],
        [undefined, key, 16],
        [undefined, key, 6],
      ]);
      expect(await sum({ userId: ann.id, byDay: true, byKey: true })).toEqual([
        [first.day, key, 2],
        [DAY, "", 8],
        [DAY, key, 16],
        [DAY, key, 4],
      ]);
      expect(await store.findAccount({ userId: ann.id }, MONTH)).toMatchObject({ usedThisMonth: 14 });
    });

    test("adds a plan once, and changes single limits of it", async () => {
      const gold = createPlan("gold", { requestsPerSecond: 3, requestsPerMonth: 100 });
      expect(gold.burst).toBe(6);
      const adding = await Promise.allSettled([store.addPlan(gold), store.addPlan(gold)]);
      expect(adding.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
      const changed = await store.updatePlan("gold", { requestsPerSecond: undefined, maxGalleries: 5 });
      expect(changed).toEqual({ ...gold, requestsPerSecond: undefined, maxGalleries: 5 });
      expect((await store.listPlans()).find(({ name }) => name === "gold")).toEqual(changed);
      await expect(store.updatePlan("none", {})).rejects.toMatchObject({ kind: "planNotFound" });
      expect(await store.countUsersByPlan()).toEqual(
        new Map([
          ["basic", 2],
          ["pro", 1],
        ]),
      );
    });

    test("lets one of two keys win that delete each other", async () => {
      const [first, second] = [keyHashOf(ann), hashKey("second")];
      await store.addKey(ann.id, newKey(second));
      const deleting = await Promise.allSettled([
        store.removeKey(first, [second]),
        store.removeKey(second, [first]),
      ]);
      expect(deleting.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
      const [rejected] = deleting.filter((result) => result.status === "rejected");
      expect(rejected!.reason).toBeInstanceOf(AccountError);
      expect(await store.listKeys(ann.id)).toHaveLength(1);
    });
  });
}
