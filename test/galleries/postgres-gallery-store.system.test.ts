import { afterAll, beforeAll, describe } from "vitest";
import { describeGalleryContract } from "../support/gallery-contract.ts";
import { execute, hasPostgres, startPostgres, type TestPostgres } from "../support/postgres.ts";

let postgres: TestPostgres;

beforeAll(async () => {
  if (hasPostgres) postgres = await startPostgres();
});
afterAll(() => postgres?.remove());

describe.skipIf(!hasPostgres)("with a PostgreSQL", () => {
  describeGalleryContract("PostgreSQL", {
    createLocation: async () => ({ databaseUrl: await postgres.createDatabase(), dataDir: "/nowhere" }),
    executeAt: ({ databaseUrl }, sql) => execute(databaseUrl!, sql),
  });
});
