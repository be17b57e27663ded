import { create, toJson } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { FaceSchema } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { messagesFromAttributes } from "../../src/service/attribute-messages.ts";
import { ATTRIBUTE_NAMES, type Attributes, estimatesOf } from "../../src/web/photos/attributes.ts";
import { ATTRIBUTE_FIELDS, ATTRIBUTES } from "../support/face.ts";

test("the pages show every attribute of the contract", () => {
  expect(ATTRIBUTE_NAMES.toSorted()).toEqual(ATTRIBUTE_FIELDS.toSorted());
  const face = toJson(FaceSchema, create(FaceSchema, messagesFromAttributes(ATTRIBUTES)));
  const estimates = estimatesOf(face as unknown as Attributes);
  expect(estimates).toHaveLength(ATTRIBUTE_NAMES.length);
  expect(estimates.slice(0, 2)).toEqual([
    { text: "female", unit: "", percent: "98%" },
    { text: "20–40", unit: " years", percent: "80%" },
  ]);
  expect(estimatesOf({})).toEqual([]);
});
