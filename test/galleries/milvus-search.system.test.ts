import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import { MODEL } from "../support/gallery-contract.ts";
import { hasMilvus, openEngine, startMilvus, type TestMilvus } from "../support/milvus.ts";
import { hasPostgres, startPostgres, type TestPostgres } from "../support/postgres.ts";
import { describeSearchContract, type OpenIndexes } from "../support/search-contract.ts";

let milvus: TestMilvus;
let postgres: TestPostgres | undefined;
let folder: string;
let folders = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "visage-search-"));
  if (hasMilvus) milvus = await startMilvus();
  if (hasMilvus && hasPostgres) postgres = await startPostgres();
});
afterAll(async () => {
  await milvus?.remove();
  await postgres?.remove();
  await rm(folder, { recursive: true });
});

const openIndexes: OpenIndexes = (parts) => {
  const { galleries, templates } = openEngine(milvus, parts);
  // The server is slow with the faces of many tests.
  onTestFinished(() => templates.drop(MODEL));
  return galleries;
};

describe.skipIf(!hasMilvus)("Milvus", () => {
  describeSearchContract(
    "Milvus and SQLite",
    { createLocation: async () => ({ databaseUrl: undefined, dataDir: join(folder, `${++folders}`) }) },
    openIndexes,
  );

  describe.skipIf(!hasPostgres)("with a PostgreSQL", () => {
    describeSearchContract(
      "Milvus and PostgreSQL",
      {
        createLocation: async () => ({ databaseUrl: await postgres!.createDatabase(), dataDir: "/nowhere" }),
      },
      openIndexes,
    );
  });
});
