import type { ServiceInfo } from "../site/service-info.ts";
import { readSize } from "./image-size.ts";

type Limits = Pick<ServiceInfo, "maxImageBytes" | "maxImagePixels" | "imageFormats">;

/** A photo that the browser cannot read or the service would reject. The message tells the user why. */
export class PhotoError extends Error {
  override readonly name = "PhotoError";
}

/** Names and first bytes of the formats. File names and types are not reliable. */
const FORMATS = {
  jpeg: { name: "JPEG", signature: /^\xff\xd8\xff/ },
  png: { name: "PNG", signature: /^\x89PNG/ },
  // The service accepts lossy ones only. One with VP8X may be lossless or transparent, and is sent as a JPEG.
  webp: { name: "WebP", signature: /^RIFF.{4}WEBPVP8 /s },
};
const SIGNATURE_BYTES = 16;
const DEFAULT_FORMATS: Limits["imageFormats"] = ["jpeg", "png"];

/** Photos of phones, which most browsers cannot decode. */
const HEIC_NAME = /\.hei[cf]$/i;

const HOW_TO_SCALE = "Turn on “Scale down large photos”, or use a smaller one.";

const MIB = 1024 * 1024;

/** A photo that the browser displays. */
export interface OpenPhoto {
  readonly file: Blob;
  readonly name: string;
  /** The element that displays it, loaded. */
  readonly image: HTMLImageElement;
  /** Size of the upright photo in pixels. */
  readonly width: number;
  readonly height: number;
  /** Whether the service accepts its format; otherwise it is sent as a JPEG. */
  readonly isAccepted: boolean;
}

/** What happens to a photo before it is sent. */
export interface Conversion {
  /** Large photos are scaled down, so they do not exceed the limits. */
  readonly mayScale: boolean;
}

/**
 * Opens a file as a photo. Throws PhotoError if the browser cannot read it, or if the service would reject it. With a
 * conversion, every format is accepted that the browser can read.
 */
export async function openPhoto(
  file: Blob,
  name: string,
  limits: Limits | undefined,
  conversion?: Conversion,
): Promise<OpenPhoto> {
  const isAccepted = await hasAcceptedFormat(file, name, limits);
  if (!isAccepted && !conversion) throw new PhotoError(`${name} is not a ${formatNames(limits)} image.`);
  const mayScale = conversion?.mayScale === true;
  const remedy = conversion ? ` ${HOW_TO_SCALE}` : "";
  if (limits && !mayScale && file.size > limits.maxImageBytes)
    throw new PhotoError(
      `${name} is ${sizeText(file.size)}; the limit is ${sizeText(limits.maxImageBytes)}.${remedy}`,
    );
  const image = await loadImage(file).catch(async () => {
    throw await unreadable(file, name, isAccepted, limits);
  });
  // Browsers report the size after applying the EXIF orientation.
  const { naturalWidth: width, naturalHeight: height } = image;
  if (limits && !mayScale && width * height > limits.maxImagePixels) {
    URL.revokeObjectURL(image.src);
    throw new PhotoError(
      `${name} is ${width} × ${height} pixels; the limit is ${megapixelText(limits.maxImagePixels)}.${remedy}`,
    );
  }
  return { file, name, image, width, height, isAccepted };
}

/** Whether the service accepts the format of a file. Throws PhotoError if it cannot be read, such as a folder. */
export async function hasAcceptedFormat(
  file: Blob,
  name: string,
  limits: Limits | undefined,
): Promise<boolean> {
  const bytes = await file
    .slice(0, SIGNATURE_BYTES)
    .arrayBuffer()
    .catch(() => {
      throw new PhotoError(`${name} cannot be read.`);
    });
  const start = String.fromCharCode(...new Uint8Array(bytes));
  return acceptedFormats(limits).some(({ signature }) => signature.test(start));
}

/** Browsers may give up on larger images, of which the pixels alone take half a gibibyte. */
const MAX_DECODED_PIXELS = 2 ** 27;

/** The error of a file that the browser cannot decode. */
export async function unreadable(
  file: Blob,
  name: string,
  isAccepted: boolean,
  limits: Limits | undefined,
): Promise<PhotoError> {
  const { width = 0, height = 0 } = (await readSize(file)) ?? {};
  if (width * height > MAX_DECODED_PIXELS)
    return new PhotoError(
      `${name} is too large for this browser: ${width} × ${height} pixels. Make it smaller first.`,
    );
  if (isAccepted) return new PhotoError(`${name} is damaged and cannot be displayed.`);
  if (HEIC_NAME.test(name))
    return new PhotoError(
      `${name} is a HEIC photo, which this browser cannot convert. Export it as JPEG first.`,
    );
  return new PhotoError(`${name} is not a ${formatNames(limits)} image, and this browser cannot convert it.`);
}

function formatNames(limits: Limits | undefined): string {
  return acceptedFormats(limits)
    .map((format) => format.name)
    .join(" or ");
}

function acceptedFormats(limits: Limits | undefined) {
  return (limits?.imageFormats ?? DEFAULT_FORMATS).map((format) => FORMATS[format]);
}

/** Releases the memory of a photo. */
export function closePhoto({ image }: OpenPhoto): void {
  URL.revokeObjectURL(image.src);
}

/** Writes a number of bytes in KiB or MiB. */
export function sizeText(bytes: number): string {
  return bytes < MIB ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / MIB).toFixed(1).replace(".0", "")} MiB`;
}

/** Rejects if the browser cannot decode the file. */
async function loadImage(file: Blob): Promise<HTMLImageElement> {
  const image = new Image();
  image.src = URL.createObjectURL(file);
  try {
    await image.decode();
    // A vector drawing may have no size.
    if (image.naturalWidth === 0) throw new Error("The image has no pixels.");
    return image;
  } catch (error) {
    URL.revokeObjectURL(image.src);
    throw error;
  }
}

function megapixelText(pixels: number): string {
  return `${Number((pixels / 1_000_000).toFixed(1))} megapixels`;
}
