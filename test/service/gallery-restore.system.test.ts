import { execFile } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe } from "vitest";
import { hasPostgres, startPostgres, type TestPostgres } from "../support/postgres.ts";
import { describeRestoreContract } from "../support/restore-contract.ts";

const run = promisify(execFile);

describe.skipIf(!hasPostgres)("with a PostgreSQL", () => {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres?.remove());

  describeRestoreContract("PostgreSQL", async () => {
    const url = await postgres.createDatabase();
    const file = join(await mkdtemp(join(tmpdir(), "visage-restore-")), "backup");
    return {
      env: { VISAGE_DATABASE_URL: url },
      backUp: async () => {
        await run("pg_dump", ["--format=custom", `--file=${file}`, url]);
      },
      restore: async () => {
        const options = ["--clean", "--if-exists", "--single-transaction", "--no-owner"];
        await run("pg_restore", [...options, `--dbname=${url}`, file]);
      },
    };
  });
});
