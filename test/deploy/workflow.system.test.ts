import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { findTools } from "../support/tools.ts";

const FOLDER = join(PACKAGE_ROOT, ".github/workflows");
const { wanted, paths } = findTools("actionlint");

describe.each(readdirSync(FOLDER))("the workflow %s", (name) => {
  const path = join(FOLDER, name);

  test.skipIf(!wanted)("passes its linter", () => {
    const { status, stdout } = spawnSync(paths.actionlint, ["-no-color", path], { encoding: "utf8" });
    expect(stdout).toBe("");
    expect(status).toBe(0);
  });

  test("pins every action to a version", () => {
    const uses = [...readFileSync(path, "utf8").matchAll(/uses: (\S+)/g)].map(([, action]) => action!);
    expect(uses.length).toBeGreaterThan(2);
    expect(uses.filter((action) => !/@v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
  });
});
