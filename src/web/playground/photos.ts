import type { Photo } from "./store.ts";

/** What one photo may cost, as the service is set. */
export interface Limits {
  readonly maxImageBytes: number;
  readonly maxImagePixels: number;
}

/** A photo that the service would refuse; the message says why. */
export class PhotoError extends Error {
  override readonly name = "PhotoError";
}

/** Beginnings of the two formats, which tell them better than a name. */
const SIGNATURES = [
  [0xff, 0xd8, 0xff],
  [0x89, 0x50, 0x4e, 0x47],
];

const MIB = 1024 * 1024;

/** Asks the service for its limits; none where it does not say. */
export async function fetchLimits(): Promise<Limits | undefined> {
  try {
    const response = await fetch(new URL("playground/limits.json", document.baseURI));
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}

/** Opens a file as a photo; throws PhotoError for one that the service would refuse. */
export async function openPhoto(file: Blob, name: string, limits: Limits | undefined): Promise<Photo> {
  const start = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  if (!SIGNATURES.some((signature) => signature.every((byte, i) => byte === start[i])))
    throw new PhotoError(`${name} is neither a JPEG nor a PNG.`);
  if (limits && file.size > limits.maxImageBytes)
    throw new PhotoError(
      `${name} has ${sizeText(file.size)}; this service takes ${sizeText(limits.maxImageBytes)}.`,
    );
  const image = await loadImage(file, name);
  // Of the upright photo: browsers apply the EXIF orientation before they tell a size.
  const { naturalWidth: width, naturalHeight: height } = image;
  if (limits && width * height > limits.maxImagePixels)
    throw new PhotoError(
      `${name} has ${width} × ${height} pixels; this service takes ${megapixels(limits.maxImagePixels)}.`,
    );
  return { file, name, image, width, height, faces: [] };
}

/** Frees what a photo holds. */
export function closePhoto({ image }: Photo): void {
  URL.revokeObjectURL(image.src);
}

/** A number of bytes as people say it. */
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
    throw new PhotoError(`${name} is damaged and cannot be shown.`);
  }
}

function megapixels(pixels: number): string {
  return `${Number((pixels / 1_000_000).toFixed(1))} megapixels`;
}
