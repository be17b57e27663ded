import type { ImageHeader } from "./image-header.ts";
import { isJpeg, readJpegHeader } from "./jpeg-header.ts";
import type { ImageFormat } from "./limits.ts";
import { isPng, readPngHeader } from "./png-header.ts";
import { isWebp, readWebpHeader } from "./webp-header.ts";

/** How images of a format are recognized and read. */
export interface FormatEntry {
  /** For error messages, with its article. */
  readonly name: string;
  /** Whether bytes begin like an image of this format. */
  readonly matches: (bytes: Uint8Array) => boolean;
  /** Our own parser: libvips reports the largest announced sizes as corruption. */
  readonly readHeader: (bytes: Uint8Array) => ImageHeader;
  /** The operation of libvips that decodes it. */
  readonly loader: string;
}

/** The formats that can be decoded. */
export const FORMATS: Readonly<Record<ImageFormat, FormatEntry>> = {
  jpeg: {
    name: "a JPEG",
    matches: isJpeg,
    readHeader: readJpegHeader,
    loader: "VipsForeignLoadJpegBuffer",
  },
  png: { name: "a PNG", matches: isPng, readHeader: readPngHeader, loader: "VipsForeignLoadPngBuffer" },
  webp: { name: "a WebP", matches: isWebp, readHeader: readWebpHeader, loader: "VipsForeignLoadWebpBuffer" },
};
