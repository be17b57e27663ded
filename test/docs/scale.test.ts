import { expect, test } from "vitest";
import { readMarkdown, sectionUnder, tableRows } from "../support/markdown.ts";

const page = readMarkdown("docs/scale.md");
const report = readMarkdown("bench/results/scale.md");

test("the replicas of the plan are those of the report", () => {
  const rows = tableRows(sectionUnder(page, "Replicas"));
  const reported = tableRows(sectionUnder(report, "Replicas")).map((row) => row.join(" | "));
  expect(rows.length).toBeGreaterThan(5);
  for (const row of rows) expect(reported).toContain(row.join(" | "));
});

test.each([
  ["Users and account reads", 0],
  ["Replicas and one large user", 1],
])("the table of %s is that of the report", (title, index) => {
  expect(tableRows(sectionUnder(page, "Database"), index)).toEqual(tableRows(sectionUnder(report, title)));
});

test("the errors of the simulation are those of its comparison with real replicas", () => {
  const check = readMarkdown("bench/results/scale-check.md");
  expect(tableRows(sectionUnder(page, "The simulation"))).toEqual(tableRows(check, 1));
});
