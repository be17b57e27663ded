import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FaceService } from "../../gen/ts/face/v1/face_pb.ts";
import { AccountService } from "../../gen/ts/visage/v1/account_pb.ts";
import { AdminService } from "../../gen/ts/visage/v1/admin_pb.ts";
import { FaceAnalysisService } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import type { RunningService } from "../../src/main.ts";
import { readRoutes, readStreamRoute } from "../../src/rest/routes.ts";
import { recordAccountExamples } from "../../tools/openapi/account-examples.ts";
import { createExampleRequest } from "../../tools/openapi/example-request.ts";
import { fullMethodName, readExamples } from "../../tools/openapi/examples.ts";
import { photograph } from "../support/images.ts";
import { ADMIN_KEY, startTestService, USER } from "../support/service.ts";

interface Operation {
  readonly requestBody: { readonly content: { readonly "application/json": { readonly example: object } } };
  readonly responses: Readonly<Record<string, DescribedResponse>>;
}
interface DescribedResponse {
  readonly $ref?: string;
  readonly headers?: object;
  readonly content?: { readonly "application/json": { readonly example: object } };
}
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly responses: Readonly<Record<string, { readonly headers: object }>> };
}

const text = readFileSync(new URL("../../gen/openapi.json", import.meta.url), "utf8");
const document = JSON.parse(text) as OpenApi;
const routes = [FaceService, FaceAnalysisService].flatMap((service) => [...readRoutes(service).values()]);
const STREAM = "/v1/images:analyzeStream";

describe("the responses of the service", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, "openapi.json");
  const photo = photograph(1).toString("base64");
  const other = photograph(3).toString("base64");
  const ALL_FEATURES = ["LANDMARKS", "ATTRIBUTES", "EMBEDDING", "QUALITY"].map((name) => `FEATURE_${name}`);

  let service: RunningService;
  beforeAll(async () => {
    service = await startTestService({ VISAGE_ADMIN_KEY: ADMIN_KEY });
  });
  afterAll(() => service.close());

  test.each([
    ["/match_faces", { img_1: photo, img_2: other }, 200],
    ["/match_faces?detail=true&bboxes_1=1487,263,1642,419", { img_1: photo, img_2: other }, 200],
    ["/compare_faces", { img_1: photo, img_2: other }, 200],
    ["/get_image_attr?detail=true", { image_attr: photo }, 200],
    ["/get_face_vec?quality=true&detail=true&bboxes=1487,263,1642,419", { img: photo }, 200],
    ["/get_face_vec", {}, 400],
    ["/get_face_vec?bboxes=1,2,3", { img: photo }, 400],
    ["/get_image_attr", { image_attr: "R0lGODlhAQABAAAAACw=" }, 415],
    ["/get_face_vec?bboxes=0,0,90,90", { img: photo }, 422],
    ["/v1/images:analyze", { image: { content: photo }, features: ALL_FEATURES, maxFaces: 2 }, 200],
    ["/v1/images:analyze", { image: photo, boxes: [{ x1: 1487, y1: 263, x2: 1642, y2: 419 }] }, 200],
    ["/v1/images:analyze", {}, 400],
    ["/v1/images:analyze?boxes=0,0,90,90", { image: { content: photo } }, 422],
    [
      "/v1/faces:compare",
      { source: { image: { content: photo } }, target: { image: { content: other } } },
      200,
    ],
    ["/v1/faces:compare", { source: { image: { url: "http://127.0.0.1/" } }, target: {} }, 400],
  ])("%s conforms to the document", async (path, body, status) => {
    const response = await post(path, body);
    expect(response.status).toBe(status);
    await expectConformance(path, response);
  });

  test.each(routes)("the example of $path is a real request with its response", async ({ path }) => {
    const { requestBody, responses } = document.paths[path]!.post!;
    const response = await post(path, requestBody.content["application/json"].example);
    expect(response.status).toBe(200);
    const body = (await response.json()) as object;
    expectSimilar(body, responses[200]!.content!["application/json"].example);
    const schema = {
      $ref: `openapi.json#/paths/${path.replaceAll("/", "~1")}/post/responses/200/content/application~1json/schema`,
    };
    expect(ajv.validate(schema, body), ajv.errorsText()).toBe(true);
  });

  test("the examples of galleries are real requests with their responses", async () => {
    const examples = Object.entries(readExamples()).filter(([name]) =>
      name.startsWith(GalleryService.typeName),
    );
    expect(examples).toHaveLength(GalleryService.methods.length);
    const headers = { user_id: USER, "content-type": "application/json" };
    const galleries = `http://127.0.0.1:${service.port}/v1/galleries`;
    await fetch(galleries, { method: "POST", headers, body: JSON.stringify({ galleryId: "staff-next" }) });
    // In the order in which they were recorded, from the creation of a gallery to its deletion.
    for (const [name, example] of examples) {
      const method = GalleryService.methods.find((one) => fullMethodName(one) === name)!;
      const route = { ...readStreamRoute(method), method };
      const { target, ...init } = createExampleRequest(route, example.request);
      const response = await fetch(`http://127.0.0.1:${service.port}${target}`, { ...init, headers });
      expect(response.status, name).toBe(200);
      expectSimilar(await response.clone().json(), example.response);
      // A gallery of one face is exported as one line.
      const type = response.headers.get("content-type")!;
      await expectConformance(route.path, response, route.verb.toLowerCase(), type);
    }
  });

  test("the examples of accounts are real requests with their responses", async () => {
    const examples = readExamples();
    const recorded = Object.entries(await recordAccountExamples({ port: service.port, adminKey: ADMIN_KEY }));
    const services = [AccountService, AdminService];
    expect(recorded).toHaveLength(services.flatMap((one) => one.methods).length);
    for (const [name, { response }] of recorded) {
      const example = examples[name]!;
      const route = services.flatMap(readRoutes).find(({ method }) => fullMethodName(method) === name)!;
      expect(Object.keys(response), name).toEqual(Object.keys(example.response));
      for (const body of [response, example.response])
        await expectConformance(
          route.path,
          Response.json(body, { headers: { "x-request-id": "1" } }),
          route.verb.toLowerCase(),
        );
    }
  });

  test.each([
    ["/v1/admin/users/{user}", "GET", "/v1/admin/users/nobody", undefined, 404],
    ["/v1/admin/users", "GET", "/v1/admin/users?pageSize=-1", undefined, 400],
    ["/v1/admin/plans", "POST", "/v1/admin/plans", { name: "trial" }, 409],
    ["/v1/admin/plans/{name}", "DELETE", "/v1/admin/plans/unlimited", undefined, 422],
  ])("%s: %s %s conforms to the document", async (path, verb, target, body, status) => {
    const response = await fetch(`http://127.0.0.1:${service.port}${target}`, {
      method: verb,
      headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(status);
    await expectConformance(path, response, verb.toLowerCase());
  });

  test.each([
    ["/v1/galleries/{gallery_id}", "GET", "/v1/galleries/nowhere", undefined, 404],
    ["/v1/galleries/{gallery_id}", "GET", "/v1/galleries/%20", undefined, 400],
    ["/v1/galleries", "GET", "/v1/galleries?page_size=1001", undefined, 400],
    ["/v1/galleries", "POST", "/v1/galleries", { galleryId: "twice" }, 200],
    ["/v1/galleries", "POST", "/v1/galleries", { galleryId: "twice" }, 409],
    ["/v1/galleries/{gallery_id}:identify", "POST", "/v1/galleries/twice:identify", { source: photo }, 200],
    ["/v1/galleries/{gallery_id}:identify", "POST", "/v1/galleries/twice:identify", {}, 400],
    [
      "/v1/galleries/{gallery_id}/people/{person_id}/faces",
      "POST",
      "/v1/galleries/twice/people/ann/faces",
      { source: "R0lGODlhAQABAAAAACw=" },
      415,
    ],
  ])("%s: %s %s conforms to the document", async (path, verb, target, body, status) => {
    const response = await fetch(`http://127.0.0.1:${service.port}${target}`, {
      method: verb,
      headers: { user_id: USER, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(status);
    await expectConformance(path, response, verb.toLowerCase());
  });

  test.each<[string, object | string, string]>([
    ["a response", { key: "a", request: { image: { content: photo } } }, "response"],
    ["the error of an image", { key: "b", request: { image: { content: "R0lGODlhAQABAAAAACw=" } } }, "error"],
    ["the error of a line", "{", "error"],
  ])("a line of the stream with %s conforms to the document", async (_name, line, member) => {
    const response = await fetch(`http://127.0.0.1:${service.port}${STREAM}`, {
      method: "POST",
      headers: { user_id: USER, "content-type": "application/x-ndjson" },
      body: `${typeof line === "string" ? line : JSON.stringify(line)}\n`,
    });
    const text = await response.text();
    expect(text).toMatch(/^[^\n]+\n$/);
    const body = JSON.parse(text) as object;
    expect(body).toHaveProperty(member);
    const schema = { $ref: "openapi.json#/components/schemas/V1AnalyzeImagesResult" };
    expect(ajv.validate(schema, body), ajv.errorsText()).toBe(true);
  });

  test("a request without a user id conforms to the document", async () => {
    for (const path of ["/get_face_vec", "/v1/faces:compare", STREAM]) {
      const response = await post(path, {}, {});
      expect(response.status).toBe(401);
      await expectConformance(path, response);
    }
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

  async function expectConformance(
    target: string,
    response: Response,
    verb = "post",
    type = "application/json",
  ): Promise<void> {
    const [path] = target.split("?") as [string];
    const inline = ["paths", path, verb, "responses", String(response.status)];
    const described = document.paths[path]![verb]!.responses[response.status]!;
    const pointer =
      described.$ref ?? `#/${inline.map((part) => encodeURIComponent(part.replaceAll("/", "~1"))).join("/")}`;
    const keyword = type === "application/x-ndjson" ? "x-itemSchema" : "schema";
    const schema = { $ref: `openapi.json${pointer}/content/${type.replace("/", "~1")}/${keyword}` };
    expect(ajv.validate(schema, await response.json()), ajv.errorsText()).toBe(true);

    const { headers } = described.$ref
      ? document.components.responses[described.$ref.split("/").at(-1)!]!
      : described;
    const always = ["x-request-id", "x-visage-model", "deprecation", "sunset", "link"].filter(
      (name) => name in headers!,
    );
    expect(always.filter((name) => !response.headers.has(name))).toEqual([]);
  }
});

/** A time, or the id of a request. */
const VARYING = [/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/];

/** Expects equal values, except for numbers, which differ slightly between processors, times and ids of requests. */
function expectSimilar(actual: unknown, expected: unknown): void {
  const varying = VARYING.find((pattern) => pattern.test(String(expected)));
  const isNumber = typeof expected === "number" || /^0\.\d{4}$/.test(String(expected));
  if (isNumber)
    expect(Math.abs(Number(actual) - Number(expected))).toBeLessThanOrEqual(tolerance(Number(expected)));
  else if (varying) expect(actual).toMatch(varying);
  else if (typeof expected !== "object") expect(actual).toBe(expected);
  else {
    expect(Object.keys(actual as object)).toEqual(Object.keys(expected as object));
    for (const [key, value] of Object.entries(expected as object))
      expectSimilar((actual as Record<string, unknown>)[key], value);
  }
}

/** One pixel, or a twentieth of a score, a confidence or an element of a vector. */
function tolerance(value: number): number {
  return Number.isInteger(value) ? 1 : 0.05;
}
