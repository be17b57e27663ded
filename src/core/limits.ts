/** What one image may cost. */
export interface ImageLimits {
  /** Most bytes of the encoded image. */
  readonly maxBytes: number;
  /**
   * Most pixels (width times height) that its header may announce. Decoding may hold four bytes for each: an
   * interlaced or progressive image that takes more for its pixels may have fewer of them.
   */
  readonly maxPixels: number;
}

/** Where nothing else is said: 10 MiB and 40 megapixels. */
export const DEFAULT_LIMITS: ImageLimits = { maxBytes: 10 * 1024 * 1024, maxPixels: 40_000_000 };
