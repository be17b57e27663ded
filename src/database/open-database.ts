import { join } from "node:path";
import type { OpenOptions, SqlDatabase } from "./sql-database.ts";

/** Where accounts and galleries are stored. */
export interface DatabaseLocation {
  /** PostgreSQL connection URL; undefined for an SQLite file in the data folder. */
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
}

/** Opens the database and migrates its schema. Loads only the driver that it needs. */
export async function openDatabase(
  { databaseUrl, dataDir }: DatabaseLocation,
  options: OpenOptions = {},
): Promise<SqlDatabase> {
  if (databaseUrl !== undefined) {
    const { openPostgresDatabase } = await import("./postgres-database.ts");
    return openPostgresDatabase(databaseUrl, options);
  }
  const { openSqliteDatabase } = await import("./sqlite-database.ts");
  return openSqliteDatabase(databaseFile(dataDir), options);
}

/** Names a database: the path of its file, or its URL without password and parameters. */
export function nameDatabase({ databaseUrl, dataDir }: DatabaseLocation): string {
  return databaseUrl === undefined ? databaseFile(dataDir) : withoutSecrets(databaseUrl);
}

/** Removes the password from a URL, and the parameters, which may have one too. */
export function withoutSecrets(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.password = "";
  url.search = "";
  url.hash = "";
  return url.href;
}

function databaseFile(dataDir: string): string {
  return join(dataDir, "accounts.db");
}
