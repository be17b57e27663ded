import { create, equals, type Message } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  CompareFacesRequestSchema,
  FaceService,
  GetFaceVecRequestSchema,
  GetImageAttrRequestSchema,
  MatchFacesRequestSchema,
} from "../../gen/ts/face/v1/face_pb.ts";
import type { RunningService } from "../../src/main.ts";
import { photograph } from "../support/images.ts";
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
