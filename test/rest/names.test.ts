import { type DescMessage, fromJson } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { GetImageAttrRequestSchema } from "../../gen/ts/face/v1/face_pb.ts";
import { GetAccountRequestSchema } from "../../gen/ts/visage/v1/account_pb.ts";
import {
  AnalyzeImageRequestSchema,
  CompareFacesRequestSchema,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { ImportFacesRequestSchema } from "../../gen/ts/visage/v1/gallery_pb.ts";
import { parseForm } from "../../src/rest/form.ts";
import { createMessageReader } from "../../src/rest/message-reader.ts";
import { checkMembers } from "../../src/rest/names.ts";

describe("an unknown name", () => {
  test.each<[string, DescMessage, string]>([
    ["maxfaces", AnalyzeImageRequestSchema, "Unknown parameter maxfaces: did you mean max_faces?"],
    ["maxFace", AnalyzeImageRequestSchema, "Unknown parameter maxFace: did you mean maxFaces?"],
    ["feature", AnalyzeImageRequestSchema, "Unknown parameter feature: did you mean features?"],
    [
      "max_false_match_ratio",
      CompareFacesRequestSchema,
      "Unknown parameter max_false_match_ratio: did you mean max_false_match_rate?",
    ],
    [
      "threshold",
      AnalyzeImageRequestSchema,
      "Unknown parameter threshold: known are image, features, boxes, max_faces.",
    ],
    ["x", GetAccountRequestSchema, "Unknown parameter x: there are none."],
    ["", GetAccountRequestSchema, "Unknown parameter : there are none."],
    ["a\r\n\u{1f600}<b>", GetAccountRequestSchema, "Unknown parameter a?????b?: there are none."],
  ])("%j is rejected with advice", async (name, schema, message) => {
    expect(() => checkMembers(schema, { [name]: 1 })).toThrow(message);
    const query = `${encodeURIComponent(name)}=1`;
    await expect(createMessageReader(schema, {})(parseForm(query), [])).rejects.toThrow(message);
  });

  test("that is long is neither printed nor compared as a whole", async () => {
    const message = `Unknown parameter ${"max_faces".padEnd(40, "s")}...: known are `;
    for (const length of [100, 10_000]) {
      const query = `${"max_faces".padEnd(length, "s")}=1`;
      const read = createMessageReader(AnalyzeImageRequestSchema, {})(parseForm(query), []);
      await expect(read).rejects.toThrow(message);
    }
  });

  test.each([
    ["source.imag", { source: { imag: {} } }],
    ["source.image.link", { source: { image: { link: "http://a/" } } }],
    ["target.embedding.vector", { target: { embedding: { vector: [1] } } }],
  ])("in a message is named with its path: %s", (path, json) => {
    expect(() => checkMembers(CompareFacesRequestSchema, json)).toThrow(`Unknown parameter ${path}: `);
  });

  test("in a list is found", () => {
    const boxes = [{ x1: 1 }, { x1: 1, z: 2 }];
    expect(() => checkMembers(AnalyzeImageRequestSchema, { boxes })).toThrow("Unknown parameter boxes.z: ");
  });

  test("is ignored in face.v1", async () => {
    const read = createMessageReader(GetImageAttrRequestSchema, {});
    expect(await read(parseForm("img=1&detail=1"), [])).toMatchObject({ detail: true });
    expect(() => checkMembers(GetImageAttrRequestSchema, { img: 1 })).not.toThrow();
  });
});

test("names of an enum may be repeated or joined by commas", async () => {
  const expected = fromJson(AnalyzeImageRequestSchema, {
    features: ["FEATURE_QUALITY", "FEATURE_EMBEDDING"],
  });
  const read = createMessageReader(AnalyzeImageRequestSchema, {});
  for (const query of [
    "features=FEATURE_QUALITY&features=FEATURE_EMBEDDING",
    "features=FEATURE_QUALITY,FEATURE_EMBEDDING",
    "features=FEATURE_QUALITY%2C%20FEATURE_EMBEDDING,",
  ])
    expect(await read(parseForm(query), []), query).toEqual(expected);
  await expect(read(parseForm("features=FEATURE_QUALITY,FEATURE_SIZE"), [])).rejects.toThrow(
    "must be one of",
  );
});

test("every member of an exported face may be imported", () => {
  const line = {
    personId: "a",
    faceId: "b",
    displayName: "A",
    embedding: { values: [1], model: "m" },
    createTime: "2026-01-01T00:00:00Z",
  };
  expect(() => checkMembers(ImportFacesRequestSchema, line)).not.toThrow();
});
