import { join } from "node:path";

/** Where accounts and galleries are stored. */
export interface DatabaseLocation {
  /** PostgreSQL connection URL; undefined for an SQLite file in the data folder. */
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
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

/** Returns the path of the SQLite file. */
export function databaseFile(dataDir: string): string {
  return join(dataDir, "accounts.db");
}
