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

/** A tfjs weights manifest: groups of entries, concatenated in the weights file. */
export type WeightsManifest = readonly { readonly weights: readonly WeightEntry[] }[];

/** The values of a weight in the layout of the file. */
export interface Weight {
  readonly shape: readonly number[];
  readonly values: Float32Array | Int32Array;
}

/** Reads the weights of a manifest. Dequantises float16, uint8 and uint16 values. Throws if the lengths differ. */
export function readWeights(manifest: WeightsManifest, bytes: Uint8Array): Map<string, Weight> {
  const entries = manifest.flatMap((group) => group.weights);
  const expectedBytes = entries.reduce((sum, entry) => sum + countOf(entry) * storageTypeOf(entry).width, 0);
  if (expectedBytes !== bytes.length)
    throw new Error(`The weights manifest describes ${expectedBytes} bytes; the file has ${bytes.length}.`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const weights = new Map<string, Weight>();
  let offset = 0;
  for (const entry of entries) {
    const { name, shape, dtype, quantization: { scale = 1, min = 0 } = {} } = entry;
    const { width, read } = storageTypeOf(entry);
    const length = countOf(entry);
    const value = (i: number) => read(view, offset + i * width) * scale + min;
    const values =
      dtype === "int32"
        ? Int32Array.from({ length }, (_, i) => Math.round(value(i)))
        : Float32Array.from({ length }, (_, i) => value(i));
    weights.set(name, { shape, values });
    offset += length * width;
  }
  return weights;
}

function countOf({ shape }: WeightEntry): number {
  return shape.reduce((product, size) => product * size, 1);
}

function storageTypeOf({ dtype, quantization }: WeightEntry) {
  return STORAGE_TYPES[quantization?.dtype ?? dtype];
}

const STORAGE_TYPES = {
  float32: { width: 4, read: (view: DataView, at: number) => view.getFloat32(at, true) },
  int32: { width: 4, read: (view: DataView, at: number) => view.getInt32(at, true) },
  float16: { width: 2, read: (view: DataView, at: number) => floatFromHalf(view.getUint16(at, true)) },
  uint16: { width: 2, read: (view: DataView, at: number) => view.getUint16(at, true) },
  uint8: { width: 1, read: (view: DataView, at: number) => view.getUint8(at) },
};
