import { execFile } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe } from "vitest";
import type { Environment } from "../../src/config.ts";
import { hasMilvus, startMilvus, type TestMilvus } from "../support/milvus.ts";
import { hasPostgres, startPostgres, type TestPostgres } from "../support/postgres.ts";
import { describeRestoreContract } from "../support/restore-contract.ts";

const run = promisify(execFile);

describe.skipIf(!hasPostgres)("with a PostgreSQL", () => {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres?.remove());

  const open = (env: Environment) => async () => {
    const url = await postgres.createDatabase();
    const file = join(await mkdtemp(join(tmpdir(), "visage-restore-")), "backup");
    return {
      env: { ...env, VISAGE_DATABASE_URL: url },
      backUp: async () => {
        await run("pg_dump", ["--format=custom", `--file=${file}`, url]);
      },
      restore: async () => {
        const options = ["--clean", "--if-exists", "--single-transaction", "--no-owner"];
        await run("pg_restore", [...options, `--dbname=${url}`, file]);
      },
    };
  };
  describeRestoreContract("PostgreSQL", open({}));

  describe.skipIf(!hasMilvus)("and Milvus, which is ahead of it", () => {
    let milvus: TestMilvus;
    beforeAll(async () => {
      milvus = await startMilvus();
    });
    afterAll(() => milvus.remove());
    // One service writes to Milvus for both.
    describeRestoreContract("PostgreSQL", () => open(milvus.env)(), 1);
  });
});
