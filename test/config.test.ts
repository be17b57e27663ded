import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigError, readConfig, readSettings, type Settings } from "../src/config.ts";
import { DEFAULT_MODELS_DIR } from "../src/model-manifest.ts";

describe("readConfig", () => {
  it.each([{}, { VISAGE_MODELS_DIR: "" }])("has a default for what is unset or empty: %j", (env) => {
    expect(readConfig(env)).toMatchObject({ modelsDir: DEFAULT_MODELS_DIR });
  });

  it("takes a folder, as an absolute path", () => {
    expect(readConfig({ VISAGE_MODELS_DIR: "/srv/models" }).modelsDir).toBe("/srv/models");
    expect(readConfig({ VISAGE_MODELS_DIR: "models" }).modelsDir).toBe(resolve("models"));
  });

  it.each([
    "mysql://ann:secret@host/accounts",
    "ann:secret@host/accounts",
    "postgres://ann:secret@[host/accounts",
  ])("refuses the database address %s without repeating it, as it may hold a password", (url) => {
    const read = () => readConfig({ VISAGE_DATABASE_URL: url });
    expect(read).toThrow(/^VISAGE_DATABASE_URL must be an address such as postgres:/);
    expect(read).not.toThrow(/secret/);
  });

  it.each(["postgres://ann:secret@host:5432/accounts?sslmode=require", "postgresql:///accounts?host=/run"])(
    "takes the database address %s",
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
      expect(() => readConfig({ [name]: "on " })).toThrow(`${name} must not begin or end with white space`);
      expect(() => readConfig({ [name]: " " })).toThrow(`${name} must not begin or end with white space`);
    },
  );

  it("takes a port for the metrics, or none", () => {
    expect(readConfig({}).metricsPort).toEqual({ port: 9464, isDefault: true });
    expect(readConfig({ VISAGE_METRICS_PORT: "9464" }).metricsPort).toEqual({ port: 9464, isDefault: false });
    expect(readConfig({ VISAGE_METRICS_PORT: "off" }).metricsPort).toBeUndefined();
  });

  it("cannot be changed afterwards", () => {
    expect(readConfig({})).toSatisfy(Object.isFrozen);
  });
});

describe("readSettings", () => {
  interface Ports {
    readonly port: number;
    readonly adminPort: number;
    readonly host: string;
  }
  const port = (text: string) => {
    if (!/^\d+$/.test(text)) throw new Error("must be a whole number");
    return Number(text);
  };
  const settings: Settings<Ports> = {
    port: { name: "VISAGE_PORT", default: 8080, parse: port },
    adminPort: { name: "VISAGE_ADMIN_PORT", default: 9090, parse: port },
    host: { name: "VISAGE_HOST", default: "localhost", parse: (text) => text },
  };

  it("parses what is set and leaves the rest at its default", () => {
    expect(readSettings(settings, { VISAGE_PORT: "0", VISAGE_HOST: "::" })).toEqual({
      port: 0,
      adminPort: 9090,
      host: "::",
    });
  });

  it("reports all faults together, each by its variable", () => {
    const read = () => readSettings(settings, { VISAGE_PORT: "x", VISAGE_ADMIN_PORT: "-1" });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(/^VISAGE_PORT must be a whole number; VISAGE_ADMIN_PORT must be a whole number$/);
  });
});
