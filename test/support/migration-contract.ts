import { mkdir } from "node:fs/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { fingerprintOf, hashKey } from "../../src/accounts/key.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import type { DatabaseLocation } from "../../src/database/database-location.ts";
import { addUsageIn01, readAccountIn01, STATEMENTS_0_1 } from "./schema-0.1.ts";
import { MONTH, openAt, type StoreKind } from "./store-contract.ts";

/** The migration of a database of version 0.1, as tests for every account store. */
export function describeMigrationContract(kind: string, { createLocation, executeAt }: StoreKind): void {
  describe(`a database of version 0.1 on ${kind}`, () => {
    let location: DatabaseLocation;
    const [ANN, BOB] = [hashKey("id-of-ann"), hashKey("id-of-bob")];

    beforeEach(async () => {
      location = await createLocation();
      if (location.databaseUrl === undefined) await mkdir(location.dataDir, { recursive: true });
      for (const sql of STATEMENTS_0_1) await executeAt(location, sql);
    });

    test("keeps users, subscriptions, usage and fingerprints, and turns ids into keys", async () => {
      const store = await openAt(location);
      const startsAt = new Date("2026-01-02T03:04:05.678Z");
      const ann = {
        id: ANN,
        fingerprint: fingerprintOf(ANN),
        name: "ann",
        plan: "basic",
        startsAt,
        endsAt: undefined,
        enabled: true,
        certificateSubject: undefined,
      };
      const bob = { ...ann, id: BOB, fingerprint: fingerprintOf(BOB), name: "bob", plan: "pro" };
      const endsAt = new Date("2027-01-01T00:00:00Z");
      expect(await store.listUsers()).toEqual([ann, { ...bob, endsAt, enabled: false }]);
      expect(await store.findAccount({ keyHash: ANN }, MONTH)).toMatchObject({
        user: ann,
        usedThisMonth: 42,
        plan: { requestsPerMonth: 50_000 },
      });
      expect(await store.listUsage({ userId: ANN })).toHaveLength(3);
      expect(await store.listKeys(ANN)).toEqual([
        {
          hash: ANN,
          fingerprint: fingerprintOf(ANN),
          createdAt: startsAt,
          expiresAt: undefined,
          lastUsedAt: undefined,
        },
      ]);
    });

    test("lets a migrated user replace its key and keep its usage", async () => {
      const store = await openAt(location);
      await store.rotateKey(ANN, hashKey("new"), new Date());
      expect(await store.findAccount({ keyHash: ANN }, MONTH)).toBeUndefined();
      expect(await store.findAccount({ keyHash: hashKey("new") }, MONTH)).toMatchObject({
        usedThisMonth: 42,
      });
      // The account of a user does not depend on the key that gave it its id.
      expect(await store.findAccount({ userId: ANN }, MONTH)).toMatchObject({ user: { name: "ann" } });
    });

    test("is migrated once by several replicas that start together", async () => {
      const stores = await Promise.all([1, 2, 3, 4].map(() => openAt(location)));
      for (const store of stores) expect(await store.listKeys(ANN)).toHaveLength(1);
      expect(await executeAt(location, "select version from schema_version")).toEqual([{ version: 5 }]);
    });

    test("serves replicas of version 0.1 that are still running", async () => {
      const store = await openAt(location);
      const [row] = await executeAt(location, readAccountIn01(ANN));
      expect(row).toMatchObject({ name: "ann", plan: "basic", id_hash: ANN });
      expect(Number(row!.used)).toBe(42);
      await executeAt(location, addUsageIn01(ANN));
      expect(await store.findAccount({ keyHash: ANN }, MONTH)).toMatchObject({ usedThisMonth: 45 });
    });

    test("is unchanged if the migration fails", async () => {
      // The migration creates an index of this name in its last statement.
      await executeAt(location, "create index users_by_certificate_subject on usage (month)");
      await expect(openAccountStore(location)).rejects.toThrow(/users_by_certificate_subject/);
      expect(await executeAt(location, "select version from schema_version")).toEqual([{ version: 1 }]);
      expect(Object.keys((await executeAt(location, "select * from users"))[0]!)).toHaveLength(6);
      await executeAt(location, "drop index users_by_certificate_subject");
      const store = await openAt(location);
      expect(await store.findAccount({ keyHash: ANN }, MONTH)).toMatchObject({ usedThisMonth: 42 });
    });
  });
}
