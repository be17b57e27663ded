import { instantiate } from "./kernels.wasm.js";

/** Most pixels on a side of a crop. */
export const MOST_SIDE = 256;

/** Most images in one run: two share the reading of the weights, more no longer fit a core's cache beside each other. */
export const MAX_BATCH = 2;

const CANVAS_FLOATS = MAX_BATCH * 3 * MOST_SIDE ** 2;

/** Fits the largest photo that is worked on, with all its halvings, or two of 1920x1280. */
const IMAGES_BYTES = 20 * 1024 * 1024;

const SCRATCH_BYTES = 65_536;

// Where WebAssembly draws: scratch, the canvas, and then images. It never grows, as that would move the canvas.
export const SCRATCH = 0;
const CANVAS = SCRATCH + SCRATCH_BYTES;
export const IMAGES = CANVAS + 4 * CANVAS_FLOATS;
export const IMAGES_END = IMAGES + IMAGES_BYTES;
export const kernels = instantiate(IMAGES_END);
export const { memory } = kernels;

const canvas = new Float32Array(memory.buffer, CANVAS, CANVAS_FLOATS);
let lastUse: Promise<unknown> = Promise.resolve();

/**
 * Lends the canvas, on which the input of a network is drawn and from which the network reads it, to one user after
 * another. A process has one, since it runs one network at a time: onnxruntime-node works on the main thread.
 */
export function withCanvas<T>(use: (canvas: Float32Array) => Promise<T>): Promise<T> {
  const result = lastUse.then(() => use(canvas));
  lastUse = result.catch(() => {});
  return result;
}
