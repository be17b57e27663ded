import { readFileSync } from "node:fs";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { AccountService } from "../../gen/ts/visage/v1/account_pb.ts";
import { AdminService } from "../../gen/ts/visage/v1/admin_pb.ts";
import { FaceAnalysisService } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import { readRoutes, readStreamRoute } from "../../src/rest/routes.ts";
import { ERRORS, reasonFromKind } from "../../src/service/error-table.ts";
import { createDocument } from "../../tools/openapi/document.ts";
import { documentMetadata } from "../../tools/openapi/document-metadata.ts";
import { errorsOf } from "../../tools/openapi/errors.ts";
import { faceMetadata } from "../../tools/openapi/face-metadata.ts";
import { galleryMetadata } from "../../tools/openapi/gallery-metadata.ts";
import { typedMetadata } from "../../tools/openapi/typed-metadata.ts";

interface Operation {
  readonly operationId: string;
  readonly deprecated?: boolean;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody: { readonly content: Readonly<Record<string, { readonly schema: { $ref: string } }>> };
  readonly responses: Readonly<Record<string, { readonly $ref?: string }>>;
}
interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: {
    readonly schemas: Readonly<
      Record<string, { readonly required?: readonly string[]; readonly properties?: object }>
    >;
    readonly responses: Readonly<
      Record<string, { readonly content: { readonly "application/json": { readonly examples: object } } }>
    >;
  };
}

const text = readFileSync(new URL("../../gen/openapi.json", import.meta.url), "utf8");
const document = JSON.parse(text) as OpenApi;
const faceRoutes = [...readRoutes(FaceService).values()];
const typedRoutes = [...readRoutes(FaceAnalysisService).values()];
const routes = [...faceRoutes, ...typedRoutes];
/** The errors of every operation on faces, such as `422 NO_FACE`. */
const errors = errorsOf("FaceService").map((kind) => `${ERRORS[kind].http} ${reasonFromKind(kind)}`);

describe("the OpenAPI document", () => {
  test.each(routes)("describes $path with files and with JSON", ({ path, method }) => {
    const { requestBody, deprecated = false } = document.paths[path]!.post;
    // Generators that support only one media type take the first.
    expect(Object.keys(requestBody.content)).toEqual(["multipart/form-data", "application/json"]);
    expect(deprecated).toBe(method.deprecated);
  });

  test.each(faceRoutes)("has each field of $path in one place only", ({ path, method }) => {
    const { parameters, requestBody } = document.paths[path]!.post;
    for (const { schema } of Object.values(requestBody.content)) {
      const names = [...propertiesOf(schema), ...parameters.map(({ name }) => name)];
      expect(names).toEqual(method.input.fields.map(({ name }) => name));
    }
  });

  test.each(typedRoutes)(
    "has each field of $path once with files, and in a JSON body",
    ({ path, method }) => {
      const { parameters, requestBody } = document.paths[path]!.post;
      const fields = method.input.fields.map(({ jsonName }) => jsonName);
      const files = propertiesOf(requestBody.content["multipart/form-data"]!.schema);
      expect([...files, ...parameters.map(({ name }) => name)]).toEqual(fields);
      expect(propertiesOf(requestBody.content["application/json"]!.schema)).toEqual(fields);
    },
  );

  test("describes a line of the stream, and the errors before the first line", () => {
    const { requestBody, responses } =
      document.paths[readStreamRoute(FaceAnalysisService.method.analyzeImages).path]!.post;
    expect(requestBody.content).toMatchObject({
      "application/x-ndjson": {
        schema: { type: "string", format: "binary" },
        "x-itemSchema": { $ref: "#/components/schemas/V1AnalyzeImagesLine" },
      },
    });
    expect(responses[200]).toMatchObject({
      content: {
        "application/x-ndjson": { "x-itemSchema": { $ref: "#/components/schemas/V1AnalyzeImagesResult" } },
      },
    });
    // An image without a face is an error in a line, not of the stream.
    expect(Object.keys(responses)).not.toContain("422");
  });

  test("requires the fields that the proto declares as required, and those that responses always have", () => {
    const required = (name: string) => document.components.schemas[name]!.required;
    expect(required("V1AnalyzeImageRequest")).toEqual(["image"]);
    expect(required("V1CompareFacesRequest")).toEqual(["source", "target"]);
    expect(required("V1AnalyzeImagesLine")).toEqual(["request"]);
    expect(required("V1AnalyzeImagesResult")).toBeUndefined();
    expect(required("V1Face")).toEqual(["box", "landmarks", "presence"]);
  });

  test("has the names of enum values, without the unspecified one", () => {
    expect(document.components.schemas.V1Gender).toMatchObject({
      type: "string",
      enum: ["GENDER_FEMALE", "GENDER_MALE"],
    });
  });

  test("has no schema with the name of a type that oapi-codegen makes of an operation", () => {
    const ids = Object.values(document.paths).flatMap((operations) =>
      Object.values(operations).map(({ operationId }) => `${operationId}Response`.toLowerCase()),
    );
    const names = Object.keys(document.components.schemas).map((name) => name.toLowerCase());
    expect(names.filter((name) => ids.includes(name))).toEqual([]);
  });

  test("has operations with different names", () => {
    const ids = Object.values(document.paths).flatMap((operations) =>
      Object.values(operations).map(({ operationId }) => operationId),
    );
    expect(ids).toContain("compareFaces");
    expect(ids).toContain("v1CompareFaces");
    expect(ids).toContain("v1CreateGallery");
    expect(new Set(ids).size).toBe(ids.length);
  });

  test.each(routes)("lists the statuses of $path", ({ path }) => {
    const expected = new Set(["200", ...errors.map((error) => error.slice(0, 3))]);
    expect(new Set(Object.keys(document.paths[path]!.post.responses))).toEqual(expected);
  });

  test.each(["/match_faces", "/v1/images:analyze"])("has an example of every error of %s", (path) => {
    const examples = Object.entries(document.paths[path]!.post.responses).flatMap(([status, { $ref }]) => {
      const response = document.components.responses[$ref?.split("/").at(-1) ?? ""];
      const names = Object.keys(response?.content["application/json"].examples ?? {});
      return names.map((reason) => `${status} ${reason}`);
    });
    expect(new Set(examples)).toEqual(new Set(errors));
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
    ["a union", { oneOf: [{ type: "string" }, { type: "number" }] }, "a/oneOf"],
    ["patterns of names", { patternProperties: {} }, "a/patternProperties"],
    ["a reference with other keywords", { $ref: "#/b", description: "?" }, "a/$ref"],
  ])("finds %s", (_name, schema, fault) => {
    expect(findFaults({ a: schema })).toEqual([fault]);
  });

  const operationOf = (path: string, verb: string) =>
    (document.paths[path] as unknown as Record<string, Operation>)[verb.toLowerCase()]!;

  /** The errors of an operation, such as `404 GALLERY_NOT_FOUND`. */
  const describedErrors = (path: string, verb: string) =>
    Object.entries(operationOf(path, verb).responses).flatMap(([status, { $ref }]) => {
      const response = document.components.responses[$ref?.split("/").at(-1) ?? ""];
      const names = Object.keys(response?.content["application/json"].examples ?? {});
      return names.map((reason) => `${status} ${reason}`);
    });

  describe("of accounts", () => {
    test.each([...readRoutes(AccountService)])("lists the errors of $verb $path", ({ path, verb }) => {
      const described = describedErrors(path, verb);
      expect(described).toEqual(expect.arrayContaining(["401 UNKNOWN_USER", "422 KEY_IN_USE"]));
      expect(described).not.toContain("429 QUOTA_SPENT");
      expect(described).not.toContain("402 NO_SUBSCRIPTION");
    });

    test.each([...readRoutes(AdminService)])(
      "says that $verb $path needs the admin key",
      ({ path, verb }) => {
        expect(operationOf(path, verb)).toMatchObject({
          tags: ["AdminService"],
          security: [{ admin_key: [] }],
        });
        const described = describedErrors(path, verb);
        expect(described).toEqual(expect.arrayContaining(["401 NO_ADMIN_KEY", "403 CROSS_ORIGIN"]));
        expect(described).not.toContain("401 UNKNOWN_USER");
      },
    );
  });

  describe("of galleries", () => {
    test.each([GalleryService, AccountService, AdminService].flatMap((service) => [...readRoutes(service)]))(
      "has each field of $verb $path once: in the path, the query or the body",
      ({ path, verb, method }) => {
        const { parameters, requestBody } = operationOf(path, verb);
        const variables = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name);
        const inPath = parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name);
        expect(inPath).toEqual(variables);
        const others = method.input.fields
          .filter(({ name }) => !variables.includes(name))
          .map(({ jsonName }) => jsonName);
        const inQuery = parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name);
        if (verb === "GET" || verb === "DELETE") {
          expect(requestBody).toBeUndefined();
          expect(inQuery).toEqual(others);
          return;
        }
        expect(propertiesOf(requestBody.content["application/json"]!.schema)).toEqual(others);
        const files = requestBody.content["multipart/form-data"];
        if (files) expect([...propertiesOf(files.schema), ...inQuery]).toEqual(others);
        else expect(inQuery).toEqual([]);
      },
    );

    test("takes images as files where a face is enrolled or identified", () => {
      const withFiles = readRoutes(GalleryService)
        .filter(({ path, verb }) => operationOf(path, verb).requestBody?.content["multipart/form-data"])
        .map(({ method }) => method.name);
      expect(withFiles).toEqual(["EnrolFace", "IdentifyFaces"]);
    });

    test.each<[string, string, string[], string[]]>([
      ["GET", "/v1/galleries", [], ["404 GALLERY_NOT_FOUND", "422 NO_FACE"]],
      ["POST", "/v1/galleries", ["409 GALLERY_EXISTS", "422 TOO_MANY_GALLERIES"], ["404 GALLERY_NOT_FOUND"]],
      ["GET", "/v1/galleries/{gallery_id}", ["404 GALLERY_NOT_FOUND"], ["404 PERSON_NOT_FOUND"]],
      [
        "POST",
        "/v1/galleries/{gallery_id}/people/{person_id}/faces",
        ["422 NO_FACE", "422 FACE_UNLIKE_PERSON", "422 TOO_MANY_FACES", "415 UNSUPPORTED_FORMAT"],
        ["409 GALLERY_EXISTS"],
      ],
      [
        "POST",
        "/v1/galleries/{gallery_id}:identify",
        ["422 GALLERY_TOO_LARGE", "422 MODEL_MISMATCH", "422 NO_FACE_IN_BOX"],
        ["422 NO_FACE", "422 FACE_TOO_SMALL", "422 TOO_MANY_FACES"],
      ],
      [
        "POST",
        "/v1/galleries/{gallery_id}:import",
        ["404 GALLERY_NOT_FOUND", "422 MODEL_MISMATCH"],
        ["422 NO_FACE"],
      ],
    ])("lists the errors of %s %s, and no others", (verb, path, included, excluded) => {
      const described = describedErrors(path, verb);
      const common = ["400 BAD_REQUEST", "401 UNKNOWN_USER", "503 GALLERIES_UNAVAILABLE"];
      expect(described).toEqual(expect.arrayContaining([...common, ...included]));
      expect(described.filter((error) => excluded.includes(error))).toEqual([]);
    });

    test("describes a line of an export and of an import", () => {
      const lines = (name: string) => ({
        content: { "application/x-ndjson": { "x-itemSchema": { $ref: `#/components/schemas/${name}` } } },
      });
      const exported = operationOf("/v1/galleries/{gallery_id}:export", "GET");
      expect(exported.requestBody).toBeUndefined();
      expect(exported.responses[200]).toMatchObject(lines("V1ExportGalleryResult"));
      const imported = operationOf("/v1/galleries/{gallery_id}:import", "POST");
      expect(imported.requestBody).toMatchObject(lines("V1ImportFacesLine"));
      // The path has the id of the gallery.
      expect(propertiesOf({ $ref: "V1ImportFacesLine" })).toEqual([
        "personId",
        "faceId",
        "displayName",
        "embedding",
        "createTime",
        "expireTime",
        "ttl",
      ]);
      expect(imported.responses[200]).toMatchObject({
        content: { "application/json": { schema: { $ref: "#/components/schemas/V1ImportFacesResult" } } },
      });
    });

    test("writes revisions as text and times as RFC 3339", () => {
      expect(document.components.schemas.V1Gallery).toMatchObject({
        required: expect.arrayContaining(["revision", "createTime"]),
        properties: {
          revision: { type: "string", pattern: "^-?[0-9]+$" },
          createTime: { type: "string", format: "date-time" },
        },
      });
      expect(document.components.schemas).not.toHaveProperty("V1Timestamp");
    });
  });

  test("rejects metadata about unknown fields", () => {
    const gallery = { ...galleryMetadata(), required: ["visage.v1.Gallery.name"] };
    expect(() =>
      createDocument([{ service: GalleryService, metadata: gallery }], documentMetadata("1")),
    ).toThrow("visage.v1.GalleryService has no visage.v1.Gallery.name.");
    const metadata = { ...faceMetadata(), required: ["face.v1.Face.name"] };
    expect(() => createDocument([{ service: FaceService, metadata }], documentMetadata("1"))).toThrow(
      "face.v1.FaceService has no face.v1.Face.name.",
    );
  });

  test("rejects services with different schemas of the same name", () => {
    const services = [
      { service: FaceService, metadata: faceMetadata() },
      { service: FaceAnalysisService, metadata: { ...typedMetadata(), prefix: "" } },
    ];
    expect(() => createDocument(services, documentMetadata("1"))).toThrow("two different entries");
  });
});

/** Returns the names of the properties of a referenced schema. */
function propertiesOf({ $ref }: { $ref: string }): string[] {
  return Object.keys(document.components.schemas[$ref.split("/").at(-1)!]!.properties!);
}

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
  return ["const", "patternProperties", "propertyNames", "oneOf", "anyOf", "not"].includes(key);
}
