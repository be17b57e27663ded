import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { FaceSchema } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { attributesFromMessages, messagesFromAttributes } from "../../src/service/attribute-messages.ts";
import { ATTRIBUTE_FIELDS, ATTRIBUTES } from "../support/face.ts";

test("every attribute of the contract is converted, and the same when it comes back", () => {
  const fields = messagesFromAttributes(ATTRIBUTES);
  expect(Object.keys(fields).toSorted()).toEqual(ATTRIBUTE_FIELDS.toSorted());
  const values = Object.entries(ATTRIBUTES).map(([name, value]) => [
    name,
    typeof value === "number" ? Math.fround(value) : value,
  ]);
  expect(attributesFromMessages(create(FaceSchema, fields))).toEqual(Object.fromEntries(values));
});

test("a face without attributes has none", () => {
  expect(attributesFromMessages(create(FaceSchema))).toBeUndefined();
});
