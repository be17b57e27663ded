import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AccountError, type AccountStore, type User } from "./account-store.ts";
import { createKey, createUserId, fingerprintOf, hashKey } from "./key.ts";

/** The trial user is the operator of the service. */
const TRIAL_PLAN = "unlimited";

/** Path of the file with the key of a generated trial user. */
export function trialUserPath(dataDir: string): string {
  return join(dataDir, "trial-user");
}

/** Options of the trial user. */
export interface TrialUserOptions {
  readonly store: AccountStore;
  /** The configured key; a user with this key is created if needed. */
  readonly key: string | undefined;
  /** Folder that stores a generated key. Undefined for a store shared by replicas, where no key is generated. */
  readonly dataDir: string | undefined;
  /** Whether a key may be generated: not where other machines reach the service. */
  readonly mayGenerate: boolean;
  /** Runs the creation of the user, for the audit trail. */
  readonly runAudited: (user: User, create: () => Promise<void>) => Promise<void>;
}

/**
 * Returns the key of the trial user, if it has one that is live. It is the configured key, or a key that is generated
 * for a store without users and saved in a file that only its owner can read.
 */
export async function ensureTrialUser(options: TrialUserOptions): Promise<string | undefined> {
  const { store, key, dataDir, mayGenerate } = options;
  if (key !== undefined) return (await ensureUser(options, key)) ? key : undefined;
  if (dataDir === undefined) return undefined;
  const path = trialUserPath(dataDir);
  const saved = (await readFile(path, "utf8").catch(() => "")).trim();
  if ((await store.listUsers()).length > 0) return saved && (await isLive(store, saved)) ? saved : undefined;
  if (!mayGenerate) return undefined;
  const generated = saved || createKey();
  await ensureUser(options, generated);
  await mkdir(dataDir, { recursive: true });
  await writeFile(path, `${generated}\n`, { mode: 0o600 });
  return generated;
}

/** Adds the user if it is missing. Returns false if it exists but the key was rotated or revoked. */
async function ensureUser({ store, runAudited }: TrialUserOptions, key: string): Promise<boolean> {
  if (await isLive(store, key)) return true;
  const keyHash = hashKey(key);
  const id = createUserId();
  const name = `trial-${fingerprintOf(keyHash)}`;
  const owners = [...(await store.findUsers(keyHash)), ...(await store.findUsers(name))];
  if (owners.length > 0) return false;
  const user = {
    id,
    fingerprint: fingerprintOf(id),
    name,
    plan: TRIAL_PLAN,
    startsAt: new Date(),
    endsAt: undefined,
    enabled: true,
    certificateSubject: undefined,
  };
  try {
    await runAudited(user, () => store.addUser(user, keyHash));
    return true;
  } catch (error) {
    // Another replica may have added the user concurrently.
    if (error instanceof AccountError && (await isLive(store, key))) return true;
    throw error;
  }
}

async function isLive(store: AccountStore, key: string): Promise<boolean> {
  return (await store.findAccount({ keyHash: hashKey(key) }, "")) !== undefined;
}
