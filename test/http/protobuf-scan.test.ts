import { create, type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { StructSchema, UninterpretedOptionSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import {
  GetFaceVecDataSchema,
  GetFaceVecRequestSchema,
  GetImageAttrRequestSchema,
  MatchFacesRequestSchema,
} from "../../gen/ts/face/v1/face_pb.ts";
import { checkProtobuf } from "../../src/http/protobuf-scan.ts";
import { MAX_LIST_VALUES, MAX_PROTOBUF_FIELDS } from "../../src/rest/parse-limits.ts";
import { RestError } from "../../src/rest/rest-error.ts";

const BOX = { x1: -1, y1: 2, x2: 2 ** 31 - 1, y2: 4 };

function faultOf(bytes: Uint8Array, schema: DescMessage): RestError | undefined {
  try {
    checkProtobuf(bytes, schema);
    return undefined;
  } catch (fault) {
    expect(fault).toBeInstanceOf(RestError);
    return fault as RestError;
  }
}

/** Bytes of a message with unknown fields, each with the number 15. */
function unknown(count: number, write: (writer: BinaryWriter) => void): Uint8Array {
  const writer = new BinaryWriter();
  for (let i = 0; i < count; i++) write(writer);
  return writer.finish();
}

const varint = (writer: BinaryWriter) => writer.tag(15, WireType.Varint).uint64(2n ** 64n - 1n);

describe("messages within the limits pass", () => {
  const content = Buffer.from([1, 2, 3]);
  test.each<[string, DescMessage, Uint8Array]>([
    [
      "a pair of images with boxes",
      MatchFacesRequestSchema,
      toBinary(
        MatchFacesRequestSchema,
        create(MatchFacesRequestSchema, {
          img1: { source: { case: "content", value: content } },
          img2: { source: { case: "url", value: "http://a" } },
          bboxes1: BOX,
          bboxes2: BOX,
          faceDet: false,
          detail: true,
        }),
      ),
    ],
    ["nothing", GetFaceVecRequestSchema, new Uint8Array()],
    [
      "a vector",
      GetFaceVecDataSchema,
      toBinary(GetFaceVecDataSchema, create(GetFaceVecDataSchema, { vector: Array(128).fill(0.5) })),
    ],
    [
      "numbers of all widths",
      UninterpretedOptionSchema,
      toBinary(
        UninterpretedOptionSchema,
        create(UninterpretedOptionSchema, { doubleValue: 1.5, negativeIntValue: -5n, identifierValue: "a" }),
      ),
    ],
    [
      "a map",
      StructSchema,
      toBinary(
        StructSchema,
        create(StructSchema, { fields: { a: { kind: { case: "numberValue", value: 1 } } } }),
      ),
    ],
    ["unknown fields", GetFaceVecRequestSchema, unknown(MAX_PROTOBUF_FIELDS, varint)],
  ])("%s", (_, schema, bytes) => {
    expect(() => fromBinary(schema, bytes)).not.toThrow();
    expect(faultOf(bytes, schema)).toBeUndefined();
  });
});

describe("messages beyond the limits are rejected", () => {
  const boxes = (count: number) =>
    toBinary(
      GetImageAttrRequestSchema,
      create(GetImageAttrRequestSchema, { bboxes: Array(count).fill(BOX) }),
    );
  const images = (count: number) => Buffer.alloc(2 * count, Buffer.from([0x0a, 0x00]));
  const packed = (count: number) =>
    toBinary(GetFaceVecDataSchema, create(GetFaceVecDataSchema, { vector: Array(count).fill(1) }));

  test.each<[string, DescMessage, Uint8Array, Uint8Array, string]>([
    ["boxes", GetImageAttrRequestSchema, boxes(MAX_LIST_VALUES), boxes(MAX_LIST_VALUES + 1), "badBox"],
    [
      "unknown fields",
      GetImageAttrRequestSchema,
      unknown(MAX_PROTOBUF_FIELDS, varint),
      unknown(MAX_PROTOBUF_FIELDS + 1, varint),
      "badRequest",
    ],
    [
      "images",
      GetImageAttrRequestSchema,
      images(MAX_PROTOBUF_FIELDS),
      images(MAX_PROTOBUF_FIELDS + 1),
      "badRequest",
    ],
    [
      "packed numbers",
      GetFaceVecDataSchema,
      packed(MAX_LIST_VALUES),
      packed(MAX_LIST_VALUES + 1),
      "badRequest",
    ],
  ])("for too many: %s", (_, schema, allowed, excessive, kind) => {
    expect(faultOf(allowed, schema)).toBeUndefined();
    expect(faultOf(excessive, schema)).toMatchObject({ kind });
  });

  test("wherever the fields are", () => {
    const inner = unknown(MAX_PROTOBUF_FIELDS, varint);
    const image = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(inner).finish();
    expect(faultOf(image, GetImageAttrRequestSchema)).toMatchObject({ kind: "badRequest" });
  });
});

test.each<[string, number[]]>([
  ["a length beyond the end", [0x7a, 0x05, 0x00]],
  ["a field beyond its message", [0x0a, 0x02, 0x0a, 0x02, 0x20, 0x01]],
  ["a varint of eleven bytes", [0x78, ...Array(10).fill(0x80), 0x00]],
  ["the field number zero", [0x00, 0x00]],
  ["a group", [0x7b, 0x7c]],
  ["an end without a group", [0x7c]],
  ["an image as a varint", [0x08, 0x01]],
  ["the content of an image as a varint", [0x0a, 0x02, 0x08, 0x01]],
  ["a flag as a message", [0x1a, 0x00]],
])("a malformed message is rejected: %s", (_, bytes) => {
  expect(faultOf(Uint8Array.from(bytes), GetImageAttrRequestSchema)).toMatchObject({ kind: "badRequest" });
});
