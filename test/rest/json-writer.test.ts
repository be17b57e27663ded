import { create, toJson } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { AttributesSchema, FaceSchema } from "../../gen/ts/face/v1/face_pb.ts";
import { ErrorInfoSchema, RetryInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import { AttributeType, DataType, ModelSchema } from "../../gen/ts/onnx/v1/onnx_pb.ts";
import { createJsonWriter } from "../../src/rest/json-writer.ts";

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

test("writes what protobuf-es writes, with all implicit fields, in the order of field numbers", () => {
  const expected = toJson(ModelSchema, MODEL, { alwaysEmitImplicit: true });
  expect(JSON.stringify(createJsonWriter(ModelSchema)(MODEL))).toBe(JSON.stringify(expected));
  const info = create(ErrorInfoSchema, { reason: "R", metadata: { b: "1", a: "" } });
  const expectedInfo = toJson(ErrorInfoSchema, info, { alwaysEmitImplicit: true });
  expect(JSON.stringify(createJsonWriter(ErrorInfoSchema)(info))).toBe(JSON.stringify(expectedInfo));
});

test("writes the entries of a flattened map into the enclosing object, whatever their keys", () => {
  const face = create(FaceSchema, { age: "20-40" });
  const message = create(AttributesSchema, { imageSize: [4, 3] });
  message.faces = Object.fromEntries([
    ["face_id_0", face],
    ["__proto__", face],
  ]);
  const faceJson = '{"age":"20-40","face_rectangle":[],"gender":"","gender_confidence":0}';
  expect(JSON.stringify(createJsonWriter(AttributesSchema)(message))).toBe(
    `{"face_id_0":${faceJson},"__proto__":${faceJson},"image_size":[4,3]}`,
  );
});

test("writes well-known types in their own form, also inside a message", () => {
  const info = create(RetryInfoSchema, { retryDelay: { seconds: 1n, nanos: 500_000_000 } });
  expect(createJsonWriter(RetryInfoSchema)(info)).toEqual({ retryDelay: "1.500s" });
});
