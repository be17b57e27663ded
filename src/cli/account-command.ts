import { AccountError, type AccountStore, type User } from "../accounts/account-store.ts";
import { openAccountStore } from "../accounts/open-account-store.ts";
import { findUserByKeyOrName } from "../accounts/users.ts";
import { readConfig } from "../config.ts";
import { MissingDatabaseError } from "../database/database-error.ts";
import { nameDatabase } from "../database/database-location.ts";
import type { OpenOptions } from "../database/sql-database.ts";
import type { CommandContext } from "./command.ts";

/** Help text on the settings that every account command reads. */
export const STORE_HELP = `  VISAGE_DATA_DIR       data folder with the accounts; default: ./data
  VISAGE_DATABASE_URL   PostgreSQL database with the accounts, instead of the folder
`;

/**
 * Runs work with the configured account store and closes it afterwards. Prints the name of its database to stderr. By
 * default the database must exist: a command in the wrong folder would otherwise create an empty one there.
 */
export async function withStore<T>(
  { env, stderr }: CommandContext,
  work: (store: AccountStore) => Promise<T>,
  options: OpenOptions = { mustExist: true },
): Promise<T> {
  const config = readConfig(env);
  const database = nameDatabase(config);
  stderr.write(`Account database: ${database}\n`);
  const store = await openAccountStore(config, options).catch((error: unknown) => {
    throw error instanceof MissingDatabaseError ? new AccountError(missingDatabaseMessage(database)) : error;
  });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Runs work with the user that has a name, fingerprint or key. */
export function withUser<T>(
  context: CommandContext,
  text: string,
  work: (store: AccountStore, user: User) => Promise<T>,
  options?: OpenOptions,
): Promise<T> {
  return withStore(context, async (store) => work(store, await findUserByKeyOrName(store, text)), options);
}

function missingDatabaseMessage(database: string): string {
  return `There is no account database at ${database}; use another folder or VISAGE_DATA_DIR or VISAGE_DATABASE_URL, or create it by "visage users add --init" or "visage serve"`;
}
