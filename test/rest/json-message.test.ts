import { type DescMessage, fromBinary, fromJsonString, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  GetFaceVecRequestSchema,
  GetImageAttrRequestSchema,
  MatchFacesRequestSchema,
} from "../../gen/ts/face/v1/face_pb.ts";
import { binaryFromJson } from "../../src/rest/json-message.ts";
import { LONG_TEXT_BYTES, MAX_TEXT_BYTES } from "../../src/rest/parse-limits.ts";

const IMAGE = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * i) >>> 3));
const BASE64 = IMAGE.toString("base64");
const PATH = "x".repeat(LONG_TEXT_BYTES);

describe("conversion of JSON to binary agrees with protobuf-es", () => {
  test.each<[string, DescMessage, string]>([
    ["nothing", GetFaceVecRequestSchema, "{}"],
    ["a short image", GetFaceVecRequestSchema, '{"img":{"content":"AAAA"},"quality":true,"face_det":false}'],
    ["a long image", GetFaceVecRequestSchema, `{"img":{"content":"${BASE64}"},"bboxes":{"x1":1,"y2":"4"}}`],
    [
      "an image in lines",
      GetFaceVecRequestSchema,
      `{"img":{"content":"${BASE64.replaceAll(/.{76}/g, "$&\\r\\n")}"}}`,
    ],
    [
      "an image with spaces",
      GetFaceVecRequestSchema,
      `{"img":{"content":"${BASE64.replaceAll(/.{76}/g, "$& ")}"}}`,
    ],
    [
      "two images and escapes",
      MatchFacesRequestSchema,
      `{"img_1":{"content":"${BASE64.replaceAll("/", "\\/")}"},"img_2":{"url":"http:\\/\\/a\\u002f${PATH}\\u00e9"}}`,
    ],
    [
      "unknown members",
      GetFaceVecRequestSchema,
      `{"a":"${BASE64}","b":{"c":"${BASE64}"},"img":{"d":[1,{}]}}`,
    ],
    ["boxes", GetImageAttrRequestSchema, `{"bboxes":[{"x1":1},{}],"image_attr":{"content":"${BASE64}"}}`],
    ["null", GetFaceVecRequestSchema, `{"img":null,"bboxes":null}`],
  ])("for %s", async (_, schema, json) => {
    const expected = toBinary(schema, fromJsonString(schema, json, { ignoreUnknownFields: true }));
    const binary = await binaryFromJson(Buffer.from(json), schema);
    expect(Buffer.from(expected).equals(binary)).toBe(true);
    const marked = await binaryFromJson(Buffer.from(`\uFEFF${json}`), schema);
    expect(Buffer.from(expected).equals(marked)).toBe(true);
  });

  test("and the image is unchanged", async () => {
    const binary = await binaryFromJson(
      Buffer.from(`{"img":{"content":"${BASE64}"}}`),
      GetFaceVecRequestSchema,
    );
    const { img } = fromBinary(GetFaceVecRequestSchema, binary);
    expect(IMAGE.equals(img?.source.value as Uint8Array)).toBe(true);
  });
});

test.each([
  ["that is broken", '{"img":'],
  ["of another type", '{"img":5}'],
  ["with a duplicate member", `{"img":{"content":"${BASE64}"},"img":{"content":"AAAA"}}`],
  ["with two sources", `{"img":{"content":"${BASE64}","url":"http://a"}}`],
  ["with text that is not Base64", `{"img":{"content":"${BASE64}~"}}`],
  ["with text for a number", `{"bboxes":{"x1":"${BASE64}"}}`],
  ["with a URL beyond the limit", `{"img":{"url":"${"x".repeat(MAX_TEXT_BYTES + 1)}"}}`],
  ["beyond the limits", `{"a":[${"{},".repeat(5000)}{}]}`],
])("JSON is rejected %s", async (_, json) => {
  const fault = await binaryFromJson(Buffer.from(json), GetFaceVecRequestSchema).catch(
    (error: unknown) => error,
  );
  expect(fault).toMatchObject({ name: "RestError", kind: "badRequest" });
});
