import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { readConfig } from "../../src/config.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { codeBlocks, readMarkdown, sectionUnder } from "../support/markdown.ts";

interface Service {
  readonly environment: Readonly<Record<string, string>>;
  readonly stop_grace_period: string;
}

/** Returns the service of the Compose file with these variables, which is empty for others. */
function serviceWith(variables: Readonly<Record<string, string>> = {}): Service {
  const file = readFileSync(join(PACKAGE_ROOT, "deploy/compose.yaml"), "utf8");
  const all: Readonly<Record<string, string>> = { POSTGRES_PASSWORD: "secret", ...variables };
  const filled = file.replaceAll(/\$\{(\w+)[^}]*\}/g, (_, name: string) => all[name] ?? "");
  return (parse(filled) as { services: { visage: Service } }).services.visage;
}

/** Reads the configuration as Compose passes it: a variable without a value is an empty one. */
function configOf({ environment }: Service) {
  const entries = Object.entries(environment).map(([name, value]) => [name, value ?? ""]);
  return readConfig(Object.fromEntries(entries));
}

test("the stop grace period is longer than drain and request together", () => {
  const service = serviceWith();
  const { drainMs, requestTimeoutMs } = configOf(service);
  const [, seconds] = /^(\d+)s$/.exec(service.stop_grace_period)!;
  expect(Number(seconds) * 1000).toBeGreaterThanOrEqual(drainMs + requestTimeoutMs + 5_000);
});

test("Milvus searches galleries with the variables of the README, and memory without them", () => {
  const section = sectionUnder(readMarkdown("deploy/README.md"), "Compose");
  const lines = codeBlocks(section, "sh")
    .join("\n")
    .matchAll(/^(VISAGE_\w+)=(.*)$/gm);
  const variables = Object.fromEntries([...lines].map(([, name, value]) => [name!, value!]));
  expect(configOf(serviceWith(variables))).toMatchObject({
    galleryEngine: "milvus",
    milvusUrl: "http://milvus.example.org:19530",
    milvusToken: "visage:PASSWORD",
  });
  expect(configOf(serviceWith())).toMatchObject({ galleryEngine: "memory", milvusUrl: undefined });
});
