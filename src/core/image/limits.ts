/** The formats that an analyzer can accept. */
export type ImageFormat = "jpeg" | "png" | "webp";

/** Limits of one image. */
export interface ImageLimits {
  /** Maximum size of the encoded image in bytes. */
  readonly maxBytes: number;
  /**
   * Maximum number of pixels (width times height) that the header may announce. Decoding may hold four bytes for
   * each of them in memory: an interlaced or progressive image that needs more per pixel may have fewer pixels.
   */
  readonly maxPixels: number;
  /** The formats that are accepted. */
  readonly formats: readonly ImageFormat[];
}

/** The default limits: 10 MiB and 40 megapixels of JPEG or PNG. */
export const DEFAULT_LIMITS: ImageLimits = {
  maxBytes: 10 * 1024 * 1024,
  maxPixels: 40_000_000,
  formats: ["jpeg", "png"],
};
