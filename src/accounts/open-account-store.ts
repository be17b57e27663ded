import { join } from "node:path";
import type { AccountStore } from "./account-store.ts";

/** Where accounts are stored. */
export interface StoreLocation {
  /** PostgreSQL connection URL; undefined for an SQLite file in the data folder. */
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
}

/** Opens the account store and migrates its schema. Loads only the database driver that it needs. */
export async function openAccountStore({ databaseUrl, dataDir }: StoreLocation): Promise<AccountStore> {
  if (databaseUrl !== undefined) {
    const { openPostgresStore } = await import("./postgres-store.ts");
    return openPostgresStore(databaseUrl);
  }
  const { openSqliteStore } = await import("./sqlite-store.ts");
  return openSqliteStore(join(dataDir, "accounts.db"));
}
