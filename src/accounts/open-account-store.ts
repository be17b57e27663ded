import { join } from "node:path";
import type { AccountStore } from "./account-store.ts";

/** Where accounts are stored. */
export interface StoreLocation {
  /** PostgreSQL connection URL; undefined for an SQLite file in the data folder. */
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
}

/** How to open a store. */
export interface OpenStoreOptions {
  /** Throws MissingDatabaseError if the database does not exist, instead of creating it. False by default. */
  readonly mustExist?: boolean;
}

/** Opens the account store and migrates its schema. Loads only the database driver that it needs. */
export async function openAccountStore(
  { databaseUrl, dataDir }: StoreLocation,
  options: OpenStoreOptions = {},
): Promise<AccountStore> {
  if (databaseUrl !== undefined) {
    const { openPostgresStore } = await import("./postgres-store.ts");
    return openPostgresStore(databaseUrl, options);
  }
  const { openSqliteStore } = await import("./sqlite-store.ts");
  return openSqliteStore(accountFile(dataDir), options);
}

/** Names the database of a store: the path of its file, or its URL without password and parameters. */
export function nameDatabase({ databaseUrl, dataDir }: StoreLocation): string {
  return databaseUrl === undefined ? accountFile(dataDir) : withoutSecrets(databaseUrl);
}

/** Removes the password from a URL, and the parameters, which may have one too. */
export function withoutSecrets(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.password = "";
  url.search = "";
  url.hash = "";
  return url.href;
}

function accountFile(dataDir: string): string {
  return join(dataDir, "accounts.db");
}
