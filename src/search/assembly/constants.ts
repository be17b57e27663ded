// Shared by the kernel and by the TypeScript code that prepares its memory.

/** Numbers of a template. */
export const DIMENSIONS = 128;

/** Bytes of a template: 32-bit floats. */
export const TEMPLATE_BYTES = 4 * DIMENSIONS;
