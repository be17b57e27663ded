import { floatFromHalf } from "./half.ts";

/** One entry of a tfjs weights manifest. */
interface WeightEntry {
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: "float32" | "int32";
  readonly quantization?: {
    readonly dtype: "float16" | "uint8" | "uint16";
    readonly scale?: number;
    readonly min?: number;
  };
}

/** A tfjs weights manifest: groups of entries, each group stored in files that are read as one. */
export type WeightsManifest = readonly { readonly weights: readonly WeightEntry[] }[];

/** A named array of numbers in the layout of its file. */
export interface Weight {
  readonly shape: readonly number[];
  readonly values: Float32Array | Int32Array;
}

/** Reads the weights that a manifest describes, widening half precision and 8- or 16-bit quantised ones. */
export function readWeights(manifest: WeightsManifest, bytes: Uint8Array): Map<string, Weight> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const weights = new Map<string, Weight>();
  let offset = 0;
  for (const { name, shape, dtype, quantization } of manifest.flatMap((group) => group.weights)) {
    const stored = quantization?.dtype ?? dtype;
    const { width, read } = STORED_TYPES[stored];
    const scale = quantization?.scale ?? 1;
    const min = quantization?.min ?? 0;
    const length = shape.reduce((product, size) => product * size, 1);
    const number = (_: unknown, i: number) => read(view, offset + i * width) * scale + min;
    const values =
      dtype === "int32" ? Int32Array.from({ length }, number) : Float32Array.from({ length }, number);
    weights.set(name, { shape, values });
    offset += length * width;
  }
  if (offset !== bytes.length)
    throw new Error(`weights manifest describes ${offset} bytes, file has ${bytes.length}`);
  return weights;
}

const STORED_TYPES = {
  float32: { width: 4, read: (view: DataView, at: number) => view.getFloat32(at, true) },
  int32: { width: 4, read: (view: DataView, at: number) => view.getInt32(at, true) },
  float16: { width: 2, read: (view: DataView, at: number) => floatFromHalf(view.getUint16(at, true)) },
  uint16: { width: 2, read: (view: DataView, at: number) => view.getUint16(at, true) },
  uint8: { width: 1, read: (view: DataView, at: number) => view.getUint8(at) },
};
