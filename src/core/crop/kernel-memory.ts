import { instantiate } from "./kernels.wasm.js";

/** Largest side of a crop, in pixels: that of the detector. */
export const MAX_CROP_SIDE = 1024;

const SCRATCH_BYTES = 32 * 1024;

/** One crop of the largest side, or the largest batch of smaller ones: 28 of the mesh network. */
export const TENSOR_FLOATS = 3 * MAX_CROP_SIDE ** 2;

/** Fits the pyramid of the largest decoded photo. */
export const PYRAMID_BYTES = 17 * 1024 * 1024;

// The memory of the kernels: scratch, the input tensor, an image pyramid. It never grows, because that would detach the
// buffer of the input tensor.
export const SCRATCH_ADDRESS = 0;
const TENSOR_ADDRESS = SCRATCH_ADDRESS + SCRATCH_BYTES;
export const PYRAMID_ADDRESS = TENSOR_ADDRESS + 4 * TENSOR_FLOATS;

export const kernels = instantiate(PYRAMID_ADDRESS + PYRAMID_BYTES);

const inputTensor = new Float32Array(kernels.memory.buffer, TENSOR_ADDRESS, TENSOR_FLOATS);
let lastUse: Promise<unknown> = Promise.resolve();

/**
 * Gives `use` exclusive access to the input tensor, once all earlier users have finished. A process has one input
 * tensor because it runs one network at a time: onnxruntime-node blocks the main thread.
 */
export function withInputTensor<T>(use: (tensor: Float32Array) => Promise<T>): Promise<T> {
  const result = lastUse.then(() => use(inputTensor));
  lastUse = result.catch(() => {});
  return result;
}

/** Returns the address of a part of the input tensor. Throws RangeError for any other array. */
export function tensorAddress({ buffer, byteOffset }: Float32Array): number {
  if (buffer !== kernels.memory.buffer) throw new RangeError("The array is not part of the input tensor.");
  return byteOffset;
}
