import { io } from "@tensorflow/tfjs-core";
import { describe, expect, it } from "vitest";
import { readWeights, type WeightsManifest } from "../../../tools/models/tfjs-weights.ts";
import "../../support/tfjs.ts";

// Two groups, as tfjs writes them for a network with several weight files. The odd number of uint8 values leaves the
// following values unaligned.
const MANIFEST: WeightsManifest = [
  {
    weights: [
      { name: "float", shape: [2, 2], dtype: "float32" },
      {
        name: "byte",
        shape: [3],
        dtype: "float32",
        quantization: { dtype: "uint8", scale: 0.25, min: -1.5 },
      },
    ],
  },
  {
    weights: [
      { name: "int", shape: [2], dtype: "int32" },
      { name: "half", shape: [1, 3], dtype: "float32", quantization: { dtype: "float16" } },
      { name: "word", shape: [2], dtype: "float32", quantization: { dtype: "uint16", scale: 0.001, min: 7 } },
      { name: "level", shape: [3], dtype: "int32", quantization: { dtype: "uint8", scale: 0.7, min: -70 } },
      { name: "scalar", shape: [], dtype: "float32" },
      { name: "empty", shape: [0, 4], dtype: "float32" },
    ],
  },
];

const BYTES = Buffer.concat([
  Buffer.from(Float32Array.of(1.5, -2.25, 3e-7, 1e30).buffer),
  Buffer.from(Uint8Array.of(0, 6, 255).buffer),
  Buffer.from(Int32Array.of(-1, 2 ** 31 - 1).buffer),
  Buffer.from(Uint16Array.of(0x3c00, 0xc100, 0x0001).buffer),
  Buffer.from(Uint16Array.of(0, 65535).buffer),
  Buffer.from(Uint8Array.of(0, 99, 102).buffer),
  Buffer.from(Float32Array.of(42).buffer),
]);

describe("readWeights", () => {
  it("reads every storage type, across groups", () => {
    const weights = readWeights(MANIFEST, BYTES);
    expect([...weights.keys()]).toEqual(MANIFEST.flatMap((group) => group.weights.map(({ name }) => name)));
    expect(weights.get("float")).toEqual({ shape: [2, 2], values: Float32Array.of(1.5, -2.25, 3e-7, 1e30) });
    expect(weights.get("byte")!.values).toEqual(Float32Array.of(-1.5, 0, 62.25));
    expect(weights.get("int")!.values).toEqual(Int32Array.of(-1, 2147483647));
    expect(weights.get("half")).toEqual({ shape: [1, 3], values: Float32Array.of(1, -2.5, 2 ** -24) });
    expect(weights.get("word")!.values).toEqual(Float32Array.of(7, 72.535));
    expect(weights.get("scalar")).toEqual({ shape: [], values: Float32Array.of(42) });
    expect(weights.get("empty")!.values).toHaveLength(0);
  });

  it("rounds dequantised integers to the nearest", () => {
    expect(readWeights(MANIFEST, BYTES).get("level")!.values).toEqual(Int32Array.of(-70, -1, 1));
  });

  it("reads the same values as tfjs", () => {
    const specs = MANIFEST.flatMap((group) => group.weights);
    const expected = io.decodeWeights(
      Uint8Array.from(BYTES).buffer,
      structuredClone(specs) as io.WeightsManifestEntry[],
    );
    for (const [name, { shape, values }] of readWeights(MANIFEST, BYTES)) {
      expect(expected[name]!.shape, name).toEqual(shape);
      expect(expected[name]!.dataSync(), name).toEqual(values);
    }
  });

  it("reads from a view of a larger buffer", () => {
    const larger = Buffer.concat([Buffer.of(1, 2, 3), BYTES, Buffer.of(4)]);
    expect(readWeights(MANIFEST, larger.subarray(3, -1))).toEqual(readWeights(MANIFEST, BYTES));
  });

  it.each([
    ["a byte too many", Buffer.concat([BYTES, Buffer.of(0)])],
    ["a byte too few", BYTES.subarray(0, -1)],
    ["nothing", Buffer.alloc(0)],
  ])("rejects a file with %s and reports both lengths", (_, bytes) => {
    const lengths = `The weights manifest describes ${BYTES.length} bytes; the file has ${bytes.length}.`;
    expect(() => readWeights(MANIFEST, bytes)).toThrow(lengths);
  });
});
