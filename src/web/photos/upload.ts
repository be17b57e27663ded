import type { ServiceInfo } from "../site/service-info.ts";
import { type Size, sentSize } from "./sent-size.ts";

/** A photo as it is sent, which may be smaller than the original. */
export interface Upload extends Size {
  readonly file: Blob;
  /** Whether the browser encoded it again, because it is smaller or has another format than the original. */
  readonly isEncoded: boolean;
}

/** A photo before it is sent. */
export interface Original extends Size {
  readonly file: Blob;
  /** The decoded, upright photo. */
  readonly image: CanvasImageSource;
  /** Whether the service accepts the format of the file. */
  readonly isAccepted: boolean;
}

type Limits = Pick<ServiceInfo, "maxImageBytes" | "maxImagePixels">;

const JPEG_QUALITY = 0.92;

/**
 * Returns the photo to send: the file itself if possible, otherwise a JPEG of the upright photo. `mayScale` scales large
 * photos down. Throws if the browser cannot encode it.
 */
export async function createUpload(
  original: Original,
  mayScale: boolean,
  limits: Limits | undefined,
): Promise<Upload> {
  const { file, image, width, height, isAccepted } = original;
  const size = mayScale ? sentSize(original, limits?.maxImagePixels) : { width, height };
  const isTooLarge = mayScale && limits !== undefined && file.size > limits.maxImageBytes;
  if (isAccepted && !isTooLarge && size.width === width) return { file, width, height, isEncoded: false };
  return { file: await encodeJpeg(image, size), ...size, isEncoded: true };
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
