import { AccountError, type AccountStore, type User } from "../accounts/account-store.ts";
import { openAccountStore } from "../accounts/open-account-store.ts";
import { hashUserId } from "../accounts/user-id.ts";
import { readConfig } from "../config.ts";

/** Help text on the settings that every account command reads. */
export const STORE_HELP = `  VISAGE_DATA_DIR       data folder with the accounts; default: ./data
  VISAGE_DATABASE_URL   PostgreSQL database with the accounts, instead of the folder
`;

/** Runs work with the configured account store and closes it afterwards. */
export async function withStore<T>(work: (store: AccountStore) => Promise<T>): Promise<T> {
  const store = await openAccountStore(readConfig());
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Finds a user by id, fingerprint or name. Throws AccountError unless exactly one matches. */
export async function findUser(store: AccountStore, text: string): Promise<User> {
  const found = [...(await store.findUsers(hashUserId(text))), ...(await store.findUsers(text))];
  const [user, ...others] = found;
  // The message does not repeat the text, because it may be a secret id.
  if (!user) throw new AccountError("No user has this id, fingerprint or name");
  if (others.some(({ idHash }) => idHash !== user.idHash))
    throw new AccountError("More than one user has this id, fingerprint or name");
  return user;
}

/** Returns the current month as YYYY-MM (UTC). */
export function currentMonth(): string {
  return new Date().toISOString().slice(0, 7);
}
