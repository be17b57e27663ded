import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningService } from "../../src/main.ts";
import { photograph } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";

let service: RunningService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const PHOTO = photograph(1);
const BASE64 = PHOTO.toString("base64");

async function post(path: string, body: string | FormData, headers: Record<string, string> = {}) {
  return fetch(`http://127.0.0.1:${service.port}${path}`, {
    method: "POST",
    headers: { "x-api-key": USER, ...headers },
    body,
  });
}

function formWith(name: string, value: string): FormData {
  const form = new FormData();
  form.append("image", new Blob([PHOTO.slice()]), "photo.jpg");
  form.append(name, value);
  return form;
}

const JSON_TYPE = { "content-type": "application/json" };
const ANALYZE_RPC = "/visage.v1.FaceAnalysisService/AnalyzeImage";
const MESSAGE = "Unknown parameter maxfaces: did you mean max_faces?";
const small = { image: { url: "http://a/" }, maxfaces: 1 };
const large = { image: { content: BASE64 }, maxfaces: 1 };

describe("an unknown parameter of visage.v1 is named", () => {
  test.each([
    ["in the query", "/v1/images:analyze?maxfaces=1", () => formWith("max_faces", "1")],
    ["in a multipart form", "/v1/images:analyze", () => formWith("maxfaces", "1")],
    ["in a form", "/v1/images:analyze", () => `maxfaces=1&image=${encodeURIComponent(BASE64)}`],
    ["in JSON", "/v1/images:analyze", () => JSON.stringify(large)],
  ])("%s", async (_, path, body) => {
    const response = await post(path, body());
    expect(response.status).toBe(400);
    expect(response.headers.get("x-visage-image")).toBe("maxfaces");
    expect(await response.json()).toMatchObject({ reason: "BAD_REQUEST", message: MESSAGE });
  });

  test.each([
    ["small", small],
    ["large", large],
  ])("in %s JSON of Connect", async (_, message) => {
    const response = await post(ANALYZE_RPC, JSON.stringify(message), JSON_TYPE);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "invalid_argument", message: MESSAGE });
  });

  test("in a line of a stream, which fails alone", async () => {
    const line = (request: object) => JSON.stringify({ key: "k", request });
    const lines = [line(large), line({ image: { content: BASE64 }, maxFaces: 1 }), '{"requests":1}'];
    const response = await post("/v1/images:analyzeStream", lines.join("\n"));
    const results = (await response.text())
      .trim()
      .split("\n")
      .map((text) => JSON.parse(text));
    const messages = results.map(({ error, response: analysis }) => error?.message ?? analysis.faces.length);
    expect(messages).toHaveLength(3);
    expect(messages).toContain(1);
    expect(messages).toContain("Line 1: Unknown parameter request.maxfaces: did you mean max_faces?");
    expect(messages).toContain("Line 3: Unknown parameter requests: did you mean request?");
  });

  test("in a line of an import", async () => {
    await post("/v1/galleries", '{"galleryId":"names"}');
    const response = await post("/v1/galleries/names:import", '{"personid":"a"}');
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      message: "Line 1: Unknown parameter personid: did you mean person_id?",
    });
  });
});

test("an unknown parameter of face.v1 is ignored, over REST and in JSON of Connect", async () => {
  const rest = await post("/get_image_attr?unknown=1", JSON.stringify({ image_attr: BASE64, other: 1 }));
  expect(rest.status).toBe(200);
  const message = JSON.stringify({ image_attr: { content: BASE64 }, other: 1 });
  const rpc = await post("/face.v1.FaceService/GetImageAttr", message, JSON_TYPE);
  expect(rpc.status).toBe(200);
});
