import { type DatabaseLocation, databaseFile } from "./database-location.ts";
import type { OpenOptions, SqlDatabase } from "./sql-database.ts";

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
