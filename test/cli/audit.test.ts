import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { fingerprintOf, hashKey } from "../../src/accounts/key.ts";
import { readAudit } from "../support/audit.ts";
import { runInProcess } from "../support/command-line.ts";

const KEY = "key-of-an-old-program";
const NEW_USER = ["users", "add", "--name", "Ann Smith", "--init"];
const FINGERPRINT = expect.stringMatching(/^[0-9a-f]{10}$/);

const folder = mkdtempSync(join(tmpdir(), "visage-cli-audit-"));
afterAll(() => rmSync(folder, { recursive: true }));

let folders = 0;
let settings: Record<"VISAGE_DATA_DIR" | "VISAGE_AUDIT", string>;
beforeEach(() => {
  const dataDir = join(folder, `${++folders}`);
  settings = { VISAGE_DATA_DIR: dataDir, VISAGE_AUDIT: `${dataDir}.jsonl` };
});

const visage = (...args: string[]) => runInProcess(args, settings);

test("changes of a database leave lines, and reading leaves none", async () => {
  await visage(...NEW_USER, "--key", KEY);
  await visage("users", "set-plan", "Ann Smith", "pro");
  await visage("users", "disable", "Ann Smith");
  await visage("users", "rotate", "Ann Smith");
  await visage("users", "revoke", "Ann Smith", fingerprintOf(hashKey(KEY)));
  await visage("users", "list");
  await visage("users", "show", "Ann Smith");
  await visage("plans", "set", "large", "--create");
  await visage("plans", "set", "large", "--burst", "9");
  await visage("plans", "remove", "pro");
  await visage("users", "remove", "Ann Smith", "--yes");
  const lines = readAudit(settings.VISAGE_AUDIT);
  for (const line of lines)
    expect(line).toMatchObject({ event: "audit", source: "command line", user: "admin" });
  const ends = lines.filter(({ phase }) => phase === "end");
  expect(ends).toMatchObject([
    { operation: "CreateUser", target_user: FINGERPRINT, plan: "trial", outcome: "ok" },
    { operation: "UpdateUser", target_user: FINGERPRINT, plan: "pro", outcome: "ok" },
    { operation: "UpdateUser", target_user: FINGERPRINT, outcome: "ok" },
    { operation: "CreateUserKey", target_user: FINGERPRINT, target_key: FINGERPRINT, outcome: "ok" },
    { operation: "DeleteUserKey", target_key: fingerprintOf(hashKey(KEY)), outcome: "ok" },
    { operation: "CreatePlan", plan: "large", outcome: "ok" },
    { operation: "UpdatePlan", plan: "large", outcome: "ok" },
    { operation: "DeletePlan", plan: "pro", outcome: "PLAN_IN_USE" },
    { operation: "DeleteUser", target_user: FINGERPRINT, outcome: "ok" },
  ]);
  expect(lines).toHaveLength(2 * ends.length);
  expect(JSON.stringify(lines)).not.toMatch(/Ann|key-of/);
});

test("without a file, the lines go to standard error, so that the output is JSON", async () => {
  settings.VISAGE_AUDIT = "stdout";
  const { stdout, stderr } = await visage(...NEW_USER, "--json");
  expect(JSON.parse(stdout)).toMatchObject({ name: "Ann Smith" });
  const [database, ...lines] = stderr.trim().split("\n");
  expect(database).toMatch(/^Account database: /);
  expect(lines.map((line) => JSON.parse(line).phase)).toEqual(["start", "end"]);
});

test("nothing is changed if the lines cannot be written", async () => {
  await visage(...NEW_USER);
  settings.VISAGE_AUDIT = join(folder, "none", "audit.jsonl");
  const { code, stderr } = await visage("users", "remove", "Ann Smith", "--yes");
  expect(code).toBe(1);
  expect(stderr).toMatch(/\nvisage: The audit trail cannot be written: ENOENT: .*\n$/);
  const { stdout } = await visage("users", "list", "--json");
  expect(JSON.parse(stdout)).toMatchObject([{ name: "Ann Smith" }]);
  expect(existsSync(join(folder, "none"))).toBe(false);
});
