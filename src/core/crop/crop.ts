import type { Pixels, SimilarityTransform } from "../geometry.ts";
import type { TensorWriter } from "../networks.ts";
import { PIXELS_PER_STEP } from "./assembly/constants.ts";
import { mipLevel } from "./image-pyramid.ts";
import { kernels, MAX_CROP_SIDE, SCRATCH_ADDRESS, tensorAddress } from "./kernel-memory.ts";

/** The size of a crop in pixels. */
export interface CropSize {
  readonly width: number;
  readonly height: number;
}

/** Up to this downscaling, one bilinear sample per crop pixel averages enough. */
const MAX_SINGLE_SAMPLE_DOWNSCALE = 1.05;

/**
 * Returns a writer of a crop. `transform` maps crop coordinates to image coordinates.
 * Outside the image the crop is black.
 *
 * Where the crop is smaller than its part of the image, it averages the area under each crop pixel: it takes the mip
 * level that is less than twice too large, and the mean of two by two bilinear samples of that level. The samples lie
 * along the axes of the image, whatever the rotation of the crop.
 */
export function crop(image: Pixels, transform: SimilarityTransform, size: CropSize): TensorWriter {
  return {
    ...size,
    batchSize: 1,
    write: (tensor) => writeCrop(image, transform, size, tensor),
  };
}

/** Returns a writer of the same crop, followed by its mirror image (left to right). */
export function cropAndMirror(image: Pixels, transform: SimilarityTransform, size: CropSize): TensorWriter {
  return {
    ...size,
    batchSize: 2,
    write: (tensor) => {
      const middle = tensor.length / 2;
      const [original, mirrored] = [tensor.subarray(0, middle), tensor.subarray(middle)];
      writeCrop(image, transform, size, original);
      mirrored.set(original);
      for (let row = 0; row < middle; row += size.width) mirrored.subarray(row, row + size.width).reverse();
    },
  };
}

function writeCrop(
  image: Pixels,
  transform: SimilarityTransform,
  size: CropSize,
  tensor: Float32Array,
): void {
  if (Math.max(size.width, size.height) > MAX_CROP_SIDE || size.width % PIXELS_PER_STEP !== 0)
    throw new RangeError(`A crop cannot have ${size.width} by ${size.height} pixels.`);
  // The kernel would write past the end, into the image.
  if (tensor.length < 3 * size.width * size.height) throw new RangeError("The batch is too large.");
  const downscale = Math.hypot(transform.a, transform.b);
  const level = mipLevelFor(image, downscale);
  const { address, stride, width, height } = mipLevel(image, level);

  const factor = 2 ** -level;
  const a = transform.a * factor;
  const b = transform.b * factor;
  const remaining = downscale * factor;
  // An image one pixel wide or high has no further levels, so `remaining` may exceed 2.
  const gap = remaining > MAX_SINGLE_SAMPLE_DOWNSCALE ? Math.min(1, remaining / 2) : 0;
  const x = transform.dx * factor + (a - b - gap - 1) / 2;
  const y = transform.dy * factor + (a + b - gap - 1) / 2;

  kernels.sample(
    ...([address, stride, width, height, x, y, a, b, gap] as const),
    ...([SCRATCH_ADDRESS, tensorAddress(tensor), size.width, size.height] as const),
  );
}

/** The largest mip level that is not smaller than the crop, as far as the image has levels. */
function mipLevelFor({ width, height }: Pixels, downscale: number): number {
  const wanted = Math.floor(Math.log2(Math.max(1, downscale)));
  return Math.min(wanted, Math.floor(Math.log2(Math.min(width, height))));
}
