import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fileVariableNames, readConfig, variableNames } from "../../src/config.ts";
import {
  ADMIN_KEY,
  CHART,
  containerIn,
  environmentIn,
  helmWith,
  parseResources,
  render,
  valuesFile,
  variablesIn,
  wanted,
} from "./chart.ts";

const MIB = 1024 * 1024;
const MINIMAL = readFileSync(valuesFile("minimal"), "utf8");

describe.skipIf(!wanted)("the chart with a values file", () => {
  test.each([
    ["no database", "networkPolicy: { enabled: false }", "set database.existingSecret, database.url or"],
    [
      "no network address of the database",
      "database: { url: postgres://a/b }",
      "set networkPolicy.database.to",
    ],
    ["a setting that the chart controls", "settings: { VISAGE_PORT: 1 }", "VISAGE_PORT"],
    ["an admin key that is not in a secret", `settings: { VISAGE_ADMIN_KEY: ${ADMIN_KEY} }`, "ADMIN_KEY"],
    ["an admin key that the service would reject", "admin: { key: short }", "admin.key"],
    ["a setting that is not a variable of the service", "settings: { PORT: 1 }", "PORT"],
    ["a fraction for a setting", "settings: { VISAGE_WORKERS: 1.5 }", "VISAGE_WORKERS"],
    ["an integer that loses digits", "settings: { VISAGE_TRIAL_USER: 12345678901234567890 }", "TRIAL_USER"],
    ["groups of values that are removed", "tls: null\nsettings: null", "'settings', 'tls'|'tls', 'settings'"],
    ["a gateway without parents", "gateway: { enabled: true }", "parentRefs"],
    [
      "a token of Milvus in its URL",
      "milvus: { url: 'http://root:Milvus@milvus:19530' }",
      "milvus.url|milvus/url",
    ],
    ["a token of Milvus without a URL", "milvus: { existingSecret: milvus }", "existingSecret"],
    ["client certificates without TLS", "tls: { clientCaSecret: clients }", "tls.secret"],
    ["memory in an unknown unit", "resources: { limits: { memory: 2 GB } }", "memory"],
  ])("rejects %s", (_, values, message) => {
    expect(helmWith(values)).toMatchObject({ status: 1, stderr: expect.stringMatching(message) });
  });

  test("reports all unknown values and settings together", () => {
    const { status, stderr } = helmWith(
      "replica: 3\nimage: { tags: a }\ntls: { certificate: a }\nresources: { limit: {} }\n" +
        "settings: { VISAGE_LOG_LEVLE: error, VISAGE_MAX_QUEUE: 5 }",
    );
    expect(status).toBe(1);
    const unknown = ["replica", "tags", "certificate", "limit", "VISAGE_LOG_LEVLE", "VISAGE_MAX_QUEUE"];
    expect(unknown.filter((name) => !stderr.includes(`'${name}'`))).toEqual([]);
  });

  test("knows every setting of the service that it does not set itself", () => {
    const schema = JSON.parse(readFileSync(join(CHART, "values.schema.json"), "utf8"));
    const known = Object.keys(schema.properties.settings.properties);
    const isOwn = (name: string) => !/^OTEL_|^VISAGE_(KEY(_FILE)?|URL)$/.test(name);
    const set = environmentIn(parseResources(render("full"))).map(({ name }) => name);
    const controlled = [...set.filter((name) => !known.includes(name)), "VISAGE_DATA_DIR"];
    const settings = [...variableNames(), ...fileVariableNames()].filter(isOwn);
    expect(known).toEqual(settings.filter((name) => !controlled.includes(name)));
  });

  test("passes large integers and switches of a values file as the service reads them", () => {
    const resources = parseResources(render("full"));
    const config = readConfig(variablesIn(resources));
    expect(config).toMatchObject({ maxImageBytes: 20_971_520, galleryMemoryBytes: 2 ** 31, legacy: true });
    expect(JSON.stringify(resources)).not.toMatch(/\de\+/);
    const large = "autoscaling: { enabled: false, minReplicas: 1 }\nreplicas: 1000000";
    expect(parseResources(helmWith(`${MINIMAL}\n${large}`).stdout)).toContainEqual(
      expect.objectContaining({ kind: "Deployment", spec: expect.objectContaining({ replicas: 1_000_000 }) }),
    );
  });

  describe("plans memory", () => {
    const memoryWith = (values: string) => {
      const { stdout, stderr } = helmWith(`${MINIMAL}\n${values}`);
      if (stderr) return stderr;
      const { resources } = containerIn(parseResources(stdout));
      return [resources.requests.memory, resources.limits.memory].map((text: string) =>
        Number.parseInt(text, 10),
      );
    };
    const [request, limit] = (wanted ? memoryWith("") : []) as number[];

    test("for the settings of the service by default", () => {
      const { galleryMemoryBytes, maxBodyBytesInFlight } = readConfig({});
      expect(request).toBeGreaterThan(galleryMemoryBytes / MIB + 2 * 197);
      expect(limit! - request!).toBeGreaterThan(maxBodyBytesInFlight / MIB);
    });

    test("for more workers, larger galleries, bodies and images", () => {
      const [more, moreAtMost] = memoryWith("resources: { limits: { cpu: 4 } }") as number[];
      expect((more! - request!) / 2).toBeGreaterThan(197);
      expect(memoryWith("settings: { VISAGE_WORKERS: 4 }")).toEqual([more, moreAtMost]);
      expect(memoryWith("settings: { VISAGE_GALLERY_MEMORY_BYTES: 3221225472 }")).toEqual([
        request! + 2048,
        limit! + 2048,
      ]);
      expect(memoryWith("settings: { VISAGE_MAX_BODY_BYTES_IN_FLIGHT: 536870912 }")).toEqual([
        request!,
        limit! + 256,
      ]);
      const [same, larger] = memoryWith("settings: { VISAGE_MAX_IMAGE_PIXELS: 80000000 }") as number[];
      expect(same).toBe(request);
      expect(larger).toBeGreaterThan(limit!);
    });

    test("without galleries if Milvus searches them", () => {
      const milvus = "milvus: { url: 'http://milvus:19530' }\nnetworkPolicy: { enabled: false }";
      const [less, lessAtMost] = memoryWith(milvus) as number[];
      expect([request! - less!, limit! - lessAtMost!]).toEqual([924, 924]);
      expect(memoryWith(`${milvus}\nresources: { limits: { memory: 1Gi } }`)).toMatch(
        /2 workers .*, Milvus, /,
      );
    });

    test.each([
      [
        "resources: { limits: { memory: 2Gi } }",
        /resources\.limits\.memory is 2Gi, but a pod needs \d+Mi: 2 workers/,
      ],
      [
        "resources: { limits: { memory: 2147483648 } }",
        "resources.limits.memory is 2147483648, but a pod needs",
      ],
      ["resources: { requests: { memory: 1G } }", "resources.requests.memory is 1G, but a pod needs"],
      [
        "resources: { limits: { memory: 4Gi } }\nsettings: { VISAGE_GALLERY_MEMORY_BYTES: 4294967296 }",
        "VISAGE_GALLERY_MEMORY_BYTES 4096Mi",
      ],
      ["resources: { limits: { cpu: null } }", "set resources.limits.cpu or settings.VISAGE_WORKERS"],
    ])("and rejects what does not fit: %s", (values, message) => {
      expect(memoryWith(values)).toMatch(message);
    });

    test.each(["resources: { limits: { memory: 8Gi } }", "resources: { limits: { memory: 8589934592 } }"])(
      "and accepts what fits: %s",
      (values) => {
        expect(memoryWith(values)).toEqual([request, expect.any(Number)]);
      },
    );
  });
});
