import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ipaddr from "ipaddr.js";
import { beforeAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { readConfig } from "../../src/config.ts";
import { isPublicAddress } from "../../src/fetch/public-address.ts";
import { PACKAGE_ROOT } from "../../src/model-manifest.ts";
import { findTools, TOOLS_DIR } from "../support/tools.ts";
import { writeSchemas } from "./kubernetes-schemas.ts";

const CHART = join(PACKAGE_ROOT, "deploy/chart");
const VALUES = ["minimal", "full"] as const;
const ADMIN_KEY = "admin-key-of-tests-0123456789abcdef";
const { wanted, paths } = findTools("helm", "kubeconform");

interface Resource {
  readonly kind: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read deep fields of many kinds
  readonly spec: any;
}

function valuesFile(name: string): string {
  return join(import.meta.dirname, "charts", `${name}.yaml`);
}

function helm(...args: string[]) {
  const common = ["--kube-version", "1.36.0", "--namespace", "faces"];
  return spawnSync(paths.helm, ["template", "visage", CHART, ...common, ...args], { encoding: "utf8" });
}

function render(values: string): string {
  const { status, stdout, stderr } = helm("--values", valuesFile(values));
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

function parseResources(rendered: string): Resource[] {
  return parseAllDocuments(rendered).map((document) => document.toJS() as Resource);
}

function findResource(values: string, kind: string): Resource {
  return parseResources(render(values)).find((resource) => resource.kind === kind)!;
}

/** The environment variables of the service. */
function environmentIn(resources: readonly Resource[]): { name: string; value?: string }[] {
  return resources.find(({ kind }) => kind === "Deployment")!.spec.template.spec.containers[0].env;
}

describe.skipIf(!wanted)("the chart", () => {
  test.each(VALUES)("passes helm lint with %s values", (values) => {
    execFileSync(paths.helm, ["lint", "--strict", "--quiet", CHART, "--values", valuesFile(values)]);
  });

  test.each(VALUES)("renders %s values like the snapshot", async (values) => {
    await expect(render(values)).toMatchFileSnapshot(`charts/${values}.rendered.yaml`);
  });

  describe("with the schemas of Kubernetes", () => {
    let schemas: string;
    beforeAll(() => {
      const folder = mkdtempSync(join(tmpdir(), "visage-schemas-"));
      schemas = writeSchemas(join(TOOLS_DIR, "schemas"), folder);
    });

    function kubeconform(input: string) {
      const args = ["-schema-location", schemas, "-summary", "-verbose"];
      return spawnSync(paths.kubeconform, args, { input, encoding: "utf8" });
    }

    test.each(VALUES)("is valid with %s values", (values) => {
      const { status, stdout } = kubeconform(render(values));
      expect(stdout).toMatch(/Invalid: 0, Errors: 0, Skipped: 0/);
      expect(status).toBe(0);
    });

    test("is invalid if a field is misspelt", () => {
      const misspelt = render("minimal").replace("failureThreshold", "failureTreshold");
      expect(kubeconform(misspelt)).toMatchObject({
        status: 1,
        stdout: expect.stringMatching("failureTreshold"),
      });
    });
  });

  test.each([
    ["no database", ["--set", "networkPolicy.enabled=false"], "set database.existingSecret or database.url"],
    [
      "no network address of the database",
      ["--set", "database.existingSecret=x"],
      "set networkPolicy.database.to",
    ],
    ["a setting that the chart controls", ["--set", "settings.VISAGE_PORT=1"], "VISAGE_PORT"],
    [
      "an admin key that is not in a secret",
      ["--set", `settings.VISAGE_ADMIN_KEY=${ADMIN_KEY}`],
      "ADMIN_KEY",
    ],
    ["an admin key that the service would reject", ["--set", "admin.key=short"], "admin.key"],
    ["a setting that is not a variable of the service", ["--set", "settings.PORT=1"], "PORT"],
    ["an unknown value", ["--set", "replica=3"], "replica"],
    ["a gateway without parents", ["--set", "gateway.enabled=true"], "parentRefs"],
  ])("rejects %s", (_, args, message) => {
    expect(helm(...args)).toMatchObject({ status: 1, stderr: expect.stringMatching(message) });
  });

  test.each(VALUES)(
    "has a longer termination grace period than drain and request together, with %s values",
    (values) => {
      const resources = parseResources(render(values));
      const { spec } = resources.find(({ kind }) => kind === "Deployment")!.spec.template;
      const variables = environmentIn(resources);
      const config = readConfig(Object.fromEntries(variables.map(({ name, value }) => [name, value])));
      const neededMs = config.drainMs + config.requestTimeoutMs;
      expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(neededMs / 1000 + 5);
    },
  );

  describe("has the admin key", () => {
    const variableIn = (resources: readonly Resource[]) =>
      environmentIn(resources).find(({ name }) => name === "VISAGE_ADMIN_KEY");
    const reference = (name: string, key: string) => ({
      name: "VISAGE_ADMIN_KEY",
      valueFrom: { secretKeyRef: { name, key } },
    });

    test("from an existing secret, and creates none", () => {
      const resources = parseResources(render("full"));
      expect(variableIn(resources)).toEqual(reference("visage-operator", "admin"));
      const secrets = resources.filter(({ kind }) => kind === "Secret");
      expect(secrets).toMatchObject([{ metadata: { name: "visage-database" } }]);
    });

    test("from a secret of its own, and nowhere else", () => {
      const { stdout } = helm("--values", valuesFile("minimal"), "--set", `admin.key=${ADMIN_KEY}`);
      const resources = parseResources(stdout);
      expect(variableIn(resources)).toEqual(reference("visage-admin", "key"));
      const holders = resources.filter((resource) => JSON.stringify(resource).includes(ADMIN_KEY));
      expect(holders).toMatchObject([{ kind: "Secret", metadata: { name: "visage-admin" } }]);
      expect(holders).toMatchObject([{ stringData: { key: ADMIN_KEY } }]);
    });

    test("only if it is given", () => {
      expect(variableIn(parseResources(render("minimal")))).toBeUndefined();
    });
  });

  test("routes the requests of all gRPC services", () => {
    const { rules } = findResource("full", "GRPCRoute").spec;
    expect(rules).toHaveLength(1);
    expect(rules[0]).not.toHaveProperty("matches");
  });

  test("blocks egress to private addresses except the database and DNS", () => {
    const { egress } = findResource("minimal", "NetworkPolicy").spec;
    const [, , images] = egress;
    expect(egress).toHaveLength(3);
    const blocks: { cidr: string; except: string[] }[] = images.to.map(
      (peer: Resource["spec"]) => peer.ipBlock,
    );
    const isAllowed = (address: string) =>
      blocks.some(({ cidr, except }) => isIn(address, cidr) && !except.some((range) => isIn(address, range)));

    const exceptions = blocks.flatMap(({ except }) => except.map((range) => range.split("/")[0]!));
    expect(exceptions.filter(isPublicAddress)).toEqual([]);
    const special = [
      "127.0.0.1",
      "10.3.0.7",
      "172.31.0.1",
      "192.168.1.1",
      "169.254.169.254",
      "100.100.100.200",
    ];
    const special6 = [
      "::1",
      "fd00::1",
      "fe80::1",
      "::ffff:10.0.0.1",
      "64:ff9b::a00:1",
      "2002:a00:1::",
      "2001::1",
    ];
    expect([...special, ...special6, "168.63.129.16", "224.0.0.1"].filter(isAllowed)).toEqual([]);
    expect(
      ["1.1.1.1", "8.8.8.8", "172.32.0.1", "2606:4700::1"].filter((address) => !isAllowed(address)),
    ).toEqual([]);
  });
});

function isIn(address: string, range: string): boolean {
  const [parsed, [network, bits]] = [ipaddr.parse(address), ipaddr.parseCIDR(range)];
  return parsed.kind() === network.kind() && parsed.match(network, bits);
}

test("the appVersion of the chart is the version of the package", () => {
  const { version } = JSON.parse(readFileSync(join(PACKAGE_ROOT, "package.json"), "utf8")) as {
    version: string;
  };
  const chart = parse(readFileSync(join(CHART, "Chart.yaml"), "utf8")) as { appVersion: string };
  expect(chart.appVersion).toBe(version);
});
