import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AccountError, type AccountStore } from "./account-store.ts";
import { createUserId, fingerprintOf, hashOf } from "./user-id.ts";

/** The trial user is whoever runs the service. */
const TRIAL_PLAN = "unlimited";

/** The file of the data folder that keeps the id of a trial user that was made. */
export function trialUserPath(dataDir: string): string {
  return join(dataDir, "trial-user");
}

/** What the trial user depends on. */
export interface TrialUserOptions {
  readonly store: AccountStore;
  /** The id that is set, if any: such a user will exist. */
  readonly id: string | undefined;
  /** Where an id that was made is kept; undefined for a store that replicas share, where none is made. */
  readonly dataDir: string | undefined;
}

/**
 * Gives the id of a user to try the service with, if there is one: the one that is set, or one that is made
 * for a store without users and kept, readable by its owner alone.
 */
export async function openTrialUser({ store, id, dataDir }: TrialUserOptions): Promise<string | undefined> {
  if (id !== undefined) {
    await ensureUser(store, id);
    return id;
  }
  if (dataDir === undefined) return undefined;
  const path = trialUserPath(dataDir);
  const kept = (await readFile(path, "utf8").catch(() => "")).trim();
  if ((await store.listUsers()).length > 0) {
    const [user] = kept ? await store.findUsers(hashOf(kept)) : [];
    return user && kept;
  }
  const made = kept || createUserId();
  await ensureUser(store, made);
  await mkdir(dataDir, { recursive: true });
  await writeFile(path, `${made}\n`, { mode: 0o600 });
  return made;
}

/** Adds the user where the store has it not; another replica may do the same at the same time. */
async function ensureUser(store: AccountStore, id: string): Promise<void> {
  const idHash = hashOf(id);
  const isThere = async () => (await store.findUsers(idHash)).length > 0;
  if (await isThere()) return;
  const fingerprint = fingerprintOf(idHash);
  const name = `trial-${fingerprint}`;
  const subscription = { startsAt: new Date(), endsAt: undefined, enabled: true };
  try {
    await store.addUser({ idHash, fingerprint, name, plan: TRIAL_PLAN, ...subscription });
  } catch (fault) {
    if (!(fault instanceof AccountError) || !(await isThere())) throw fault;
  }
}
