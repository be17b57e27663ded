import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { PACKAGE_ROOT } from "../../src/package-root.ts";

test.each([
  ["the image", () => /VISAGE_HOST=(\S+)/.exec(read("Dockerfile"))?.[1]],
  ["Compose", () => parse(read("compose.yaml")).services.visage.environment.VISAGE_HOST],
])("%s listens on all addresses and creates no trial user", (_, hostOf) => {
  expect(hostOf()).toBe("0.0.0.0");
  expect(read("Dockerfile") + read("compose.yaml")).not.toMatch("VISAGE_TRIAL_USER");
});

function read(name: string): string {
  return readFileSync(join(PACKAGE_ROOT, "deploy", name), "utf8");
}
