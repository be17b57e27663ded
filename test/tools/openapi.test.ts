import { readFileSync } from "node:fs";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { readRoutes } from "../../src/rest/routes.ts";
import { ERRORS, type ErrorKind, reasonFromKind } from "../../src/service/error-table.ts";
import { describeService } from "../../tools/openapi/document.ts";
import { faceMetadata } from "../../tools/openapi/face-metadata.ts";

interface Operation {
  readonly deprecated?: boolean;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody: { readonly content: Readonly<Record<string, { readonly schema: { $ref: string } }>> };
  readonly responses: Readonly<Record<string, { readonly $ref?: string }>>;
}
interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties?: object }>>;
    readonly responses: Readonly<
      Record<string, { readonly content: { readonly "application/json": { readonly examples: object } } }>
    >;
  };
}

const text = readFileSync(new URL("../../gen/openapi.json", import.meta.url), "utf8");
const document = JSON.parse(text) as OpenApi;
const routes = [...readRoutes(FaceService).values()];
const errors = Object.entries(ERRORS).map(([kind, row]) => ({
  ...row,
  reason: reasonFromKind(kind as ErrorKind),
}));

describe("the OpenAPI document", () => {
  test.each(routes)("describes $path with files and with text", ({ path, method }) => {
    const { requestBody, deprecated = false } = document.paths[path]!.post;
    // Generators that support only one media type take the first.
    expect(Object.keys(requestBody.content)).toEqual(["multipart/form-data", "application/json"]);
    expect(deprecated).toBe(method.deprecated);
  });

  test.each(routes)("has each field of $path in one place only", ({ path, method }) => {
    const { parameters, requestBody } = document.paths[path]!.post;
    for (const { schema } of Object.values(requestBody.content)) {
      const { properties } = document.components.schemas[schema.$ref.split("/").at(-1)!]!;
      const names = [...Object.keys(properties!), ...parameters.map(({ name }) => name)];
      expect(names).toEqual(method.input.fields.map(({ name }) => name));
    }
  });

  test.each(routes)("lists the statuses of $path", ({ path }) => {
    const statuses = errors.map(({ http }) => String(http));
    const expected = new Set(["200", ...statuses].filter((status) => status !== "404" && status !== "405"));
    expect(new Set(Object.keys(document.paths[path]!.post.responses))).toEqual(expected);
  });

  test("has an example of every error, at its status", () => {
    const examples = Object.entries(document.paths["/match_faces"]!.post.responses).flatMap(
      ([status, { $ref }]) => {
        const response = document.components.responses[$ref?.split("/").at(-1) ?? ""];
        const names = Object.keys(response?.content["application/json"].examples ?? {});
        return names.map((reason) => `${status} ${reason}`);
      },
    );
    const expected = errors.map(({ http, reason }) => `${http} ${reason}`);
    expect(new Set(examples)).toEqual(new Set(expected.filter((error) => !/^40[45]/.test(error))));
  });

  // The generators of openapi-generators.system.test.ts fail on these, or lose fields.
  test("uses no construct that breaks code generators", () => {
    expect(document.openapi).toMatch(/^3\.0\./);
    expect(findFaults(JSON.parse(text) as JsonObject)).toEqual([]);
  });

  test.each<[string, JsonObject, string]>([
    ["a boolean enum", { type: "boolean", enum: [true] }, "a/enum"],
    ["an enum of several types", { enum: ["1", 1] }, "a/enum"],
    ["a constant", { const: "ok" }, "a/const"],
    ["patterns of names", { patternProperties: {} }, "a/patternProperties"],
    ["a reference with other keywords", { $ref: "#/b", description: "?" }, "a/$ref"],
  ])("finds %s", (_name, schema, fault) => {
    expect(findFaults({ a: schema })).toEqual([fault]);
  });

  test("rejects metadata about unknown fields", () => {
    const metadata = { ...faceMetadata("1"), required: ["face.v1.Face.name"] };
    expect(() => describeService(FaceService, metadata)).toThrow(
      "face.v1.FaceService has no face.v1.Face.name.",
    );
  });
});

/** Returns the paths of keywords that code generators do not support. */
function findFaults(value: JsonValue, path: readonly string[] = []): string[] {
  if (typeof value !== "object" || value === null) return [];
  if (["example", "examples"].includes(path.at(-1)!)) return [];
  return Object.entries(value).flatMap(([key, child]) => {
    const here = [...path, key];
    return isFault(key, child, value) ? [here.join("/")] : findFaults(child, here);
  });
}

function isFault(key: string, child: JsonValue, parent: JsonValue): boolean {
  if (key === "enum") return !(child as JsonValue[]).every((item) => typeof item === "string");
  if (key === "$ref") return Object.keys(parent as JsonObject).length > 1;
  return ["const", "patternProperties", "propertyNames", "anyOf", "not"].includes(key);
}
