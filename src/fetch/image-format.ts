/** How a format is named, and recognized by its first bytes in Latin-1. */
interface FormatEntry {
  readonly name: string;
  readonly mediaType: string;
  /** Enough bytes to recognize the format; no image is shorter. */
  readonly signatureBytes: number;
  readonly matches: (start: string) => boolean;
}

const FORMATS = {
  jpeg: {
    name: "JPEG",
    mediaType: "image/jpeg",
    signatureBytes: 3,
    matches: (start) => start.startsWith("\xff\xd8\xff"),
  },
  png: {
    name: "PNG",
    mediaType: "image/png",
    signatureBytes: 8,
    matches: (start) => start.startsWith("\x89PNG\r\n\x1a\n"),
  },
  webp: {
    name: "WebP",
    mediaType: "image/webp",
    signatureBytes: 12,
    matches: (start) => start.startsWith("RIFF") && start.startsWith("WEBP", 8),
  },
} satisfies Record<string, FormatEntry>;

/** A format of images. */
export type ImageFormat = keyof typeof FORMATS;

/** The formats that can be accepted. */
export const IMAGE_FORMATS = Object.keys(FORMATS) as ImageFormat[];

/** The formats that are always accepted. */
export const DEFAULT_IMAGE_FORMATS: readonly ImageFormat[] = ["jpeg", "png"];

/** Returns how many bytes are enough to recognize each of the formats. */
export function signatureBytes(formats: readonly ImageFormat[]): number {
  return Math.max(...formats.map((format) => FORMATS[format].signatureBytes));
}

/** Whether bytes begin like an image of one of the formats. */
export function hasImageSignature(bytes: Uint8Array, formats: readonly ImageFormat[]): boolean {
  const start = Buffer.from(bytes.subarray(0, signatureBytes(formats))).toString("latin1");
  return formats.some((format) => FORMATS[format].matches(start));
}

/** Returns the value of an Accept header. */
export function acceptHeader(formats: readonly ImageFormat[]): string {
  return formats.map((format) => FORMATS[format].mediaType).join(", ");
}

/** Names the formats in a sentence: "JPEG or PNG". */
export function namesOf(formats: readonly ImageFormat[]): string {
  return formats.map((format) => FORMATS[format].name).join(" or ");
}
