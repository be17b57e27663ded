import { beforeEach, describe, expect, test } from "vitest";
import {
  AccountError,
  type AccountStore,
  type KeyAddition,
  MAX_LIVE_KEYS,
} from "../../src/accounts/account-store.ts";
import { fingerprintOf, hashKey } from "../../src/accounts/key.ts";
import type { DatabaseLocation } from "../../src/database/database-location.ts";
import { newKey } from "./accounts.ts";
import {
  addUser,
  createUsage,
  createUser,
  keyHashOf,
  MONTH,
  openAt,
  type StoreKind,
} from "./store-contract.ts";

const HOUR_MS = 3_600_000;
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS);

/** The behaviour of keys and certificates that every account store shares, as tests. */
export function describeKeyContract(kind: string, { createLocation }: StoreKind): void {
  describe(`the keys of users on ${kind}`, () => {
    let location: DatabaseLocation;
    let store: AccountStore;
    const ann = createUser("ann", { certificateSubject: "ann.example" });
    const bob = createUser("bob");
    const FIRST = keyHashOf(ann);
    const [SECOND, THIRD] = [hashKey("second"), hashKey("third")];
    const hashes = async () => (await store.listKeys(ann.id)).map(({ hash }) => hash).toSorted();

    beforeEach(async () => {
      location = await createLocation();
      store = await openAt(location);
      for (const user of [ann, bob]) await addUser(store, user);
    });

    const add = (hash: string, addition?: KeyAddition) => store.addKey(ann.id, newKey(hash), addition);
    const replace = (hash: string, expiresAt: Date) => add(hash, { replaced: { hash: FIRST, expiresAt } });

    test("start with one for everything that does not expire", async () => {
      const [key, ...others] = await store.listKeys(ann.id);
      expect(key).toEqual({
        hash: FIRST,
        fingerprint: fingerprintOf(FIRST),
        name: "first key",
        createdAt: expect.any(Date),
        expiresAt: undefined,
        lastUsedAt: undefined,
      });
      expect(Math.abs(key!.createdAt.getTime() - Date.now())).toBeLessThan(60_000);
      expect(others).toEqual([]);
    });

    test("have a name, scopes, galleries and an expiry", async () => {
      const rights = { scopes: ["identify", "read"], galleryIds: ["staff"] } as const;
      const key = newKey(SECOND, { name: "door", expiresAt: inHours(1), ...rights });
      expect(await store.addKey(ann.id, key)).toContainEqual(expect.objectContaining(key));
      expect(await store.findAccount({ keyHash: SECOND }, MONTH)).toMatchObject({ user: ann, rights });
      for (const selector of [{ keyHash: FIRST }, { certificateSubject: "ann.example" }, { userId: ann.id }])
        expect(await store.findAccount(selector, MONTH)).toMatchObject({ user: ann, rights: {} });
    });

    test("are valid side by side after a rotation, with the same usage", async () => {
      const expiresAt = inHours(1);
      await replace(SECOND, expiresAt);
      await store.addUsage("1", [createUsage(ann, 7)]);
      const account = { user: ann, usedThisMonth: 7 };
      expect(await store.findAccount({ keyHash: FIRST }, MONTH)).toMatchObject({
        ...account,
        keyExpiresAt: expiresAt,
      });
      expect(await store.findAccount({ keyHash: SECOND }, MONTH)).toMatchObject({
        ...account,
        keyExpiresAt: undefined,
      });
      for (const hash of [FIRST, SECOND]) expect(await store.findUsers(hash)).toEqual([ann]);
    });

    test("keep an earlier expiry when they are replaced, and the others stay as they are", async () => {
      const expiresAt = inHours(1);
      await replace(SECOND, expiresAt);
      await replace(THIRD, inHours(9));
      const keys = await store.listKeys(ann.id);
      expect(new Map(keys.map(({ hash, expiresAt }) => [hash, expiresAt]))).toEqual(
        new Map([
          [FIRST, expiresAt],
          [SECOND, undefined],
          [THIRD, undefined],
        ]),
      );
      await replace(hashKey("fourth"), new Date());
      expect(await hashes()).toEqual([SECOND, THIRD, hashKey("fourth")].toSorted());
      expect(await store.findAccount({ keyHash: FIRST }, MONTH)).toBeUndefined();
    });

    test("are at most twenty after concurrent additions", async () => {
      const others = await Promise.all([1, 2, 3, 4].map(() => openAt(location)));
      const results = await Promise.allSettled(
        Array.from({ length: 24 }, (_, i) =>
          others[i % others.length]!.addKey(ann.id, newKey(hashKey(`${i}`))),
        ),
      );
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(MAX_LIVE_KEYS - 1);
      expect(results.find((result) => result.status === "rejected")?.reason).toEqual(
        new AccountError(
          "The user has 20 keys already. Revoke one of them, or wait until it expires",
          "tooManyKeys",
        ),
      );
      expect(await hashes()).toHaveLength(MAX_LIVE_KEYS);
      // One that ends at once makes room for its successor.
      await replace(SECOND, new Date());
      expect(await hashes()).toHaveLength(MAX_LIVE_KEYS);
    });

    test("are unknown once they have expired", async () => {
      await replace(SECOND, new Date(Date.now() + 2_000));
      expect(await store.findAccount({ keyHash: FIRST }, MONTH)).toMatchObject({ user: ann });
      await expect.poll(() => store.findAccount({ keyHash: FIRST }, MONTH)).toBeUndefined();
      expect(await store.listKeys(ann.id)).toHaveLength(2);
      // An administrator can still see whose key it was.
      expect(await store.findUsers(FIRST)).toEqual([ann]);
      // The next addition removes it, and it can create no other one.
      await expect(add(THIRD, { requiredHashes: [FIRST] })).rejects.toMatchObject({ kind: "unknownUser" });
      await add(THIRD);
      expect(await hashes()).toEqual([SECOND, THIRD].toSorted());
    });

    test("can be revoked, also the last one", async () => {
      await store.removeKey(FIRST);
      expect(await store.listKeys(ann.id)).toEqual([]);
      expect(await store.findAccount({ keyHash: FIRST }, MONTH)).toBeUndefined();
      expect(await store.findAccount({ userId: ann.id }, MONTH)).toMatchObject({ user: ann });
      await add(SECOND);
      expect(await hashes()).toEqual([SECOND]);
    });

    test("belong to one user", async () => {
      const taken = new AccountError("This key is already in use");
      await expect(store.addUser(createUser("eve"), FIRST)).rejects.toThrow(taken);
      await expect(store.addKey(bob.id, newKey(FIRST))).rejects.toThrow(taken);
      expect(await store.listUsers()).toEqual([ann, bob]);
      expect(await store.listKeys(bob.id)).toMatchObject([{ expiresAt: undefined }]);
      await expect(store.addKey("nobody", newKey(SECOND))).rejects.toThrow("The user does not exist");
      // Keys of others cannot be replaced.
      const replaced = { hash: FIRST, expiresAt: new Date() };
      await expect(store.addKey(bob.id, newKey(SECOND), { replaced })).rejects.toMatchObject({
        kind: "keyNotFound",
      });
    });

    test("are removed with their user", async () => {
      await store.removeUser(ann.id);
      expect(await store.listKeys(ann.id)).toEqual([]);
      expect(await store.findAccount({ keyHash: FIRST }, MONTH)).toBeUndefined();
    });

    test("have a last use that never goes back, of known keys only", async () => {
      const [noon, later] = [new Date("2026-03-31T12:00:00Z"), new Date("2026-03-31T12:01:00Z")];
      const uses = (...times: [string, Date][]) => times.map(([hash, usedAt]) => ({ hash, usedAt }));
      const lastUses = async () =>
        [...(await store.listKeys(ann.id)), ...(await store.listKeys(bob.id))].map(
          ({ lastUsedAt }) => lastUsedAt,
        );
      await store.addUsage("1", [], uses([FIRST, later], [hashKey("unknown"), noon], [keyHashOf(bob), noon]));
      expect(await lastUses()).toEqual([later, noon]);
      await store.addUsage("2", [], uses([FIRST, noon], [keyHashOf(bob), later]));
      expect(await lastUses()).toEqual([later, later]);
    });

    test("are used in concurrent batches without deadlock", async () => {
      const other = await openAt(location);
      const uses = (minute: number) =>
        [FIRST, keyHashOf(bob)].map((hash) => ({ hash, usedAt: new Date(minute * 60_000) }));
      await Promise.all(
        Array.from({ length: 50 }, async (_, i) => {
          await store.addUsage(`a${i}`, [createUsage(ann, 1)], uses(i));
          await other.addUsage(`b${i}`, [createUsage(bob, 1)], uses(i).toReversed());
        }),
      );
      expect(await store.listKeys(ann.id)).toMatchObject([{ lastUsedAt: new Date(49 * 60_000) }]);
    });

    test("are not needed if the subject of a certificate leads to the user", async () => {
      const selector = { certificateSubject: "ann.example" };
      expect(await store.findAccount(selector, MONTH)).toMatchObject({ user: ann, keyExpiresAt: undefined });
      expect(await store.findAccount({ certificateSubject: "ann" }, MONTH)).toBeUndefined();
      await expect(store.updateUser(bob.id, selector)).rejects.toThrow(AccountError);
      expect(await store.updateUser(ann.id, { certificateSubject: undefined })).toEqual({
        ...ann,
        certificateSubject: undefined,
      });
      expect(await store.findAccount(selector, MONTH)).toBeUndefined();
      expect(await store.updateUser(bob.id, selector)).toMatchObject(selector);
    });
  });
}
