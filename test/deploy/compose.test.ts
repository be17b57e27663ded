import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { readConfig } from "../../src/config.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";

interface Service {
  readonly environment: Readonly<Record<string, string>>;
  readonly stop_grace_period: string;
}

test("the stop grace period is longer than drain and request together", () => {
  const file = readFileSync(join(PACKAGE_ROOT, "deploy/compose.yaml"), "utf8");
  const filled = file.replaceAll(/\$\{POSTGRES_PASSWORD[^}]*\}/g, "secret");
  const { visage } = (parse(filled) as { services: { visage: Service } }).services;
  const { drainMs, requestTimeoutMs } = readConfig(visage.environment);
  const [, seconds] = /^(\d+)s$/.exec(visage.stop_grace_period)!;
  expect(Number(seconds) * 1000).toBeGreaterThanOrEqual(drainMs + requestTimeoutMs + 5_000);
});
