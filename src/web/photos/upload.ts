import { fetchServiceInfo } from "../site/service-info.ts";
import { type Scale, type Size, sentSize } from "./geometry.ts";
import { PhotoError } from "./open-photo.ts";

/** A photo as it is sent, which may be smaller than the original or have another format. */
export interface Upload extends Size {
  readonly file: Blob;
  /** How many pixels of the original one pixel is. */
  readonly scale: Scale;
}

/** A photo before it is sent. */
export interface Original extends Size {
  readonly file: Blob;
  readonly name: string;
  /** The decoded, upright photo. */
  readonly image: CanvasImageSource;
  /** Whether the service accepts the format of the file. */
  readonly isAccepted: boolean;
}

const JPEG_QUALITY = 0.92;

/**
 * Returns the photo to send: the file itself if possible, otherwise a JPEG of the upright photo. `mayScale` scales large
 * photos down. Throws PhotoError if the browser cannot encode it.
 */
export async function createUpload(original: Original, mayScale: boolean): Promise<Upload> {
  const { file, name, image, width, height, isAccepted } = original;
  const limits = await fetchServiceInfo();
  const size = mayScale ? sentSize(original, limits?.maxImagePixels) : { width, height };
  const scale = { x: width / size.width, y: height / size.height };
  const isTooLarge = mayScale && limits !== undefined && file.size > limits.maxImageBytes;
  if (isAccepted && !isTooLarge && size.width === width) return { file, ...size, scale };
  const encoded = await encodeJpeg(image, size).catch(() => {
    throw new PhotoError(`${name} is too large for this browser to convert.`);
  });
  return { file: encoded, ...size, scale };
}

/** Encodes an image as JPEG, scaled to a size. */
export function encodeJpeg(image: CanvasImageSource, { width, height }: Size): Promise<Blob> {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  if (context) {
    // JPEG has no transparency; without a background it would be black.
    context.fillStyle = "#ffffff";
    context.fillRect(0, 0, width, height);
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, 0, width, height);
  }
  return new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error("The browser could not encode the photo."))),
      "image/jpeg",
      JPEG_QUALITY,
    );
  });
}
