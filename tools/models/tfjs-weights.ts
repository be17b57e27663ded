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
  const entries = manifest.flatMap((group) => group.weights);
  const described = entries.reduce((sum, entry) => sum + countOf(entry) * storedTypeOf(entry).width, 0);
  if (described !== bytes.length)
    throw new Error(`weights manifest describes ${described} bytes, file has ${bytes.length}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const weights = new Map<string, Weight>();
  let offset = 0;
  for (const entry of entries) {
    const { name, shape, dtype, quantization: { scale = 1, min = 0 } = {} } = entry;
    const { width, read } = storedTypeOf(entry);
    const length = countOf(entry);
    const number = (i: number) => read(view, offset + i * width) * scale + min;
    const values =
      dtype === "int32"
        ? Int32Array.from({ length }, (_, i) => Math.round(number(i)))
        : Float32Array.from({ length }, (_, i) => number(i));
    weights.set(name, { shape, values });
    offset += length * width;
  }
  return weights;
}

function countOf({ shape }: WeightEntry): number {
  return shape.reduce((product, size) => product * size, 1);
}

function storedTypeOf({ dtype, quantization }: WeightEntry) {
  return STORED_TYPES[quantization?.dtype ?? dtype];
}

const STORED_TYPES = {
  float32: { width: 4, read: (view: DataView, at: number) => view.getFloat32(at, true) },
  int32: { width: 4, read: (view: DataView, at: number) => view.getInt32(at, true) },
  float16: { width: 2, read: (view: DataView, at: number) => floatFromHalf(view.getUint16(at, true)) },
  uint16: { width: 2, read: (view: DataView, at: number) => view.getUint16(at, true) },
  uint8: { width: 1, read: (view: DataView, at: number) => view.getUint8(at) },
};
