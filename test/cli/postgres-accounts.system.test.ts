import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { hashKey } from "../../src/accounts/key.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { hasPostgres, startPostgres } from "../support/postgres.ts";

const CLI = join(PACKAGE_ROOT, "dist/src/cli/main.js");
const ID = "id-of-an-old-program";

test.skipIf(!hasPostgres)("the account commands work on PostgreSQL as they do on a file", async () => {
  const postgres = await startPostgres();
  onTestFinished(() => postgres.remove());
  const dataDir = join(tmpdir(), `visage-unused-${process.pid}`);
  const audit = join(mkdtempSync(join(tmpdir(), "visage-audit-")), "audit.jsonl");
  onTestFinished(() => rmSync(dirname(audit), { recursive: true }));
  const env = {
    ...process.env,
    VISAGE_DATABASE_URL: postgres.url,
    VISAGE_DATA_DIR: dataDir,
    VISAGE_AUDIT: audit,
  };
  const visage = async (...args: string[]) =>
    (await promisify(execFile)(process.execPath, [CLI, ...args], { env })).stdout;
  const json = async (...args: string[]) => JSON.parse(await visage(...args, "--json"));

  const { username, host, pathname } = new URL(postgres.url);
  const database = `postgres://${username ? `${username}@` : ""}${host}${pathname}`;
  await expect(visage("users", "list")).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`There is no account database at ${database}; `),
  });
  const added = await json("users", "add", "--name", "ann", "--key", ID, "--init");
  expect(added).toMatchObject({ key: ID, plan: "trial" });
  await expect(visage("users", "add", "--name", "ann")).rejects.toMatchObject({
    code: 1,
    stderr: `Account database: ${database}\nvisage: A user named "ann" already exists\n`,
  });
  await json("plans", "set", "slow", "--create", "--per-second", "0.5", "--per-month", "10");
  const [{ fingerprint }] = await json("users", "list");
  await visage("users", "set-plan", fingerprint, "slow");
  await visage("users", "renew", ID, "--until", "2031-01-01");
  const store = await openAccountStore({ databaseUrl: postgres.url, dataDir: "" });
  const [user] = await store.findUsers(hashKey(ID));
  await store.addUsage("1", [
    { userId: user!.id, day: "2026-03-05", key: "k", operation: "match_faces", outcome: "ok", count: 5 },
  ]);
  await store.close();
  expect(await json("users", "list")).toMatchObject([
    { name: "ann", plan: "slow", ends_at: "2031-01-01T00:00:00.000Z", enabled: true },
  ]);
  expect(await json("usage", "ann", "--month", "2026-03")).toMatchObject({
    used: 5,
    requests_per_month: 10,
  });
  await visage("users", "remove", "ann");
  expect(await json("users", "list")).toEqual([]);
  expect(existsSync(dataDir)).toBe(false);
});
