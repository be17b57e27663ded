import type { DatabaseLocation } from "../database/database-location.ts";
import { openDatabase } from "../database/open-database.ts";
import type { OpenOptions } from "../database/sql-database.ts";
import type { AccountStore } from "./account-store.ts";
import { createSqlStore } from "./sql-store.ts";

/** Opens a database for accounts alone. Closing the store closes the database. */
export async function openAccountStore(
  location: DatabaseLocation,
  options?: OpenOptions,
): Promise<AccountStore> {
  return createSqlStore(await openDatabase(location, options));
}
