import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SearchOutcome } from "../../src/galleries/search-process.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { ERROR_KINDS, reasonFromKind } from "../../src/service/error-table.ts";
import { readMarkdown, sectionUnder } from "../support/markdown.ts";
import { findTools } from "../support/tools.ts";

const FOLDER = join(PACKAGE_ROOT, "deploy/prometheus");
const rules = readFileSync(join(FOLDER, "alerts.yaml"), "utf8");
const { wanted, paths } = findTools("promtool");

function promtool(...args: string[]): string {
  return execFileSync(paths.promtool, args, { cwd: FOLDER, encoding: "utf8" });
}

describe.skipIf(!wanted)("Prometheus", () => {
  test("accepts its configuration and the alert rules", () => {
    expect(promtool("check", "config", "prometheus.yaml")).toMatch("SUCCESS: 1 rule files found");
  });

  test("fires each alert when it should, and not before", () => {
    expect(promtool("test", "rules", "alerts.test.yaml")).toMatch("SUCCESS");
    // It evaluates every rule for each minute of 30 hours, which takes 20 s of CPU time.
  }, 600_000);
});

const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name!);

test("every alert has a test", () => {
  const tests = readFileSync(join(FOLDER, "alerts.test.yaml"), "utf8");
  expect(alerts.length).toBeGreaterThan(8);
  expect(alerts.filter((name) => !tests.includes(`alertname: ${name}\n`))).toEqual([]);
});

test("every alert links to its own section of the runbooks, and every such section is one of an alert", () => {
  const links = [...rules.matchAll(/runbook_url: https:\/\/\S+\/(docs\/\S+)#(\S+)/g)];
  expect(links.map(([, , anchor]) => anchor)).toEqual(alerts.map((name) => name.toLowerCase()));
  expect(new Set(links.map(([, page]) => page))).toEqual(new Set(["docs/runbooks.md"]));
  const section = sectionUnder(readMarkdown("docs/runbooks.md"), "Alerts");
  const headings = [...section.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
  expect(headings.toSorted()).toEqual(alerts.toSorted());
});

test("alerts select only existing error reasons", () => {
  const search: SearchOutcome = "unavailable";
  const known = ["ok", search, ...ERROR_KINDS.map(reasonFromKind)];
  const named = [...rules.matchAll(/(?:reason|outcome)=~?"([^"]+)"/g)].flatMap(([, names]) =>
    names!.split("|"),
  );
  expect(named.length).toBeGreaterThan(2);
  expect(named.filter((name) => !known.includes(name))).toEqual([]);
});
