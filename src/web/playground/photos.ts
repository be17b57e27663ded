import type { ServiceInfo } from "../site/service-info.ts";
import type { Photo } from "./store.ts";

type Limits = Pick<ServiceInfo, "maxImageBytes" | "maxImagePixels" | "imageFormats">;

/** A photo that the service would reject. The message tells the user why. */
export class PhotoError extends Error {
  override readonly name = "PhotoError";
}

/** Names and first bytes of the formats. File names and types are not reliable. */
const FORMATS = {
  jpeg: { name: "JPEG", signature: /^\xff\xd8\xff/ },
  png: { name: "PNG", signature: /^\x89PNG/ },
  webp: { name: "WebP", signature: /^RIFF.{4}WEBP/s },
};
const SIGNATURE_BYTES = 12;
const DEFAULT_FORMATS: Limits["imageFormats"] = ["jpeg", "png"];

const MIB = 1024 * 1024;

/** Opens a file as a photo. Throws PhotoError if the service would reject it. */
export async function openPhoto(file: Blob, name: string, limits: Limits | undefined): Promise<Photo> {
  const formats = (limits?.imageFormats ?? DEFAULT_FORMATS).map((format) => FORMATS[format]);
  const start = String.fromCharCode(...new Uint8Array(await file.slice(0, SIGNATURE_BYTES).arrayBuffer()));
  if (!formats.some(({ signature }) => signature.test(start)))
    throw new PhotoError(`${name} is not a ${formats.map((format) => format.name).join(" or ")} image.`);
  if (limits && file.size > limits.maxImageBytes)
    throw new PhotoError(
      `${name} is ${sizeText(file.size)}; the limit is ${sizeText(limits.maxImageBytes)}.`,
    );
  const image = await loadImage(file, name);
  // Browsers report the size after applying the EXIF orientation.
  const { naturalWidth: width, naturalHeight: height } = image;
  if (limits && width * height > limits.maxImagePixels)
    throw new PhotoError(
      `${name} is ${width} × ${height} pixels; the limit is ${megapixelText(limits.maxImagePixels)}.`,
    );
  return { file, name, image, width, height, faces: [] };
}

/** Releases the memory of a photo. */
export function closePhoto({ image }: Photo): void {
  URL.revokeObjectURL(image.src);
}

/** Writes a number of bytes in KiB or MiB. */
export function sizeText(bytes: number): string {
  return bytes < MIB ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / MIB).toFixed(1).replace(".0", "")} MiB`;
}

async function loadImage(file: Blob, name: string): Promise<HTMLImageElement> {
  const image = new Image();
  image.src = URL.createObjectURL(file);
  try {
    await image.decode();
    return image;
  } catch {
    URL.revokeObjectURL(image.src);
    throw new PhotoError(`${name} is damaged and cannot be displayed.`);
  }
}

function megapixelText(pixels: number): string {
  return `${Number((pixels / 1_000_000).toFixed(1))} megapixels`;
}
