// Shared by the kernels and by the TypeScript code that prepares their memory.

/** Bytes of a pixel: red, green, blue. */
export const PIXEL_BYTES = 3;

/** Black pixels on each side of an image. A crop that reaches over the edge reads them. */
export const PADDING = 3;

/** Output pixels that the sampling kernels compute at once. The side of a crop is a multiple of it. */
export const PIXELS_PER_STEP = 4;
