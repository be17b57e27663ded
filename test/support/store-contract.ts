import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import {
  AccountError,
  type AccountStore,
  type UsageCount,
  type User,
} from "../../src/accounts/account-store.ts";
import { fingerprintOf, hashKey } from "../../src/accounts/key.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { DatabaseError, MissingDatabaseError } from "../../src/database/database-error.ts";
import type { DatabaseLocation } from "../../src/database/database-location.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { INITIAL_PLANS, initialLimits } from "../../src/plan-limits.ts";

export const MONTH = "2026-03";
export const DAY = `${MONTH}-31`;

/** How the contract reaches databases of one kind. */
export interface StoreKind {
  /** Returns the location of a new, empty database. */
  createLocation(): Promise<DatabaseLocation>;
  /** Runs SQL past the store and returns the rows. */
  executeAt(location: DatabaseLocation, sql: string): Promise<Record<string, unknown>[]>;
}

/** Opens a store that is closed after the test. */
export async function openAt(location: DatabaseLocation): Promise<AccountStore> {
  const store = await openAccountStore(location);
  onTestFinished(() => store.close());
  return store;
}

export function createUser(name: string, changes: Partial<User> = {}): User {
  const id = hashKey(`random id of ${name}`);
  return {
    id,
    fingerprint: fingerprintOf(id),
    name,
    plan: "basic",
    startsAt: new Date("2026-01-02T03:04:05.678Z"),
    endsAt: undefined,
    enabled: true,
    certificateSubject: undefined,
    ...changes,
  };
}

/** Adds a user whose key is `key-of-` and its name. */
export async function addUser(store: AccountStore, user: User): Promise<void> {
  await store.addUser(user, keyHashOf(user));
}

export function keyHashOf({ name }: User): string {
  return hashKey(`key-of-${name}`);
}

export function createUsage(
  { id: userId }: User,
  count: number,
  changes: Partial<UsageCount> = {},
): UsageCount {
  return { userId, day: DAY, key: "", operation: "match_faces", outcome: "ok", count, ...changes };
}

/** Runs code in a child process with the compiled `openAccountStore` and the given values in scope. */
export function spawnModule(code: string, values: Record<string, unknown>) {
  const module = JSON.stringify(join(PACKAGE_ROOT, "dist/src/accounts/open-account-store.js"));
  const names = Object.keys(values).join(", ");
  const text = `import { writeSync } from "node:fs";
    const { openAccountStore } = await import(${module});
    const { ${names} } = ${JSON.stringify(values)};
    ${code}`;
  const args = ["--input-type=module", "--eval", text];
  return spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
}

/** The behaviour that every account store shares, as tests. */
export function describeStoreContract(kind: string, { createLocation, executeAt }: StoreKind): void {
  describe(`the account store on ${kind}`, () => {
    let location: DatabaseLocation;
    let store: AccountStore;
    const ann = createUser("ann");
    const bob = createUser("bob", { plan: "pro", endsAt: new Date("2027-01-01T00:00:00Z"), enabled: false });

    beforeEach(async () => {
      location = await createLocation();
      store = await openAt(location);
    });

    test("starts with the initial plans", async () => {
      const plans = INITIAL_PLANS.toSorted().map((name) => ({ name, ...initialLimits(name) }));
      expect(await store.listPlans()).toEqual(plans);
      expect(plans.at(-1)).toEqual({ name: "unlimited", burst: 1 });
    });

    test("adds and changes plans persistently", async () => {
      const slow = {
        name: "slow",
        requestsPerSecond: 0.5,
        burst: 1,
        maxImageBytes: 1_000_000,
        maxGalleries: 7,
      };
      await store.addPlan(slow);
      const changes = { requestsPerSecond: undefined, burst: 3, requestsPerMonth: 2 ** 40 };
      await store.updatePlan("trial", changes);
      const plans = await (await openAt(location)).listPlans();
      expect(plans.map(({ name }) => name)).toEqual(["basic", "pro", "slow", "trial", "unlimited"]);
      expect(plans).toContainEqual(slow);
      expect(plans).toContainEqual({ name: "trial", ...initialLimits("trial"), ...changes });
    });

    test("removes a plan that has no users, and no other", async () => {
      await addUser(store, ann);
      const removing = store.removePlan("basic");
      await expect(removing).rejects.toThrow(AccountError);
      await expect(removing).rejects.toThrow('The plan "basic" still has 1 user');
      await expect(store.removePlan("none")).rejects.toThrow('The plan "none" does not exist');
      await store.updateUser(ann.id, { plan: "pro" });
      await store.removePlan("basic");
      const names = (await store.listPlans()).map(({ name }) => name);
      expect(names).toEqual(["pro", "trial", "unlimited"]);
      await expect(addUser(store, createUser("bob"))).rejects.toThrow('The plan "basic" does not exist');
    });

    test("never removes a plan while a user is added to it", async () => {
      const stores = await Promise.all([1, 2, 3, 4].map(() => openAt(location)));
      await addUser(store, ann);
      for (let round = 0; round < 20; round++) {
        const plan = { ...(await store.listPlans())[0]!, name: `plan-${round}` };
        await store.addPlan(plan);
        const changes = [
          addUser(stores[0]!, createUser(`user-${round}`, { plan: plan.name })),
          stores[1]!.removePlan(plan.name),
          stores[2]!.updateUser(ann.id, { plan: plan.name }),
          stores[3]!.removePlan(plan.name),
        ];
        const results = await Promise.allSettled(round % 2 ? changes : changes.toReversed());
        for (const result of results)
          if (result.status === "rejected") expect(result.reason).toBeInstanceOf(AccountError);
      }
      const plans = (await store.listPlans()).map(({ name }) => name);
      for (const user of await store.listUsers()) expect(plans).toContain(user.plan);
    });

    test("is not created if it must exist", async () => {
      const empty = await createLocation();
      for (let i = 0; i < 2; i++)
        await expect(openAccountStore(empty, { mustExist: true })).rejects.toThrow(MissingDatabaseError);
      await addUser(store, ann);
      const existing = await openAccountStore(location, { mustExist: true });
      expect(await existing.listUsers()).toEqual([ann]);
      await existing.close();
    });

    test("finds an account by id hash with its usage of a month", async () => {
      await addUser(store, bob);
      await addUser(store, ann);
      expect(await store.findAccount({ keyHash: keyHashOf(ann) }, MONTH)).toEqual({
        user: ann,
        plan: expect.objectContaining({ name: "basic", requestsPerSecond: 10, burst: 20 }),
        usedThisMonth: 0,
        keyExpiresAt: undefined,
        keyNames: ["first key"],
        rights: {},
      });
      await store.addUsage("1", [
        createUsage(ann, 3),
        createUsage(ann, 4, { operation: "get_face_vec" }),
        createUsage(ann, 100, { outcome: "NO_FACE" }),
        createUsage(ann, 100, { day: "2026-02-28" }),
        createUsage(bob, 100),
      ]);
      expect(await store.findAccount({ userId: ann.id }, MONTH)).toMatchObject({
        user: ann,
        usedThisMonth: 7,
      });
      expect(await store.findAccount({ userId: bob.id }, "2026-04")).toMatchObject({
        user: bob,
        usedThisMonth: 0,
      });
      expect(await store.findAccount({ keyHash: hashKey("unknown") }, MONTH)).toBeUndefined();
      expect(await store.findAccount({ keyHash: "key-of-ann" }, MONTH)).toBeUndefined();
    });

    test("lists users by name and finds them by hash, fingerprint or name", async () => {
      for (const user of [bob, ann]) await addUser(store, user);
      expect(await store.listUsers()).toEqual([ann, bob]);
      for (const text of [ann.id, ann.fingerprint, ann.name, keyHashOf(ann)])
        expect(await store.findUsers(text)).toEqual([ann]);
      for (const text of ["", "an", "key-of-ann", ann.id.slice(0, 9), ann.id.slice(0, 11), "%"])
        expect(await store.findUsers(text)).toEqual([]);
      const shadow = createUser("shadow", { name: ann.fingerprint });
      await addUser(store, shadow);
      expect(await store.findUsers(ann.fingerprint)).toEqual([ann, shadow]);
    });

    test("rejects a user whose name or subject is taken or whose plan does not exist", async () => {
      const known = { ...ann, certificateSubject: "ann.example" };
      await addUser(store, known);
      const wrong: [User, RegExp][] = [
        [createUser("other", { name: "ann" }), /user named "ann" already exists/],
        [
          { ...createUser("other"), certificateSubject: "ann.example" },
          /subject "ann.example" belongs to the user "ann"/,
        ],
        [createUser("other", { plan: "none" }), /plan "none" does not exist/],
      ];
      for (const [user, message] of wrong) {
        const adding = addUser(store, user);
        await expect(adding).rejects.toThrow(AccountError);
        await expect(adding).rejects.toThrow(message);
      }
      expect(await store.listUsers()).toEqual([known]);
    });

    test("accepts one of several users that are added concurrently with the same name", async () => {
      const others = await Promise.all([1, 2, 3, 4].map(() => openAt(location)));
      const results = await Promise.allSettled(
        others.map((other, i) => other.addUser(createUser(`${i}`, { name: "same" }), hashKey(`${i}`))),
      );
      const rejected = results.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
      expect(rejected).toHaveLength(3);
      for (const { reason } of rejected) expect(reason).toBeInstanceOf(AccountError);
    });

    test("updates only the given fields of a user", async () => {
      await addUser(store, ann);
      const endsAt = new Date("2026-12-31T23:59:59.999Z");
      const startsAt = new Date("2025-01-01T00:00:00Z");
      expect(await store.updateUser(ann.id, { endsAt })).toEqual({ ...ann, endsAt });
      expect(await store.updateUser(ann.id, { enabled: false })).toEqual({
        ...ann,
        endsAt,
        enabled: false,
      });
      expect(await store.updateUser(ann.id, { endsAt: undefined })).toEqual({ ...ann, enabled: false });
      const changed = { ...ann, startsAt, plan: "pro", enabled: true };
      expect(await store.updateUser(ann.id, { startsAt, plan: "pro", enabled: true })).toEqual(changed);
      expect(await store.updateUser(ann.id, {})).toEqual(changed);
      expect(await store.listUsers()).toEqual([changed]);
    });

    test("applies each of concurrent changes to what the one before has left", async () => {
      await addUser(store, { ...ann, endsAt: new Date("2026-01-01T00:00:00Z") });
      const stores = await Promise.all([1, 2, 3, 4].map(() => openAt(location)));
      await Promise.all(
        stores.map((other) =>
          other.updateUser(ann.id, ({ endsAt }) => ({ endsAt: new Date(endsAt!.getTime() + 1_000) })),
        ),
      );
      expect((await store.listUsers())[0]!.endsAt).toEqual(new Date("2026-01-01T00:00:04Z"));
    });

    test("keeps a user whose change throws", async () => {
      await addUser(store, ann);
      const fault = new Error("rejected");
      const reject = () => {
        throw fault;
      };
      await expect(store.updateUser(ann.id, reject)).rejects.toBe(fault);
      expect(await store.updateUser(ann.id, {})).toEqual(ann);
    });

    test("rejects an update of an unknown user or to an unknown plan", async () => {
      await addUser(store, ann);
      await expect(store.updateUser(ann.id, { plan: "none" })).rejects.toThrow(AccountError);
      await expect(store.updateUser(bob.id, { enabled: true })).rejects.toThrow(AccountError);
      expect(await store.listUsers()).toEqual([ann]);
    });

    test("removes a user and its usage, and nothing else", async () => {
      for (const user of [ann, bob]) await addUser(store, user);
      await store.addUsage("1", [createUsage(ann, 1), createUsage(bob, 2)]);
      await store.removeUser(ann.id);
      expect(await store.listUsers()).toEqual([bob]);
      expect(await store.listUsage()).toEqual([createUsage(bob, 2)]);
      await store.removeUser(ann.id);
      // A user that is added again starts without usage.
      await addUser(store, ann);
      expect(await store.findAccount({ userId: ann.id }, MONTH)).toMatchObject({ usedThisMonth: 0 });
    });

    test("removes a user while its usage is written", async () => {
      await addUser(store, ann);
      const other = await openAt(location);
      const counts = Array.from({ length: 1_001 }, (_, i) => createUsage(ann, 1, { outcome: `o${i}` }));
      await store.addUsage("0", counts);
      const writes = Array.from({ length: 10 }, (_, i) => store.addUsage(`${i + 1}`, counts));
      await Promise.all([other.removeUser(ann.id), ...writes]);
      expect(await store.listUsage()).toEqual([]);
    });

    test("sums usage and lists it by user and day", async () => {
      for (const user of [ann, bob]) await addUser(store, user);
      const failed = { outcome: "NO_FACE" };
      const april = { day: "2026-04-01" };
      await store.addUsage("1", [createUsage(ann, 1), createUsage(ann, 2, failed), createUsage(bob, 3)]);
      await store.addUsage("2", [createUsage(ann, 10), createUsage(ann, 20, april), createUsage(ann, 5)]);
      await store.addUsage("3", []);
      const ofAnn = [createUsage(ann, 2, failed), createUsage(ann, 16), createUsage(ann, 20, april)];
      expect(await store.listUsage({ userId: ann.id })).toEqual(ofAnn);
      expect(await store.listUsage()).toHaveLength(4);
    });

    test("adds a batch once, even if it is sent twice concurrently", async () => {
      await addUser(store, ann);
      const other = await openAt(location);
      await store.addUsage("1", [createUsage(ann, 1)]);
      await other.addUsage("1", [createUsage(ann, 1)]);
      await Promise.all(
        [1, 2, 3, 4].flatMap(() => [store, other].map((s) => s.addUsage("2", [createUsage(ann, 10)]))),
      );
      expect(await store.listUsage()).toEqual([createUsage(ann, 11)]);
    });

    test("deletes batch ids after a day", async () => {
      await addUser(store, ann);
      const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
      for (const id of ["1", "2", "3"]) await store.addUsage(id, [createUsage(ann, 1)]);
      await executeAt(location, `update usage_batches set added_at = '${hoursAgo(25)}' where id = '1'`);
      await executeAt(location, `update usage_batches set added_at = '${hoursAgo(23)}' where id = '2'`);
      await store.addUsage("4", [createUsage(ann, 1)]);
      const ids = await executeAt(location, "select id from usage_batches order by id");
      expect(ids.map(({ id }) => id)).toEqual(["2", "3", "4"]);
    });

    test("drops the usage of removed users and keeps the rest of the batch", async () => {
      await addUser(store, ann);
      await store.addUsage("1", [createUsage(bob, 1), createUsage(ann, 2)]);
      expect(await store.listUsage()).toEqual([createUsage(ann, 2)]);
    });

    test("adds a batch atomically", async () => {
      await addUser(store, ann);
      const bad = {
        ...createUsage(ann, 1),
        count: "many" as unknown as number,
        day: null as unknown as string,
      };
      await expect(store.addUsage("1", [createUsage(ann, 1), bad])).rejects.not.toThrow(AccountError);
      expect(await store.listUsage()).toEqual([]);
      await store.addUsage("1", [createUsage(ann, 1)]);
      expect(await store.listUsage()).toEqual([createUsage(ann, 1)]);
    });

    test("accepts a batch of ten thousand counts", async () => {
      await addUser(store, ann);
      const counts = Array.from({ length: 10_000 }, (_, i) => createUsage(ann, i, { outcome: `o${i}` }));
      await store.addUsage("1", counts);
      const listed = await store.listUsage();
      expect(listed).toHaveLength(10_000);
      expect(listed).toContainEqual(createUsage(ann, 9_999, { outcome: "o9999" }));
    });

    test("loses no count of concurrent batches", async () => {
      for (const user of [ann, bob]) await addUser(store, user);
      const other = await openAt(location);
      const counts = [
        createUsage(ann, 1),
        createUsage(bob, 2),
        createUsage(ann, 3, { operation: "get_face_vec" }),
      ];
      await Promise.all(
        Array.from({ length: 50 }, async (_, i) => {
          // Different orders would deadlock a database that locks rows in the order of the batch.
          await store.addUsage(`a${i}`, i % 2 ? counts : counts.toReversed());
          await other.addUsage(`b${i}`, i % 2 ? counts.toReversed() : counts);
        }),
      );
      expect(await store.findAccount({ userId: ann.id }, MONTH)).toMatchObject({ usedThisMonth: 400 });
      expect(await store.findAccount({ userId: bob.id }, MONTH)).toMatchObject({ usedThisMonth: 200 });
    });

    test("can be created and filled by several processes concurrently", async () => {
      const fresh = await createLocation();
      const code = `writeSync(1, "ready ");
        await new Promise((resolve) => process.stdin.once("data", resolve));
        process.stdin.destroy();
        const store = await openAccountStore(location);
        for (const user of users) await store.addUser({ ...user, startsAt: new Date() }, user.id);
        await store.close();
        writeSync(1, "done");`;
      const children = Array.from({ length: 5 }, (_, process) => {
        const users = Array.from({ length: 30 }, (_, i) => createUser(`${process}-${i}`));
        return spawnModule(code, { location: fresh, users });
      });
      await Promise.all(children.map(({ stdout }) => once(stdout, "data")));
      for (const { stdin } of children) stdin.write("start");
      const outputs = await Promise.all(children.map(({ stdout }) => stdout.toArray()));
      expect(outputs.map((chunks) => chunks.join(""))).toEqual(Array(5).fill("done"));
      const filled = await openAt(fresh);
      expect(await filled.listPlans()).toHaveLength(4);
      expect(await filled.listUsers()).toHaveLength(150);
    });

    test("keeps acknowledged changes when its process is killed", async () => {
      await addUser(store, ann);
      let acknowledged = 0;
      for (const round of [1, 2, 3]) {
        const code = `const store = await openAccountStore(location);
          for (let i = 0; ; i++) {
            await store.addUsage(round + "-" + i, [usage]);
            writeSync(1, ".");
          }`;
        const child = spawnModule(code, { location, usage: createUsage(ann, 1), round });
        child.stdout.on("data", (chunk: Buffer) => {
          acknowledged += chunk.length;
          if (acknowledged >= 10 * round) child.kill("SIGKILL");
        });
        await once(child, "close");
        const { usedThisMonth } = (await store.findAccount({ userId: ann.id }, MONTH))!;
        expect(usedThisMonth).toBeGreaterThanOrEqual(acknowledged);
        expect(usedThisMonth).toBeLessThanOrEqual(acknowledged + round);
      }
    });

    test("rejects a database with a newer schema", async () => {
      await executeAt(location, "update schema_version set version = 99");
      const opening = openAccountStore(location);
      await expect(opening).rejects.toThrow(DatabaseError);
      await expect(opening).rejects.toThrow(
        /has schema version 99, but this version of Visage supports up to \d+/,
      );
    });

    test("changes nothing if a migration fails", async () => {
      const fresh = await createLocation();
      if (fresh.databaseUrl === undefined) await mkdir(fresh.dataDir, { recursive: true });
      // The migration creates a table of this name in its last statement.
      await executeAt(fresh, "create table gallery_removals (revision bigint)");
      await expect(openAccountStore(fresh)).rejects.toThrow(/gallery_removals/);
      for (const table of ["users", "schema_version"])
        await expect(executeAt(fresh, `select * from ${table}`)).rejects.toThrow(table);
      await executeAt(fresh, "drop table gallery_removals");
      expect(await (await openAt(fresh)).listUsers()).toEqual([]);
    });
  });
}
