import { join } from "node:path";
import type { AccountStore } from "./account-store.ts";

/** Where accounts are kept. */
export interface StorePlace {
  /** A PostgreSQL database; without one the accounts are in a file. */
  readonly databaseUrl: string | undefined;
  /** Folder of that file. */
  readonly dataDir: string;
}

/** Opens the accounts and brings their schema up to date. Loads only the driver that is needed. */
export async function openStore({ databaseUrl, dataDir }: StorePlace): Promise<AccountStore> {
  if (databaseUrl !== undefined) {
    const { openPostgresStore } = await import("./postgres-store.ts");
    return openPostgresStore(databaseUrl);
  }
  const { openSqliteStore } = await import("./sqlite-store.ts");
  return openSqliteStore(join(dataDir, "accounts.db"));
}
