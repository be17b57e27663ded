import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ipaddr from "ipaddr.js";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readConfig } from "../../src/config.ts";
import { isPublicAddress } from "../../src/fetch/public-address.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { TOOLS_DIR } from "../support/tools.ts";
import {
  ADMIN_KEY,
  CHART,
  containerIn,
  environmentIn,
  findResource,
  helmWith,
  parseResources,
  paths,
  type Resource,
  render,
  valuesFile,
  variablesIn,
  wanted,
} from "./chart.ts";
import { writeSchemas } from "./kubernetes-schemas.ts";

const VALUES = ["minimal", "full"] as const;

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

  test("serves and probes over TLS with the certificate of a secret", () => {
    const resources = parseResources(render("full"));
    const container = containerIn(resources);
    const { tlsCert, tlsKey, tlsClientCa } = readConfig(variablesIn(resources));
    expect([tlsCert, tlsKey, tlsClientCa].map((path) => secretMountedAt(path, resources))).toEqual([
      "visage-pods-tls",
      "visage-pods-tls",
      "visage-clients",
    ]);
    const probes = ["startupProbe", "readinessProbe", "livenessProbe"];
    const schemes = (from: Resource["spec"]) => probes.map((probe) => from[probe].httpGet.scheme);
    expect(schemes(container)).toEqual(["HTTPS", "HTTPS", "HTTPS"]);
    expect(schemes(containerIn(parseResources(render("minimal"))))).toEqual(["HTTP", "HTTP", "HTTP"]);
    const ports = resources.filter(({ kind }) => kind === "Service").flatMap(({ spec }) => spec.ports);
    expect(ports.map(({ appProtocol }: Resource["spec"]) => appProtocol)).not.toContain("kubernetes.io/h2c");
  });

  describe("connects Milvus", () => {
    test("with its token and authorities from secrets", () => {
      const resources = parseResources(render("full"));
      expect(readConfig(variablesIn(resources))).toMatchObject({
        galleryEngine: "milvus",
        milvusUrl: "https://milvus.example.org:19530",
        milvusDatabase: "faces",
      });
      const { VISAGE_MILVUS_CA: ca } = variablesIn(resources);
      expect(secretMountedAt(ca, resources)).toBe("milvus-ca");
      const valueFrom = { secretKeyRef: { name: "visage-milvus", key: "credentials" } };
      expect(environmentIn(resources)).toContainEqual({ name: "VISAGE_MILVUS_TOKEN", valueFrom });
    });

    test("through the network policy, and requires its address there", () => {
      const { egress } = findResource("full", "NetworkPolicy").spec;
      const rule = { to: [{ ipBlock: { cidr: "10.3.0.8/32" } }], ports: [{ port: 443 }] };
      expect(egress).toContainEqual(rule);
      const minimal = readFileSync(valuesFile("minimal"), "utf8");
      const { status, stderr } = helmWith(`${minimal}\nmilvus: { url: "http://milvus:19530" }`);
      expect([status, stderr]).toEqual([1, expect.stringContaining("set networkPolicy.milvus.to")]);
    });

    test("only if it has a URL", () => {
      const variables = variablesIn(parseResources(render("minimal")));
      expect(Object.keys(variables).filter((name) => /MILVUS|ENGINE/.test(name))).toEqual([]);
      expect(readConfig(variables).galleryEngine).toBe("memory");
    });
  });

  test("takes the database URL from a file instead of a secret", () => {
    const values = `settings: { VISAGE_DATABASE_URL_FILE: /etc/database/url }\nnetworkPolicy: { enabled: false }`;
    const variables = variablesIn(parseResources(helmWith(values).stdout));
    expect(variables).toMatchObject({ VISAGE_DATABASE_URL_FILE: "/etc/database/url" });
    expect(variables).not.toHaveProperty("VISAGE_DATABASE_URL");
  });

  test.each(VALUES)(
    "has a longer termination grace period than drain and request together, with %s values",
    (values) => {
      const resources = parseResources(render(values));
      const { spec } = resources.find(({ kind }) => kind === "Deployment")!.spec.template;
      const config = readConfig(variablesIn(resources));
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
      const { stdout } = helmWith(
        `${readFileSync(valuesFile("minimal"), "utf8")}\nadmin: { key: ${ADMIN_KEY} }`,
      );
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

  test("has the key of templates from an existing secret, and no one by default", () => {
    const variablesOf = (values: string) =>
      environmentIn(parseResources(render(values))).filter(({ name }) => name === "VISAGE_TEMPLATE_KEY");
    const valueFrom = { secretKeyRef: { name: "visage-templates", key: "keys" } };
    expect(variablesOf("full")).toEqual([{ name: "VISAGE_TEMPLATE_KEY", valueFrom }]);
    expect(variablesOf("minimal")).toEqual([]);
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

/** Returns the name of the secret that has a file of the container. */
function secretMountedAt(path: string | undefined, resources: readonly Resource[]): string | undefined {
  const { volumes } = resources.find(({ kind }) => kind === "Deployment")!.spec.template.spec;
  const mount = containerIn(resources).volumeMounts.find(({ mountPath }: Resource["spec"]) =>
    path?.startsWith(`${mountPath}/`),
  );
  return volumes.find(({ name }: Resource["spec"]) => name === mount?.name)?.secret?.secretName;
}

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
