import { AccountError, type AccountStore, type User } from "../accounts/account-store.ts";
import { openAccountStore } from "../accounts/open-account-store.ts";
import { hashUserId } from "../accounts/user-id.ts";
import { readConfig } from "../config.ts";

/** The settings that every command on accounts reads, for its help. */
export const STORE_HELP = `  VISAGE_DATA_DIR       folder of the accounts, ./data unless set
  VISAGE_DATABASE_URL   PostgreSQL database of the accounts, instead of that folder
`;

/** Lends the store that the environment names. */
export async function withStore<T>(work: (store: AccountStore) => Promise<T>): Promise<T> {
  const store = await openAccountStore(readConfig());
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** The one user whose id, fingerprint or name is the text. Throws AccountError where there is none, or several. */
export async function findUser(store: AccountStore, text: string): Promise<User> {
  const found = [...(await store.findUsers(hashUserId(text))), ...(await store.findUsers(text))];
  const [user, ...others] = found;
  // The text is not repeated, for it may be the id of another service.
  if (!user) throw new AccountError("No user has this id, fingerprint or name");
  if (others.some(({ idHash }) => idHash !== user.idHash))
    throw new AccountError("More than one user has this id, fingerprint or name");
  return user;
}

/** The present month in UTC, YYYY-MM. */
export function currentMonth(): string {
  return new Date().toISOString().slice(0, 7);
}
