import type { Box } from "../photos/geometry.ts";
import { closePhoto, type OpenPhoto, openPhoto } from "../photos/open-photo.ts";
import { createUpload } from "../photos/upload.ts";
import { fetchServiceInfo } from "../site/service-info.ts";

/** A photo of the user; its file is the one to send, which may be smaller or have another format. */
export interface SentPhoto extends OpenPhoto {
  /** Converts a box from pixels of the sent file to pixels of the photo. */
  toPhoto(box: Box): Box;
}

/** Opens a photo, and scales it down or converts it if needed. Throws PhotoError. Close it with `closePhoto`. */
export async function openSentPhoto(original: File): Promise<SentPhoto> {
  const limits = await fetchServiceInfo();
  const photo = await openPhoto(original, original.name || "photo", limits, { mayScale: true });
  try {
    const { file, scale } = await createUpload(photo, true);
    const toPhoto = ({ x1, y1, x2, y2 }: Box) => ({
      x1: x1 * scale.x,
      y1: y1 * scale.y,
      x2: x2 * scale.x,
      y2: y2 * scale.y,
    });
    return { ...photo, file, toPhoto };
  } catch (error) {
    closePhoto(photo);
    throw error;
  }
}
