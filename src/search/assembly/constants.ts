// Shared by the kernel and by the TypeScript code that prepares its memory.

/** Numbers of a template. */
export const DIMENSIONS = 128;

/** Bytes of a template: 32-bit floats. */
export const TEMPLATE_BYTES = 4 * DIMENSIONS;

/** Where the norm of a quantized template is, as a 32-bit float: after its 16-bit integers. */
export const NORM_OFFSET = 2 * DIMENSIONS;

/** The integers of a quantized template are its numbers, divided by its norm and multiplied by this. */
export const QUANTIZED_SCALE = 32_767;

/** Bytes of a quantized template: its integers, its norm, and 12 bytes for the caller, so that it is aligned. */
export const QUANTIZED_BYTES = NORM_OFFSET + 16;
