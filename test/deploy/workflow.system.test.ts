import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { findTools } from "../support/tools.ts";

const WORKFLOW = join(PACKAGE_ROOT, ".github/workflows/ci.yaml");
const { wanted, paths } = findTools("actionlint");

test.skipIf(!wanted)("the workflow passes its linter", () => {
  const { status, stdout } = spawnSync(paths.actionlint, ["-no-color", WORKFLOW], { encoding: "utf8" });
  expect(stdout).toBe("");
  expect(status).toBe(0);
});

test("the workflow pins every action to a version", () => {
  const uses = [...readFileSync(WORKFLOW, "utf8").matchAll(/uses: (\S+)/g)].map(([, action]) => action!);
  expect(uses.length).toBeGreaterThan(5);
  expect(uses.filter((action) => !/@v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
});
