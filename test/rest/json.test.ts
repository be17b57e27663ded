import { create, toJson } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { AttributesSchema, FaceSchema } from "../../gen/ts/face/v1/face_pb.ts";
import { ErrorInfoSchema, RetryInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import { AttributeType, DataType, ModelSchema } from "../../gen/ts/onnx/v1/onnx_pb.ts";
import { jsonWriterOf } from "../../src/rest/json.ts";

/** A message with fields of every kind but maps, set and not, some of them to zero. */
const MODEL = create(ModelSchema, {
  irVersion: 2n ** 60n,
  opsetImport: [{ version: -1n }, {}],
  graph: {
    name: 'quotes " and lines\n',
    node: [
      {
        input: ["a", ""],
        attribute: [
          { name: "f", f: 0, type: AttributeType.FLOAT },
          { i: 0n, s: new Uint8Array(), t: {} },
          { s: Uint8Array.of(0, 255, 62, 63), floats: [0.1, Number.NaN, Infinity, -Infinity], ints: [1n] },
          { type: 99 as AttributeType },
        ],
      },
    ],
    initializer: [{ dims: [3n], dataType: DataType.FLOAT16, floatData: [1e30, -0] }],
    input: [
      { type: { tensorType: { shape: { dim: [{ size: { case: "value", value: 0n } }, {}] } } } },
      { type: { tensorType: { shape: { dim: [{ size: { case: "param", value: "" } }] } } } },
    ],
  },
});

test("is Protobuf's own with every implicit field, in the order of their numbers", () => {
  const own = toJson(ModelSchema, MODEL, { alwaysEmitImplicit: true });
  expect(JSON.stringify(jsonWriterOf(ModelSchema)(MODEL))).toBe(JSON.stringify(own));
  const info = create(ErrorInfoSchema, { reason: "R", metadata: { b: "1", a: "" } });
  const ownInfo = toJson(ErrorInfoSchema, info, { alwaysEmitImplicit: true });
  expect(JSON.stringify(jsonWriterOf(ErrorInfoSchema)(info))).toBe(JSON.stringify(ownInfo));
});

test("has the entries of a marked map in the map's place, whatever their keys", () => {
  const face = create(FaceSchema, { age: "20-40" });
  const message = create(AttributesSchema, { imageSize: [4, 3] });
  message.faces = Object.fromEntries([
    ["face_id_0", face],
    ["__proto__", face],
  ]);
  const told = '{"age":"20-40","face_rectangle":[],"gender":"","gender_confidence":0}';
  expect(JSON.stringify(jsonWriterOf(AttributesSchema)(message))).toBe(
    `{"face_id_0":${told},"__proto__":${told},"image_size":[4,3]}`,
  );
});

test("is not made for a well-known type, nor for one with such a type in it", () => {
  expect(() => jsonWriterOf(RetryInfoSchema)).toThrow(
    "google.protobuf.Duration has a form of its own in JSON",
  );
});
