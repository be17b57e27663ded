import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AccountError, type AccountStore } from "./account-store.ts";
import { createUserId, fingerprintFromHash, hashUserId } from "./user-id.ts";

/** The trial user is the operator of the service. */
const TRIAL_PLAN = "unlimited";

/** Path of the file with the id of a generated trial user. */
export function trialUserPath(dataDir: string): string {
  return join(dataDir, "trial-user");
}

/** Options of the trial user. */
export interface TrialUserOptions {
  readonly store: AccountStore;
  /** The configured id; a user with this id is created if needed. */
  readonly id: string | undefined;
  /** Folder that stores a generated id. Undefined for a store shared by replicas, where no id is generated. */
  readonly dataDir: string | undefined;
}

/**
 * Returns the id of the trial user, if there is one. It is the configured id, or an id that is generated for a store
 * without users and saved in a file that only its owner can read.
 */
export async function ensureTrialUser({ store, id, dataDir }: TrialUserOptions): Promise<string | undefined> {
  if (id !== undefined) {
    await ensureUser(store, id);
    return id;
  }
  if (dataDir === undefined) return undefined;
  const path = trialUserPath(dataDir);
  const saved = (await readFile(path, "utf8").catch(() => "")).trim();
  if ((await store.listUsers()).length > 0) {
    const [user] = saved ? await store.findUsers(hashUserId(saved)) : [];
    return user && saved;
  }
  const generated = saved || createUserId();
  await ensureUser(store, generated);
  await mkdir(dataDir, { recursive: true });
  await writeFile(path, `${generated}\n`, { mode: 0o600 });
  return generated;
}

/** Adds the user if it is missing. Another replica may do the same concurrently. */
async function ensureUser(store: AccountStore, id: string): Promise<void> {
  const idHash = hashUserId(id);
  const exists = async () => (await store.findUsers(idHash)).length > 0;
  if (await exists()) return;
  const fingerprint = fingerprintFromHash(idHash);
  const name = `trial-${fingerprint}`;
  const subscription = { startsAt: new Date(), endsAt: undefined, enabled: true };
  try {
    await store.addUser({ idHash, fingerprint, name, plan: TRIAL_PLAN, ...subscription });
  } catch (error) {
    if (!(error instanceof AccountError) || !(await exists())) throw error;
  }
}
