import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import {
  FaceAnalysisService,
  FeatureSchema,
  Population,
  QualityComponentSchema,
  QualityIssueSchema,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { AUDIT_FIELDS } from "../../src/audit/audit-line.ts";
import { fileVariableNames, readConfig, variableNames } from "../../src/config.ts";
import { POPULATIONS, readCalibration, readFalseMatchRates, readManifest } from "../../src/core/index.ts";
import { thresholdForSize } from "../../src/galleries/gallery-threshold.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { PERMISSION_NAMES, PERMISSIONS } from "../../src/permissions.ts";
import { readRoutes, readStreamRoute } from "../../src/rest/routes.ts";
import { statusJsonFrom } from "../../src/service/error-responses.ts";
import { COMPARE_DEPRECATION } from "../../src/service/face-service.ts";
import { LANDMARK_KEYS } from "../../src/service/landmark-keys.ts";
import { needsOfMethod } from "../../src/service/method-permissions.ts";
import { ServiceError } from "../../src/service/service-error.ts";
import { POPULATIONS as MESSAGE_POPULATIONS } from "../../src/service/typed-messages.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { HEADERS } from "../../tools/openapi/headers.ts";
import { tableFiles } from "../../tools/tables/table-files.ts";
import { ATTRIBUTE_FIELDS } from "../support/face.ts";
import { codeBlocks, readMarkdown, sectionUnder, tableRows } from "../support/markdown.ts";
import { PERMITTED_SERVICES } from "../support/permission-cases.ts";

test.each(Object.entries(tableFiles()))("%s has what the tables of the code say", (path, content) => {
  expect(readMarkdown(path), 'Run "npm run generate".').toBe(content);
});

test("docs/settings.md lists every variable with its default", () => {
  // Defaults that depend on the machine are described in words.
  const DESCRIBED = ["VISAGE_DATA_DIR", "VISAGE_MODELS_DIR", "VISAGE_WORKERS", "VISAGE_MAX_CONNECTIONS"];
  const defaults = Object.values(readConfig({})).map(defaultText);
  const [variables] = readMarkdown("docs/settings.md").split("\n## ");
  const rows = tableRows(variables!);
  expect(rows.map(([name]) => name)).toEqual(variableNames());
  expect(readMarkdown("docs/settings.md").match(/VISAGE_\w+_FILE/g)).toEqual(fileVariableNames());
  rows.forEach(([name, text], i) => {
    if (!DESCRIBED.includes(name!)) expect([name, text]).toEqual([name, defaults[i]]);
  });
});

function defaultText(value: unknown): string {
  if (Array.isArray(value) && value.length > 0) return value.join(",");
  if (typeof value === "boolean") return value ? "on" : "off";
  if (typeof value === "number" || typeof value === "string") return String(value);
  return typeof value === "object" && value !== null && "port" in value ? String(value.port) : "none";
}

test("docs/privacy.md lists the fields of the audit trail", () => {
  const section = sectionUnder(readMarkdown("docs/privacy.md"), "Audit trail");
  const rows = section.split("\n").filter((line) => line.startsWith("| `"));
  expect(rows).toEqual(Object.entries(AUDIT_FIELDS).map(([name, meaning]) => `| \`${name}\` | ${meaning} |`));
});

test("docs/accounts.md lists the permissions and the operations that need them", () => {
  const methods = PERMITTED_SERVICES.flatMap((service) => [...service.methods]);
  const rows = PERMISSION_NAMES.map((name) => {
    const needed = methods.filter((method) => needsOfMethod(method).includes(name));
    return [name, PERMISSIONS[name].meaning, [...new Set(needed.map((method) => method.name))].join(", ")];
  });
  const section = sectionUnder(readMarkdown("docs/accounts.md"), "Permissions");
  expect(tableRows(section, 1)).toEqual(rows);
});

test("docs/accuracy.md lists the networks as the manifest does", () => {
  const networks = Object.entries(readManifest()).map(([name, { title, licence, source }]) => [
    name,
    title,
    licence,
    source,
  ]);
  expect(tableRows(sectionUnder(readMarkdown("docs/accuracy.md"), "Networks"))).toEqual(networks);
});

test("docs/accuracy.md has the figures of the accuracy report", () => {
  const measured = (text: string) => tableRows(text).map(([, figure]) => figure);
  expect(measured(sectionUnder(readMarkdown("docs/accuracy.md"), "Measured accuracy"))).toEqual(
    measured(readMarkdown("bench/results/accuracy.md")),
  );
});

test("docs/accuracy.md has the false match rates of the accuracy report", () => {
  const stated = tableRows(sectionUnder(readMarkdown("docs/accuracy.md"), "False matches, and for whom"));
  const report = sectionUnder(readMarkdown("bench/results/accuracy.md"), "False matches by population");
  const measured = tableRows(report).map(([people, , , rate]) => [people, rate]);
  expect(stated).toEqual(measured.slice(0, stated.length));
});

test("docs/operations.md names the failures and recoveries that are logged", () => {
  const folder = join(PACKAGE_ROOT, "src");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  const sources = files.map((name) => readFileSync(join(folder, name), "utf8"));
  const rows = tableRows(sectionUnder(readMarkdown("docs/operations.md"), "Log"), 1);
  const events = rows.flatMap(([failure, recovery]) => [failure!, recovery!]).filter(Boolean);
  expect(events.length).toBeGreaterThan(14);
  for (const event of events)
    expect(
      sources.some((text) => text.includes(`event: "${event}"`)),
      event,
    ).toBe(true);
});

test("docs/operations.md lists every metric", async () => {
  const metrics = createMetrics(() => ({
    identity: undefined,
    workers: undefined,
    server: undefined,
    accountsAvailable: undefined,
    erasureDelayed: undefined,
    audit: undefined,
    galleries: undefined,
    droppedLogLines: 0,
  }));
  const exported = [...(await metrics.text()).matchAll(/^# TYPE (visage_\w+)/gm)].map(([, name]) => name);
  const listed = tableRows(sectionUnder(readMarkdown("docs/operations.md"), "Metrics")).map(([name]) => name);
  expect(listed.toSorted()).toEqual(exported.toSorted());
});

test("docs/api.md lists every parameter with its operations", () => {
  const expected = new Map<string, string[]>();
  for (const { path, method } of readRoutes(FaceService).values())
    for (const { name } of method.input.fields)
      expected.set(name, [...(expected.get(name) ?? []), path.slice(1)]);
  const section = sectionUnder(readMarkdown("docs/api.md"), "Requests over plain HTTP");
  const listed = tableRows(section).flatMap(([names, operations]) =>
    names!.split(", ").map((name) => [name, operations!.split(", ").toSorted()] as const),
  );
  const sorted = [...expected].map(([name, operations]) => [name, operations.toSorted()] as const);
  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(sorted));
});

test("docs/api.md lists the operations and the response headers of the OpenAPI document", () => {
  const section = sectionUnder(readMarkdown("docs/api.md"), "Responses");
  const operations = [...readRoutes(FaceService).values()].map(({ path }) => path.slice(1));
  expect(tableRows(section, 0).map(([operation]) => operation)).toEqual(operations);
  expect(tableRows(section, 1).map(([name]) => name)).toEqual(HEADERS.map(({ name }) => name));
});

test("docs/versioning.md has the dates of deprecations", () => {
  const [[, since, until] = []] = tableRows(sectionUnder(readMarkdown("docs/versioning.md"), "Deprecations"));
  expect(`@${Date.parse(since!) / 1000}`).toBe(COMPARE_DEPRECATION.deprecation);
  expect(new Date(until!).toUTCString()).toBe(COMPARE_DEPRECATION.sunset);
});

test("docs/api.md lists the landmark keys in their order", () => {
  const rows = tableRows(sectionUnder(readMarkdown("docs/api.md"), "Landmarks"));
  expect(rows.flatMap(([, , keys]) => keys!.split(", ").flatMap(expandRange))).toEqual(LANDMARK_KEYS);
  const starts = rows.map(([, points, keys]) => [points, keys!.split(", ").flatMap(expandRange).length]);
  let start = 0;
  for (const [points, count] of starts as [string, number][]) {
    expect(points).toBe(`${start}-${start + count - 1}`);
    start += count;
  }
});

/** Expands `name_0 to name_2` into the three names. */
function expandRange(text: string): string[] {
  const [, name, from, to] = /^(\w+?)(\d+) to \1(\d+)$/.exec(text) ?? [];
  if (name === undefined) return [text];
  return Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => `${name}${Number(from) + i}`);
}

test("docs/typed-api.md lists the operations with their paths", () => {
  const rows = tableRows(sectionUnder(readMarkdown("docs/typed-api.md"), "Which API"), 1);
  const listed = rows.map(([operation, path]) => [operation, path!.split(",")[0]]);
  const expected = FaceAnalysisService.methods.map((method) => [
    method.name,
    `POST ${readStreamRoute(method).path}`,
  ]);
  expect(listed.toSorted()).toEqual(expected.toSorted());
});

test("docs/galleries.md has the thresholds by the size of a gallery and the population", () => {
  const section = sectionUnder(readMarkdown("docs/galleries.md"), "Thresholds");
  const populations = [
    "men20To59",
    "men60Up",
    "adults",
    "women20To59",
    "women60Up",
    "age10To19",
    "age3To9",
  ] as const;
  const sizes = [100, 1_000, 4_000, 10_000];
  const expected = sizes.map((size) =>
    populations.map((population) => {
      const { distance, candidatesReason } = thresholdForSize(size, readFalseMatchRates(), [population]);
      return candidatesReason ? "candidates" : distance.toFixed(3);
    }),
  );
  const rows = tableRows(section).slice(0, sizes.length);
  expect(rows.map(([faces]) => Number(faces!.replaceAll(/\D/g, "")))).toEqual(sizes);
  expect(rows.map(([, ...thresholds]) => thresholds)).toEqual(expected);
});

test("docs/typed-api.md lists every feature", () => {
  const rows = tableRows(sectionUnder(readMarkdown("docs/typed-api.md"), "Features"));
  const [, ...features] = FeatureSchema.values.map(({ name }) => name);
  expect(rows.map(([feature]) => feature)).toEqual(features);
  const [, attributes] = rows.find(([feature]) => feature === "FEATURE_ATTRIBUTES")!;
  for (const name of ATTRIBUTE_FIELDS) expect(attributes).toContain(name);
});

test("docs/typed-api.md has the false match rates and thresholds of every population", () => {
  const [rates, calibration] = [readFalseMatchRates(), readCalibration()];
  const rows = tableRows(sectionUnder(readMarkdown("docs/typed-api.md"), "Thresholds"));
  const expected = POPULATIONS.map((population) => [
    `POPULATION_${Population[MESSAGE_POPULATIONS[population]]}`,
    String(calibration.populations[population].people),
    rates.atMatchDistance([population]).falseMatchRate.toExponential(1),
    ...[1e-2, 1e-3, 1e-4, 1e-5].map(
      (rate) => rates.thresholdFor(rate, [population])?.distance.toFixed(3) ?? "none",
    ),
  ]);
  expect(rows.map(([name, , ...figures]) => [name, ...figures])).toEqual(expected);
});

test("docs/typed-api.md lists every component of quality and every issue", () => {
  const rows = tableRows(sectionUnder(readMarkdown("docs/typed-api.md"), "Quality"));
  const [, ...components] = QualityComponentSchema.values.map(({ name }) => name);
  const [, ...issues] = QualityIssueSchema.values.map(({ name }) => name);
  expect(rows.map(([component]) => `QUALITY_COMPONENT_${component}`)).toEqual(components);
  expect(new Set(rows.map(([, issue]) => `QUALITY_ISSUE_${issue}`))).toEqual(new Set(issues));
});

test("docs/typed-api.md shows an error as the service writes it", () => {
  const [example] = codeBlocks(sectionUnder(readMarkdown("docs/typed-api.md"), "Errors"), "json");
  const error = new ServiceError("noFace", undefined, { field: "source" });
  expect(JSON.parse(example!)).toEqual(statusJsonFrom(error));
});

test("docs/api.md states how often different people match at 0.5", () => {
  const section = sectionUnder(readMarkdown("docs/api.md"), "Responses");
  const stated = (["men20To59", "women20To59", "age10To19", "age3To9"] as const).map((population) => {
    const { falseMatchRate } = readFalseMatchRates().atMatchDistance([population]);
    return `one${population === "men20To59" ? " pair" : ""} in ${Number((1 / falseMatchRate).toPrecision(2)).toLocaleString("en")}`;
  });
  for (const text of stated) expect(section).toContain(text);
});
