import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { createGalleryClient, embeddingSource, testPeople } from "../support/galleries.ts";
import { requestFaceVector, startTestService, USER } from "../support/service.ts";
import { findTools } from "../support/tools.ts";

const DEPLOY = join(PACKAGE_ROOT, "deploy");
const read = (path: string) => readFileSync(join(DEPLOY, path), "utf8");

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}
const dashboard = JSON.parse(read("grafana/dashboards/visage.json")) as { readonly panels: readonly Panel[] };
const panels = dashboard.panels.filter(({ type }) => type !== "row");
const targets = panels.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target })));

const { wanted, paths } = findTools("promtool");
const rules = (parse(read("prometheus/alerts.yaml")) as { groups: { rules: { record?: string }[] }[] })
  .groups;
const recorded = rules.flatMap((group) => group.rules.flatMap(({ record }) => record ?? []));

/** Labels that Prometheus adds to every sample. */
const TARGET_LABELS = ["job", "instance"];

/** The metrics of a service after requests, with the labels of each. */
const labelsByMetric = new Map<string, Set<string>>([["up", new Set()]]);

beforeAll(async () => {
  const service = await startTestService({ VISAGE_MAX_CONNECTIONS_PER_ADDRESS: "3" });
  expect(await requestFaceVector(service)).toBe(200);
  expect(await requestFaceVector(service, "nobody")).toBe(401);
  const galleries = createGalleryClient(service, USER);
  const [person] = testPeople(1, 1);
  const source = embeddingSource(person!.values);
  await galleries.createGallery({ galleryId: "staff" });
  await galleries.enrolFace({ galleryId: "staff", personId: "p", faceId: "f", source });
  await galleries.identifyFaces({ galleryId: "staff", source });
  const text = await (await fetch(`http://127.0.0.1:${service.metricsPort}/metrics`)).text();
  for (const [, name, labels = ""] of text.matchAll(/^(\w+)(?:\{(.*)\})? /gm)) {
    const known = labelsByMetric.get(name!) ?? new Set();
    for (const [, label] of labels.matchAll(/(\w+)="/g)) known.add(label!);
    labelsByMetric.set(name!, known);
  }
  await service.close();
});

const KEYWORDS = ["by", "le", "sum", "min", "count", "rate", "increase", "histogram_quantile"];

/** The metrics of an expression, each with the labels that its selector has. */
function selectorsIn(expression: string): { metric: string; labels: string[] }[] {
  const plain = expression.replaceAll(/\bby \([^)]*\)/g, "").replaceAll(/\[[^\]]*\]/g, "");
  const withoutTexts = plain.replaceAll(/"[^"]*"/g, '""');
  return [...withoutTexts.matchAll(/([a-z_][\w:]*)(?:\{([^}]*)\})?/gi)]
    .filter(([, name]) => !KEYWORDS.includes(name!))
    .map(([, metric, matchers = ""]) => ({
      metric: metric!,
      labels: [...matchers.matchAll(/(\w+)\s*[=!]/g)].map(([, label]) => label!),
    }));
}

describe("the dashboard", () => {
  test.each(targets)("queries metrics and labels that exist: $title, $expr", ({ expr, legendFormat }) => {
    const selectors = selectorsIn(expr);
    expect(selectors.length).toBeGreaterThan(0);
    for (const { metric, labels } of selectors) {
      if (recorded.includes(metric)) continue;
      expect([...labelsByMetric.keys()]).toContain(metric);
      for (const label of labels) expect([...TARGET_LABELS, ...labelsByMetric.get(metric)!]).toContain(label);
    }
    const known = [
      ...TARGET_LABELS,
      ...selectors.flatMap(({ metric }) => [...(labelsByMetric.get(metric) ?? [])]),
    ];
    const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names]) => names!.split(/, */));
    const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!);
    for (const label of [...grouped, ...shown]) expect(known).toContain(label);
    // A label that the aggregation drops would be shown as an empty text.
    if (/^(sum|min|count|histogram_quantile)/.test(expr))
      expect(grouped).toEqual(expect.arrayContaining(shown));
  });

  test.skipIf(!wanted)("has queries that Prometheus can parse", () => {
    const folder = mkdtempSync(join(tmpdir(), "visage-dashboard-"));
    const record = (expr: string, i: number) => ({ record: `query${i}`, expr });
    const queries = targets.map(({ expr }) => expr.replaceAll("$__rate_interval", "5m")).map(record);
    writeFileSync(join(folder, "rules.yaml"), stringify({ groups: [{ name: "queries", rules: queries }] }));
    const output = execFileSync(paths.promtool, ["check", "rules", "rules.yaml"], {
      cwd: folder,
      encoding: "utf8",
    });
    rmSync(folder, { recursive: true });
    expect(output).toContain(`SUCCESS: ${targets.length} rules found`);
  });

  test("is provisioned with its data source by the Compose file", () => {
    const compose = parse(read("compose.yaml")) as {
      services: Record<string, { volumes: string[]; networks: string[]; ports: string[] }>;
    };
    const { grafana, prometheus } = compose.services;
    const mounts = Object.fromEntries(
      grafana!.volumes.map((volume) => volume.split(":").toReversed().slice(-2)),
    );
    expect(mounts["/etc/grafana/provisioning"]).toBe("./grafana/provisioning");
    const { providers } = parse(read("grafana/provisioning/dashboards/visage.yaml")) as {
      providers: { options: { path: string } }[];
    };
    expect(mounts[providers[0]!.options.path]).toBe("./grafana/dashboards");
    const { datasources } = parse(read("grafana/provisioning/datasources/prometheus.yaml")) as {
      datasources: { uid: string; url: string }[];
    };
    expect(new Set(panels.map(({ datasource }) => datasource?.uid))).toEqual(new Set([datasources[0]!.uid]));
    expect(new URL(datasources[0]!.url).hostname in compose.services).toBe(true);
    expect(grafana!.networks).toEqual(prometheus!.networks);
    // Loopback only: neither has authentication.
    for (const { ports } of [grafana!, prometheus!]) expect(ports[0]).toMatch(/^127\.0\.0\.1:/);
  });
});
