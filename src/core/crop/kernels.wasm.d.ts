// The interface of kernels.wasm.js, which tools/kernels.mjs compiles from assembly/.

export interface CropKernels {
  readonly memory: { readonly buffer: ArrayBuffer };

  /**
   * Samples a crop out of an image and writes it as three planes of floats: red, green, blue. A crop pixel is the mean
   * of two by two samples, each a bilinear interpolation of the image.
   *
   * @param image Address of the image's first pixel. Pixels are three bytes, with PADDING black ones on every side.
   * @param stride Bytes from one image row to the next.
   * @param width Pixels in an image row.
   * @param height Image rows.
   * @param x Position of the first sample of the crop's first pixel. Image pixels have their centres at integers.
   * @param y The same, vertically.
   * @param a Step to the right in the image for one pixel to the right in the crop.
   * @param b Step down in the image for one pixel to the right in the crop.
   * @param gap Distance between two samples along an axis, in image pixels: 0 to 1.
   * @param scratch Address of 32 KiB that the kernel may overwrite.
   * @param planes Address of the output.
   * @param columns Width of the crop: a multiple of PIXELS_PER_STEP.
   * @param rows Height of the crop.
   */
  sample(
    image: number,
    stride: number,
    width: number,
    height: number,
    x: number,
    y: number,
    a: number,
    b: number,
    gap: number,
    scratch: number,
    planes: number,
    columns: number,
    rows: number,
  ): void;

  /**
   * Halves an image with a box filter: an output pixel is the rounded mean of two by two pixels. `width` and `height`
   * are those of the output. The kernel writes past the end of each row, into the padding.
   */
  halve(from: number, fromStride: number, to: number, toStride: number, width: number, height: number): void;
}

/** Instantiates the kernels over memory of at least `bytes` bytes, filled with zeros. */
export function instantiate(bytes: number): CropKernels;
