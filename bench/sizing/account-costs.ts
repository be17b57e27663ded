import { randomUUID } from "node:crypto";
import { type AccountStore, SUCCESS_OUTCOME } from "../../src/accounts/account-store.ts";
import { hashKey } from "../../src/accounts/key.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { createUser } from "../../src/accounts/users.ts";
import type { AccountCosts } from "./costs.ts";
import { readPostgresCounters } from "./postgres-counters.ts";

const READS = 2_000;
const TRANSACTIONS = 400;
const USERS = 100;
/** A service has four connections for its accounts, and so has a store. */
const STORES = 4;
const CONNECTIONS = 4 * STORES;
const SECONDS = 3;

/** Measures what the accounts cost in a PostgreSQL server on this machine. */
export async function measureAccountCosts(url: string): Promise<AccountCosts> {
  const location = { databaseUrl: url, dataDir: "" };
  const stores = await Promise.all(Array.from({ length: STORES }, () => openAccountStore(location)));
  const store = stores[0]!;
  const users = await Promise.all(
    Array.from({ length: USERS }, (_, i) =>
      createUser(store, {
        name: `sizing ${i}`,
        plan: "unlimited",
        startsAt: new Date(0),
        endsAt: undefined,
        certificateSubject: undefined,
      }),
    ),
  );
  const ids = users.map(({ user }) => user.id);
  const keyHash = hashKey(users[0]!.key);
  const cpuOf = async (count: number, run: () => Promise<unknown>): Promise<number> => {
    const before = await readPostgresCounters(url);
    for (let i = 0; i < count; i++) await run();
    const after = await readPostgresCounters(url);
    return (after.cpuMs - before.cpuMs) / count;
  };
  const readMs = await cpuOf(READS, () => store.findAccount({ keyHash }, "2026-01"));
  const usageMs = await cpuOf(TRANSACTIONS, () => addUsage(store, ids.slice(0, 1)));
  const usageOfAllMs = await cpuOf(TRANSACTIONS / 4, () => addUsage(store, ids));
  const perSecond = async (userOf: (connection: number) => string): Promise<number> => {
    const endMs = performance.now() + 1_000 * SECONDS;
    let count = 0;
    const write = async (_: unknown, connection: number) => {
      for (; performance.now() < endMs; count++)
        await addUsage(stores[connection % STORES]!, [userOf(connection)]);
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, write));
    return count / SECONDS;
  };
  const usagePerSecond = await perSecond((connection) => ids[connection]!);
  const usageLockMs = 1_000 / (await perSecond(() => ids[0]!));
  await Promise.all(stores.map((one) => one.close()));
  const usageOfUserMs = Math.max(0, usageOfAllMs - usageMs) / (USERS - 1);
  return { readMs, usageMs, usageOfUserMs, usageLockMs, usagePerSecond };
}

/** Writes a batch like that of the service, with one operation of each user. */
function addUsage(store: AccountStore, userIds: readonly string[]): Promise<void> {
  const one = { day: "2026-01-01", key: "k", operation: "get_face_vec", outcome: SUCCESS_OUTCOME, count: 1 };
  return store.addUsage(
    randomUUID(),
    userIds.map((userId) => ({ ...one, userId })),
  );
}
