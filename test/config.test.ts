import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigError, readConfig } from "../src/config.ts";
import { DEFAULT_MODELS_DIR } from "../src/core/index.ts";

describe("readConfig", () => {
  it.each([{}, { VISAGE_MODELS_DIR: "" }])("uses the default for an unset or empty variable: %j", (env) => {
    expect(readConfig(env)).toMatchObject({ modelsDir: DEFAULT_MODELS_DIR });
  });

  it("resolves a folder to an absolute path", () => {
    expect(readConfig({ VISAGE_MODELS_DIR: "/srv/models" }).modelsDir).toBe("/srv/models");
    expect(readConfig({ VISAGE_MODELS_DIR: "models" }).modelsDir).toBe(resolve("models"));
  });

  it.each([
    "mysql://ann:secret@host/accounts",
    "ann:secret@host/accounts",
    "postgres://ann:secret@[host/accounts",
  ])("rejects the database URL %s without repeating its password", (url) => {
    const read = () => readConfig({ VISAGE_DATABASE_URL: url });
    expect(read).toThrow(/^VISAGE_DATABASE_URL must be a URL such as postgres:/);
    expect(read).not.toThrow(/secret/);
  });

  it.each([
    ["?sslmode=prefer", "must have one of the sslmodes disable, require, verify-ca, verify-full"],
    ["?sslmode=Require", "must have one of the sslmodes"],
    ["?sslmode=", "must have one of the sslmodes"],
    ["?sslmode=verify-ca", "must have sslrootcert with sslmode=verify-ca"],
  ])("rejects a database URL with %s", (parameters, fault) => {
    const read = () =>
      readConfig({ VISAGE_DATABASE_URL: `postgres://ann:secret@host/accounts${parameters}` });
    expect(read).toThrow(`VISAGE_DATABASE_URL ${fault}`);
    expect(read).not.toThrow(/secret/);
  });

  it.each(["postgres://ann:secret@host:5432/accounts?sslmode=require", "postgresql:///accounts?host=/run"])(
    "accepts the database URL %s",
    (url) => {
      expect(readConfig({ VISAGE_DATABASE_URL: url }).databaseUrl).toBe(url);
    },
  );

  it.each([" ", "\t", " 8080", "8080 ", "8080\n", "1e3", "0x10", "80.0", "+80", "-0", "٣"])(
    "rejects the port %j and names the variable",
    (port) => {
      expect(() => readConfig({ VISAGE_PORT: port })).toThrow(/^VISAGE_PORT must /);
      expect(() => readConfig({ VISAGE_METRICS_PORT: port })).toThrow(/^VISAGE_METRICS_PORT must /);
    },
  );

  it.each(["VISAGE_HOST", "VISAGE_DATA_DIR", "VISAGE_TRIAL_USER", "VISAGE_LEGACY", "OTEL_SERVICE_NAME"])(
    "rejects white space around the value of %s",
    (name) => {
      expect(() => readConfig({ [name]: "on " })).toThrow(`${name} must not start or end with white space`);
      expect(() => readConfig({ [name]: " " })).toThrow(`${name} must not start or end with white space`);
    },
  );

  it("accepts a metrics port or off", () => {
    expect(readConfig({}).metricsPort).toEqual({ port: 9464, isDefault: true });
    expect(readConfig({ VISAGE_METRICS_PORT: "9464" }).metricsPort).toEqual({ port: 9464, isDefault: false });
    expect(readConfig({ VISAGE_METRICS_PORT: "off" }).metricsPort).toBeUndefined();
  });

  it.each(["jpeg,png", "webp, png,jpeg", "jpeg,png,webp,webp"])("accepts the image formats %s", (text) => {
    const isWebp = text.includes("webp");
    expect(readConfig({ VISAGE_IMAGE_FORMATS: text }).imageFormats).toEqual(
      isWebp ? ["jpeg", "png", "webp"] : ["jpeg", "png"],
    );
  });

  it.each([
    ["webp", "must include jpeg"],
    ["jpeg", "must include png"],
    ["jpeg,png,gif", 'must be a list of jpeg, png, webp, and "gif" is none of them'],
    ["jpeg,png,", 'must be a list of jpeg, png, webp, and "" is none of them'],
    ["JPEG,PNG", 'must be a list of jpeg, png, webp, and "JPEG" is none of them'],
  ])("rejects the image formats %s", (text, fault) => {
    expect(() => readConfig({ VISAGE_IMAGE_FORMATS: text })).toThrow(`VISAGE_IMAGE_FORMATS ${fault}`);
  });

  it.each([
    [undefined, ["cpu"]],
    ["cpu", ["cpu"]],
    ["tensorrt, cuda,cpu", ["tensorrt", "cuda", "cpu"]],
    ["cuda,cuda", ["cuda"]],
  ])("accepts the execution providers %s", (text, providers) => {
    expect(readConfig({ VISAGE_ORT_PROVIDERS: text }).ortProviders).toEqual(providers);
  });

  it.each([
    ["gpu", 'must be a list of cpu, cuda, tensorrt, webgpu, dml, coreml, qnn, and "gpu" is none of them'],
    ["cuda,", 'must be a list of cpu, cuda, tensorrt, webgpu, dml, coreml, qnn, and "" is none of them'],
    ["cpu,cuda", "must have cpu last"],
    ["cpu,cuda,cpu", "must have cpu last"],
  ])("rejects the execution providers %s", (text, fault) => {
    expect(() => readConfig({ VISAGE_ORT_PROVIDERS: text })).toThrow(`VISAGE_ORT_PROVIDERS ${fault}`);
  });

  it("accepts a batch size of 1 to 16", () => {
    const batchSizeOf = (text: string) => readConfig({ VISAGE_BATCH_SIZE: text }).batchSize;
    expect([readConfig({}).batchSize, batchSizeOf("1"), batchSizeOf("16")]).toEqual([2, 1, 16]);
    for (const text of ["0", "17", "2.5"])
      expect(() => batchSizeOf(text)).toThrow(/^VISAGE_BATCH_SIZE must be an integer from 1 to 16/);
  });

  it("parses the set variables and uses defaults for the others", () => {
    const { port, workers, host } = readConfig({ VISAGE_PORT: "0", VISAGE_HOST: "::" });
    expect({ port, workers, host }).toEqual({ port: 0, workers: readConfig({}).workers, host: "::" });
  });

  it("reports all faults together, each with its variable", () => {
    expect(() => readConfig({ VISAGE_TLS_CLIENT_CA: "ca.pem" })).toThrow(
      "VISAGE_TLS_CLIENT_CA requires VISAGE_TLS_CERT and VISAGE_TLS_KEY",
    );
    const read = () => readConfig({ VISAGE_PORT: "x", VISAGE_WORKERS: "-1", VISAGE_TLS_KEY: "key.pem" });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(
      /^VISAGE_TLS_CERT and VISAGE_TLS_KEY must be set together; VISAGE_PORT must be an integer from 0 to 65535, not "x"; VISAGE_WORKERS must be /,
    );
  });

  it.each([
    "milvus.example.org:19530",
    "tcp://milvus:19530",
    "https://root:secret@milvus:19530",
    "https://milvus:19530/path",
    "https://milvus:19530?secret=1",
  ])("rejects the Milvus URL %s without repeating its password", (url) => {
    const read = () => readConfig({ VISAGE_MILVUS_URL: url });
    expect(read).toThrow(/^VISAGE_MILVUS_URL must be a URL such as https:/);
    expect(read).not.toThrow(/secret/);
  });

  it("searches galleries in memory, or by Milvus if it has a URL", () => {
    expect(readConfig({})).toMatchObject({
      galleryEngine: "memory",
      milvusDatabase: "default",
      milvusIndex: "FLAT",
    });
    expect(() => readConfig({ VISAGE_GALLERY_ENGINE: "milvus" })).toThrow(
      "VISAGE_GALLERY_ENGINE=milvus requires VISAGE_MILVUS_URL",
    );
    expect(() => readConfig({ VISAGE_GALLERY_ENGINE: "faiss", VISAGE_MILVUS_INDEX: "flat" })).toThrow(
      /VISAGE_GALLERY_ENGINE must be one of memory, milvus.*VISAGE_MILVUS_INDEX must be one of FLAT/,
    );
    const env = { VISAGE_GALLERY_ENGINE: "milvus", VISAGE_MILVUS_URL: "https://milvus:19530/" };
    const config = readConfig({ ...env, VISAGE_MILVUS_CA: "ca.pem", VISAGE_MILVUS_INDEX: "HNSW" });
    const expected = { galleryEngine: "milvus", milvusUrl: "https://milvus:19530", milvusIndex: "HNSW" };
    expect(config).toMatchObject({ ...expected, milvusCa: resolve("ca.pem") });
  });

  it("rejects unknown variables with the other faults and names the nearest known one", () => {
    const read = () =>
      readConfig({
        VISAGE_PROT: "80",
        VISAGE_WORKERS: "0",
        VISAGE_DATABSE_URL: "postgres://ann:secret@host/accounts",
        VISAGE_QUEUE: "16",
      });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(
      /^VISAGE_PROT is not a setting; did you mean VISAGE_PORT\?; VISAGE_DATABSE_URL is not a setting; did you mean VISAGE_DATABASE_URL\?; VISAGE_QUEUE is not a setting; VISAGE_WORKERS must be /,
    );
    expect(read).not.toThrow(/secret/);
  });

  it.each([{ VISAGE_OLD: "" }, { VISAGE_OLD: undefined }, { VISAGE: "1" }, { OTEL_PROPAGATORS: "b3" }])(
    "ignores a variable that is empty or not of ours: %j",
    (env) => {
      expect(readConfig(env)).toEqual(readConfig({}));
    },
  );

  it("ignores what Kubernetes adds for services whose names start with visage", () => {
    const links = {
      VISAGE_DB_SERVICE_HOST: "10.0.0.7",
      VISAGE_DB_SERVICE_PORT: "5432",
      VISAGE_DB_SERVICE_PORT_SQL: "5432",
      VISAGE_DB_PORT: "tcp://10.0.0.7:5432",
      VISAGE_DB_PORT_5432_TCP: "tcp://10.0.0.7:5432",
      VISAGE_DB_PORT_5432_TCP_ADDR: "10.0.0.7",
      VISAGE_DB_PORT_5432_TCP_PORT: "5432",
      VISAGE_DB_PORT_5432_TCP_PROTO: "tcp",
    };
    expect(readConfig(links)).toEqual(readConfig({}));
    expect(() => readConfig({ VISAGE_DB_PORT: "5432" })).toThrow("VISAGE_DB_PORT is not a setting");
    expect(() => readConfig({ VISAGE_PORT: "tcp://10.0.0.7:80" })).toThrow(/^VISAGE_PORT must be an integer/);
  });

  it("is frozen", () => {
    expect(readConfig({})).toSatisfy(Object.isFrozen);
  });

  describe("a secret in a file", () => {
    const FILES = {
      VISAGE_DATABASE_URL: ["databaseUrl", "postgres://ann:secret@host/accounts"],
      VISAGE_TEMPLATE_KEY: ["templateKey", `${"ab".repeat(32)}\n${"cd".repeat(32)}`],
      VISAGE_MILVUS_TOKEN: ["milvusToken", "root:secret-password"],
      VISAGE_TRIAL_USER: ["trialUser", "secret-key-of-a-user"],
      VISAGE_ADMIN_KEY: ["adminKey", "secret-admin-key-0123456789abcdef"],
      VISAGE_KEY: ["key", "secret-key-of-a-user"],
    } as const;
    const write = (content: string) => {
      const path = join(mkdtempSync(join(tmpdir(), "visage-secrets-")), "secret");
      writeFileSync(path, content);
      return path;
    };

    it.each(Object.entries(FILES))("is read for %s, without its line break", (name, [key, value]) => {
      for (const end of ["", "\n", "\r\n"])
        expect(readConfig({ [`${name}_FILE`]: write(value + end) })[key]).toBe(value);
    });

    it("is validated like a variable, without repeating it", () => {
      const read = () => readConfig({ VISAGE_ADMIN_KEY_FILE: write("secret\n\n") });
      expect(read).toThrow(/^VISAGE_ADMIN_KEY must /);
      expect(read).not.toThrow(/secret/);
    });

    it.each([
      [{ VISAGE_KEY_FILE: "/no/such/file" }, "VISAGE_KEY_FILE names a file that cannot be read (ENOENT)"],
      [{ VISAGE_KEY_FILE: "/" }, "VISAGE_KEY_FILE names a file that cannot be read (EISDIR)"],
      [{ VISAGE_KEY_FILE: write("\n") }, "VISAGE_KEY_FILE names an empty file"],
      [
        { VISAGE_KEY_FILE: write("secret"), VISAGE_KEY: "some-key-of-a-user" },
        "VISAGE_KEY_FILE must not be set together with VISAGE_KEY",
      ],
      [{ VISAGE_PORT_FILE: write("8080") }, "VISAGE_PORT_FILE is not a setting"],
    ])("is rejected: %j", (env, fault) => {
      expect(() => readConfig({ ...env, VISAGE_WORKERS: "none" })).toThrow(fault);
      expect(() => readConfig({ ...env, VISAGE_WORKERS: "none" })).toThrow("VISAGE_WORKERS must be");
    });
  });
});
