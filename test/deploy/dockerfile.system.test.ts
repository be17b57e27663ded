import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { findTools } from "../support/tools.ts";

const { wanted, paths } = findTools("hadolint");

test.skipIf(!wanted)("the Dockerfile passes its linter", () => {
  const file = join(PACKAGE_ROOT, "deploy/Dockerfile");
  const { status, stdout } = spawnSync(paths.hadolint, ["--no-color", file], { encoding: "utf8" });
  expect(stdout).toBe("");
  expect(status).toBe(0);
});
