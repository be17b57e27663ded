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

/**
 * Writes the JSON schemas that kubeconform reads, one a kind, from what Kubernetes and the Gateway API publish.
 * They know no fields but their own, so that a misspelt one is an error. Gives the location to tell kubeconform.
 */
export function writeSchemas(published: string, folder: string): string {
  const write = ({ group, version, kind }: Kind, schema: Schema) => {
    const words = [kind.toLowerCase(), ...group.split(".").slice(0, 1), version].filter(Boolean);
    writeFileSync(join(folder, `${words.join("-")}.json`), JSON.stringify(schema));
  };

  const text = readFileSync(join(published, "swagger.json"), "utf8");
  const { definitions } = strict(JSON.parse(text) as Schema) as unknown as OpenApi;
  writeFileSync(join(folder, "definitions.json"), JSON.stringify({ definitions }));
  for (const [name, schema] of Object.entries(definitions))
    for (const kind of (schema["x-kubernetes-group-version-kind"] as Kind[]) ?? [])
      write(kind, { $ref: `definitions.json#/definitions/${name}` });

  for (const file of readdirSync(published).filter((name) => name.endsWith(".yaml"))) {
    const { group, names, versions } = (parse(readFileSync(join(published, file), "utf8")) as CustomResource)
      .spec;
    for (const { name, schema } of versions)
      write({ group, version: name, kind: names.kind }, strict(schema.openAPIV3Schema) as Schema);
  }
  return join(folder, "{{.ResourceKind}}{{.KindSuffix}}.json");
}

/** The same schema without room for unknown fields, and with numbers where both they and text are meant. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict);
  if (typeof schema !== "object" || schema === null) return schema;
  const own = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, strict(value)]));
  const { format, type: _, ...rest } = own;
  if (format === "int-or-string") return rest;
  return own.type === "object" && own.properties ? { additionalProperties: false, ...own } : own;
}
