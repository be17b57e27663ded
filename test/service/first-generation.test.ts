import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { FaceService, GetImageAttrResponseSchema } from "../../gen/ts/face/v1/face_pb.ts";
import { ERROR_KINDS, type ErrorKind } from "../../src/service/error-table.ts";
import {
  createFirstGenerationWriter,
  firstGenerationError,
  isFirstGeneration,
} from "../../src/service/first-generation.ts";

const ORIGINAL_TEXTS = [
  "Please provide all necessary details",
  "Api request limit over",
  "Plan expired Please recharge to continue",
  "Invalid Image",
  "Unable to process",
];
const QUALITY_TEXTS = ["Face too Small", "Low Illumination", "Incorrect Pose"];

describe("an error", () => {
  test.each(ERROR_KINDS)("of the kind %s has a text that programs know", (kind) => {
    expect([...ORIGINAL_TEXTS, ...QUALITY_TEXTS]).toContain(firstGenerationError(kind).error);
  });

  test.each<[ErrorKind, string]>([
    ["noUserId", "Please provide all necessary details"],
    ["badBox", "Please provide all necessary details"],
    ["badRequest", "Please provide all necessary details"],
    ["quotaSpent", "Api request limit over"],
    ["noSubscription", "Plan expired Please recharge to continue"],
    ["unreadableImage", "Invalid Image"],
    ["noFace", "Unable to process"],
    ["faceTooSmall", "Face too Small"],
  ])("of the kind %s is only the text: %s", (kind, error) => {
    expect(firstGenerationError(kind)).toEqual({ error });
  });
});

test.each([
  [{ user_key: "k" }, true],
  [{ user_key: "" }, true],
  [{ user_id: "u" }, false],
])("the headers %j are of the first generation: %s", (headers, expected) => {
  expect(isFirstGeneration(headers)).toBe(expected);
});

test.each([
  [0.501, "0.501"],
  [0.98765, "0.9877"],
  [0.9, "0.9"],
  [0.99999, "1"],
])("the gender confidence %s is the text %j", (genderConfidence, text) => {
  const write = createFirstGenerationWriter(FaceService.method.getImageAttr);
  const face = { genderConfidence, landmarks: { faceLandMark: { noseTip: { x: 1, y: 2 } } } };
  const data = { attributes: { faces: { face_id_0: face }, imageSize: [3, 4] } };
  expect(write(create(GetImageAttrResponseSchema, { data }))).toMatchObject({
    face_id_0: { gender_confidence: text },
  });
});
