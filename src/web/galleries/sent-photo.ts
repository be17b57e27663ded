import { closePhoto, openPhoto, PhotoError } from "../photos/open-photo.ts";
import { createUpload } from "../photos/upload.ts";
import { fetchServiceInfo } from "../site/service-info.ts";
import type { Box } from "./gallery-api.ts";

/** A photo of the user, and the file to send, which may be smaller or have another format. */
export interface SentPhoto {
  readonly name: string;
  readonly image: HTMLImageElement;
  readonly width: number;
  readonly height: number;
  readonly file: Blob;
  /** Converts a box from pixels of the sent file to pixels of the photo. */
  toPhoto(box: Box): Box;
  /** Releases the memory of the photo. */
  close(): void;
}

/** Opens a photo, and scales it down or converts it if needed. Throws PhotoError. */
export async function openSentPhoto(original: File): Promise<SentPhoto> {
  const limits = await fetchServiceInfo();
  const photo = await openPhoto(original, original.name || "photo", limits, { mayScale: true });
  try {
    const { file, ...sent } = await createUpload(photo, true, limits);
    const [scaleX, scaleY] = [photo.width / sent.width, photo.height / sent.height];
    return {
      ...photo,
      file,
      toPhoto: ({ x1, y1, x2, y2 }) => ({
        x1: x1 * scaleX,
        y1: y1 * scaleY,
        x2: x2 * scaleX,
        y2: y2 * scaleY,
      }),
      close: () => closePhoto(photo),
    };
  } catch {
    closePhoto(photo);
    throw new PhotoError(`${photo.name} is too large for this browser to convert.`);
  }
}
