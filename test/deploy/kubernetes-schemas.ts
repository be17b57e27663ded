import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

type Schema = { [key: string]: unknown };

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

interface OpenApi {
  readonly definitions: Readonly<Record<string, Schema>>;
}

interface CustomResource {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

/** The part of monitoring.coreos.com/v1 ServiceMonitor that the chart uses. */
const SERVICE_MONITOR: Schema = {
  type: "object",
  required: ["spec"],
  properties: {
    ...objectOf(["apiVersion", "kind"], { type: "string" }),
    metadata: { type: "object" },
    spec: {
      type: "object",
      required: ["selector", "endpoints"],
      properties: {
        selector: { type: "object", properties: { matchLabels: { type: "object" } } },
        endpoints: {
          type: "array",
          items: {
            type: "object",
            properties: {
              port: { type: "string" },
              interval: { type: "string" },
              relabelings: {
                type: "array",
                items: {
                  type: "object",
                  properties: objectOf(["targetLabel", "replacement"], { type: "string" }),
                },
              },
            },
          },
        },
      },
    },
  },
};

function objectOf(names: readonly string[], schema: Schema): Schema {
  return Object.fromEntries(names.map((name) => [name, schema]));
}

/**
 * Converts the published schemas of Kubernetes and the Gateway API to one JSON schema per kind, for kubeconform. Unknown
 * fields are errors, so that misspelt ones are found. Returns the schema location for kubeconform.
 */
export function writeSchemas(published: string, folder: string): string {
  const write = ({ group, version, kind }: Kind, schema: Schema) => {
    const words = [kind.toLowerCase(), ...group.split(".").slice(0, 1), version].filter(Boolean);
    writeFileSync(join(folder, `${words.join("-")}.json`), JSON.stringify(schema));
  };

  const text = readFileSync(join(published, "swagger.json"), "utf8");
  const { definitions } = toStrictSchema(JSON.parse(text) as Schema) as unknown as OpenApi;
  writeFileSync(join(folder, "definitions.json"), JSON.stringify({ definitions }));
  for (const [name, schema] of Object.entries(definitions))
    for (const kind of (schema["x-kubernetes-group-version-kind"] as Kind[]) ?? [])
      write(kind, { $ref: `definitions.json#/definitions/${name}` });

  for (const file of readdirSync(published).filter((name) => name.endsWith(".yaml"))) {
    const { group, names, versions } = (parse(readFileSync(join(published, file), "utf8")) as CustomResource)
      .spec;
    for (const { name, schema } of versions)
      write({ group, version: name, kind: names.kind }, toStrictSchema(schema.openAPIV3Schema) as Schema);
  }
  const serviceMonitor = { group: "monitoring.coreos.com", version: "v1", kind: "ServiceMonitor" };
  write(serviceMonitor, toStrictSchema(SERVICE_MONITOR) as Schema);
  return join(folder, "{{.ResourceKind}}{{.KindSuffix}}.json");
}

/** Returns a schema that rejects unknown fields and accepts any type for int-or-string. */
function toStrictSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toStrictSchema);
  if (typeof schema !== "object" || schema === null) return schema;
  const own = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, toStrictSchema(value)]));
  const { format, type: _, ...rest } = own;
  if (format === "int-or-string") return rest;
  return own.type === "object" && own.properties ? { additionalProperties: false, ...own } : own;
}
