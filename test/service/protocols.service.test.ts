import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { create, equals, type Message } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  CompareFacesRequestSchema,
  FaceService,
  GetFaceVecRequestSchema,
  type GetFaceVecResponse,
  GetImageAttrRequestSchema,
  MatchFacesRequestSchema,
} from "../../gen/ts/face/v1/face_pb.ts";
import type { RunningService } from "../../src/main.ts";
import { photograph, plainImage } from "../support/images.ts";
import {
  createProtocolClients,
  type Operation,
  type Outcome,
  type ProtocolClient,
} from "../support/protocol-clients.ts";
import { startTestService, USER } from "../support/service.ts";

const image = (content: Uint8Array) => ({ source: { case: "content", value: content } as const });
const sample1 = image(photograph(1));
const sample3 = image(photograph(3));
const blank = image(await plainImage(300, 200, "#808080"));
const pixel = image(await plainImage(1, 1, "#ffffff"));
const WOMAN_IN_1 = { x1: 1487, y1: 263, x2: 1642, y2: 419 };
const WOMAN_IN_3 = { x1: 1064, y1: 254, x2: 1309, y2: 499 };

interface Case {
  readonly name: string;
  readonly operation: Operation;
  readonly request: Message;
  /** The envelope code of the expected error. */
  readonly error?: string;
}

const CASES: readonly Case[] = [
  {
    name: "the same woman in two photos",
    operation: "matchFaces",
    request: create(MatchFacesRequestSchema, {
      img1: sample1,
      img2: sample3,
      bboxes1: WOMAN_IN_1,
      bboxes2: WOMAN_IN_3,
    }),
  },
  {
    name: "the same woman, as a confidence",
    operation: "compareFaces",
    request: create(CompareFacesRequestSchema, {
      img1: sample1,
      img2: sample3,
      bboxes1: WOMAN_IN_1,
      bboxes2: WOMAN_IN_3,
    }),
  },
  {
    name: "every face",
    operation: "getImageAttr",
    request: create(GetImageAttrRequestSchema, { imageAttr: sample1 }),
  },
  {
    name: "a vector of good quality",
    operation: "getFaceVec",
    request: create(GetFaceVecRequestSchema, { img: sample3, quality: true }),
  },
  // Without detection the image is one face, whatever it shows.
  ...(["matchFaces", "compareFaces"] as const).map(
    (operation): Case => ({
      name: "images without a face and without detection",
      operation,
      request: create(FaceService.method[operation].input, { img1: blank, img2: pixel, faceDet: false }),
    }),
  ),
  {
    name: "an image without a face and without detection",
    operation: "getImageAttr",
    request: create(GetImageAttrRequestSchema, { imageAttr: blank, faceDet: false }),
  },
  {
    name: "a box without a face and without detection",
    operation: "getFaceVec",
    request: create(GetFaceVecRequestSchema, {
      img: sample1,
      bboxes: { x1: 20, y1: 20, x2: 200, y2: 200 },
      faceDet: false,
    }),
  },
  { name: "no image", operation: "getFaceVec", request: create(GetFaceVecRequestSchema), error: "2001" },
  {
    name: "a box outside the image",
    operation: "getFaceVec",
    request: create(GetFaceVecRequestSchema, {
      img: sample1,
      bboxes: { x1: 5000, y1: 5000, x2: 5100, y2: 5100 },
    }),
    error: "2002",
  },
  {
    name: "a broken image",
    operation: "getImageAttr",
    request: create(GetImageAttrRequestSchema, { imageAttr: image(photograph(1).subarray(0, 20_000)) }),
    error: "2003",
  },
  {
    name: "not an image",
    operation: "getFaceVec",
    request: create(GetFaceVecRequestSchema, { img: image(Buffer.from("GIF89a and more")) }),
    error: "2004",
  },
  {
    name: "no face in the box",
    operation: "getFaceVec",
    request: create(GetFaceVecRequestSchema, { img: sample1, bboxes: { x1: 20, y1: 20, x2: 200, y2: 200 } }),
    error: "3002",
  },
];

let service: RunningService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

describe.each(CASES)("$operation: $name", ({ operation, request, error }) => {
  test("has the same outcome over every protocol", async () => {
    const clients = createProtocolClients(service.port, USER);
    const outcomes: Outcome[] = [];
    // Sequentially, so that the rate limit is not exceeded.
    for (const client of clients) outcomes.push(await client.call(operation, request));
    const [first] = outcomes;
    for (const [i, outcome] of outcomes.entries()) {
      const { name } = clients[i] as ProtocolClient;
      if (error) expect(outcome, name).toMatchObject({ code: error });
      else expect(outcome, name).toHaveProperty("response");
      if ("response" in outcome && first && "response" in first)
        expect(
          equals(FaceService.method[operation].output, outcome.response as never, first.response as never),
          name,
        ).toBe(true);
      else expect(outcome, name).toEqual(first);
    }
  });
});

test.each(["", "someone-else"])(
  "a request of user '%s' is rejected with the same code over every protocol",
  async (user) => {
    const request = create(GetFaceVecRequestSchema, { img: sample1 });
    for (const client of createProtocolClients(service.port, user)) {
      const outcome = await client.call("getFaceVec", request);
      expect(outcome, client.name).toMatchObject({ code: user === "" ? "4001" : "4002" });
    }
  },
);

test("detail names the model beside the vector and in the header, over every protocol", async () => {
  const request = create(GetFaceVecRequestSchema, { img: sample3, detail: true });
  const models = new Set<string | undefined>();
  for (const client of createProtocolClients(service.port, USER)) {
    const outcome = await client.call("getFaceVec", request);
    const { data } = (outcome as { response: GetFaceVecResponse }).response;
    expect(data?.model, client.name).toMatch(/^sface-/);
    models.add(data?.model).add(data?.detail?.model);
  }
  const response = await fetch(`http://127.0.0.1:${service.port}/get_face_vec`, {
    method: "POST",
    headers: { user_id: USER, "content-type": "application/json" },
    body: JSON.stringify({ img: photograph(3).toString("base64") }),
  });
  models.add(response.headers.get("x-visage-model") ?? undefined);
  expect(models.size).toBe(1);
  const { data } = (await response.json()) as { data: object };
  expect(Object.keys(data)).toEqual(["vector"]);
});

describe("GET is not allowed", () => {
  const paths = Object.values(FaceService.method).flatMap(({ name }) => {
    const path = `/${FaceService.typeName}/${name}`;
    return [path, `${path}?connect=v1&encoding=json&message=%7B%7D`];
  });

  test.each(["/match_faces", "/get_face_vec", ...paths])("%s", async (path) => {
    for (const type of ["", "application/json", "application/proto", "application/grpc-web+proto"]) {
      const headers = { user_id: USER, ...(type && { "content-type": type }) };
      const response = await fetch(`http://127.0.0.1:${service.port}${path}`, { headers });
      expect([response.status, response.headers.get("allow")], type).toEqual([405, "POST, OPTIONS"]);
    }
  });

  test("over gRPC", async () => {
    const session = connect(`http://127.0.0.1:${service.port}`);
    const path = `/${FaceService.typeName}/GetFaceVec`;
    const stream = session.request({ ":path": path, "content-type": "application/grpc", user_id: USER });
    const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
    expect(headers).toMatchObject({ ":status": 405, allow: "POST, OPTIONS", "grpc-status": "12" });
    session.destroy();
  });
});
