import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { findTools } from "../support/tools.ts";

export const CHART = join(PACKAGE_ROOT, "deploy/chart");
export const ADMIN_KEY = "admin-key-of-tests-0123456789abcdef";
export const { wanted, paths } = findTools("helm", "kubeconform");

export interface Resource {
  readonly kind: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read deep fields of many kinds
  readonly spec: any;
}

export function valuesFile(name: string): string {
  return join(import.meta.dirname, "charts", `${name}.yaml`);
}

export function helm(...args: string[]) {
  const common = ["--kube-version", "1.36.0", "--namespace", "faces"];
  return spawnSync(paths.helm, ["template", "visage", CHART, ...common, ...args], { encoding: "utf8" });
}

/** Renders the chart with the text of a values file. */
export function helmWith(values: string) {
  const file = join(mkdtempSync(join(tmpdir(), "visage-values-")), "values.yaml");
  writeFileSync(file, values);
  return helm("--values", file);
}

export function render(values: string): string {
  const { status, stdout, stderr } = helm("--values", valuesFile(values));
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

export function parseResources(rendered: string): Resource[] {
  return parseAllDocuments(rendered).map((document) => document.toJS() as Resource);
}

export function findResource(values: string, kind: string): Resource {
  return parseResources(render(values)).find((resource) => resource.kind === kind)!;
}

export function containerIn(resources: readonly Resource[]): Resource["spec"] {
  return resources.find(({ kind }) => kind === "Deployment")!.spec.template.spec.containers[0];
}

/** The environment variables of the service. */
export function environmentIn(resources: readonly Resource[]): { name: string; value?: string }[] {
  return containerIn(resources).env;
}

/** The environment variables of the service by name; undefined for those from a secret. */
export function variablesIn(resources: readonly Resource[]): Record<string, string | undefined> {
  return Object.fromEntries(environmentIn(resources).map(({ name, value }) => [name, value]));
}
