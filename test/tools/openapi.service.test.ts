import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import type { RunningService } from "../../src/main.ts";
import { readRoutes } from "../../src/rest/routes.ts";
import { ERRORS } from "../../src/service/error-table.ts";
import { describeService } from "../../tools/openapi/document.ts";
import { faceMetadata } from "../../tools/openapi/face-metadata.ts";
import { photograph } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";

interface Operation {
  readonly deprecated?: boolean;
  readonly requestBody: { readonly content: object };
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly headers?: object }>>;
}
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: { readonly Error: { properties: { code: { enum: string[] } } } };
    readonly responses: Readonly<Record<string, { readonly headers: object }>>;
  };
}

const text = readFileSync(new URL("../../gen/openapi.json", import.meta.url), "utf8");
const document = JSON.parse(text) as OpenApi;
const routes = [...readRoutes(FaceService).values()];

describe("the OpenAPI document", () => {
  test.each(routes)("describes $verb $path with every media type", ({ verb, path, method }) => {
    const operation = document.paths[path]![verb.toLowerCase()]!;
    expect(Object.keys(operation.requestBody.content)).toEqual([
      "multipart/form-data",
      "application/x-www-form-urlencoded",
      "application/json",
    ]);
    expect(operation.deprecated ?? false).toBe(method.deprecated);
  });

  test("has every error code", () => {
    const codes = Object.values(ERRORS).map(({ code }) => code);
    expect(new Set(document.components.schemas.Error.properties.code.enum)).toEqual(new Set(codes));
  });

  test.each(routes)("lists the statuses of $path", ({ verb, path }) => {
    const { responses } = document.paths[path]![verb.toLowerCase()]!;
    const statuses = Object.values(ERRORS).map(({ http }) => String(http));
    const expected = new Set(["200", ...statuses].filter((status) => status !== "404" && status !== "405"));
    expect(new Set(Object.keys(responses))).toEqual(expected);
  });

  test("rejects metadata about unknown fields", () => {
    const metadata = { ...faceMetadata("1"), required: ["face.v1.Face.name"] };
    expect(() => describeService(FaceService, metadata)).toThrow(
      "face.v1.FaceService has no face.v1.Face.name.",
    );
  });
});

describe("the responses of the service", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, "openapi.json");
  const photo = photograph(1).toString("base64");
  const other = photograph(3).toString("base64");

  let service: RunningService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service.close());

  test.each([
    ["/match_faces", { img_1: photo, img_2: other }, 200],
    ["/match_faces?detail=1&bboxes_1=1487,263,1642,419", { img_1: photo, img_2: other, detail: 1 }, 200],
    ["/compare_faces", { img_1: photo, img_2: other }, 200],
    ["/get_image_attr?detail=1", { image_attr: photo }, 200],
    ["/get_face_vec?quality=1&detail=true", { img: photo, bboxes: [1487, 263, 1642, 419] }, 200],
    ["/get_face_vec", {}, 400],
    ["/get_face_vec?bboxes=1,2,3", { img: photo }, 400],
    ["/get_image_attr", { image_attr: "R0lGODlhAQABAAAAACw=" }, 415],
    ["/get_face_vec?bboxes=0,0,90,90", { img: photo }, 422],
  ])("%s conforms to the document", async (path, body, status) => {
    const response = await post(path, body);
    expect(response.status).toBe(status);
    await expectConformance(path, response);
  });

  test("a request without a user id conforms to the document", async () => {
    const response = await post("/get_face_vec", {}, {});
    expect(response.status).toBe(401);
    await expectConformance("/get_face_vec", response);
  });

  test.each(["/healthz", "/readyz"])(
    "%s conforms to the document and rejects other methods",
    async (path) => {
      await expectConformance(path, await fetch(`http://127.0.0.1:${service.port}${path}`), "get");
      const rejected = await post(path, {});
      expect([rejected.status, rejected.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    },
  );

  function post(path: string, body: object, headers: Record<string, string> = { user_id: USER }) {
    return fetch(`http://127.0.0.1:${service.port}${path}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  }

  async function expectConformance(target: string, response: Response, verb = "post"): Promise<void> {
    const [path] = target.split("?") as [string];
    const inline = ["paths", path, verb, "responses", String(response.status)];
    const described = document.paths[path]![verb]!.responses[response.status]!;
    const pointer = described.$ref ?? `#/${inline.map((part) => part.replaceAll("/", "~1")).join("/")}`;
    const schema = { $ref: `openapi.json${pointer}/content/application~1json/schema` };
    expect(ajv.validate(schema, await response.json()), ajv.errorsText()).toBe(true);

    const { headers } = described.$ref
      ? document.components.responses[described.$ref.split("/").at(-1)!]!
      : described;
    const always = ["x-request-id", "x-visage-model", "deprecation", "link"].filter(
      (name) => name in headers!,
    );
    expect(always.filter((name) => !response.headers.has(name))).toEqual([]);
  }
});
