import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../src/database/open-database.ts";
import { createSqlGalleryStore } from "../../src/galleries/sql-gallery-store.ts";
import { describeEncryptionContract, OLD } from "../support/encryption-contract.ts";
import { describeGalleryContract, MODEL, NO_LIMITS, newFace } from "../support/gallery-contract.ts";
import { describeExpiryContract } from "../support/gallery-expiry-contract.ts";
import { execute, hasPostgres, startPostgres, type TestPostgres } from "../support/postgres.ts";
import type { StoreKind } from "../support/store-contract.ts";

let postgres: TestPostgres;

beforeAll(async () => {
  if (hasPostgres) postgres = await startPostgres();
});
afterAll(() => postgres?.remove());

describe.skipIf(!hasPostgres)("with a PostgreSQL", () => {
  const kind: StoreKind = {
    createLocation: async () => ({ databaseUrl: await postgres.createDatabase(), dataDir: "/nowhere" }),
    executeAt: ({ databaseUrl }, sql) => execute(databaseUrl!, sql),
  };
  describeGalleryContract("PostgreSQL", kind);
  describeGalleryContract("PostgreSQL with encryption", kind, OLD);
  describeEncryptionContract("PostgreSQL", kind);
  describeExpiryContract("PostgreSQL", kind);

  test("rejected changes leave the connections to the database open, without a transaction", async () => {
    const databaseUrl = await postgres.createDatabase();
    const database = await openDatabase({ databaseUrl, dataDir: "/nowhere" });
    onTestFinished(() => database.close());
    const store = createSqlGalleryStore(database);
    await store.listGalleries("ann", { size: 1 });
    const readConnections = () =>
      execute(
        databaseUrl,
        "select pid, state from pg_stat_activity where application_name = 'visage' and datname = current_database()",
      );
    const before = await readConnections();
    expect(before).toMatchObject([{ state: "idle" }]);
    for (let i = 0; i < 5; i++)
      await expect(store.enrolFaces("ann", "g", MODEL, [newFace("p")], NO_LIMITS)).rejects.toThrow(
        "no gallery",
      );
    expect(await readConnections()).toEqual(before);
  });
});
