import { PhotoError } from "../photos/open-photo.ts";
import { createUpload } from "../photos/upload.ts";
import { fetchServiceInfo } from "../site/service-info.ts";
import type { FaceRequest, RequestImage } from "./request.ts";
import { type Scale, toSent } from "./scale-response.ts";

/** A request in pixels of the photos that are sent. */
export interface SentRequest {
  readonly body: FormData;
  readonly images: readonly RequestImage[];
  /** The scale of each photo. */
  readonly scales: readonly Scale[];
}

const UNSCALED: Scale = { x: 1, y: 1 };

/** Converts and scales the photos of a request, and writes them as a form. Throws PhotoError if it cannot. */
export async function createSentRequest({ images, mayScale }: FaceRequest): Promise<SentRequest> {
  const limits = await fetchServiceInfo();
  const body = new FormData();
  const sent = await Promise.all(
    images.map(async (image) => {
      const { photo, box } = image;
      if (!photo || photo.url) return { image, content: photo?.url ?? "", scale: UNSCALED };
      const { file, width, height } = await createUpload(photo, mayScale, limits).catch(() => {
        throw new PhotoError(`${photo.name} is too large for this browser to convert.`);
      });
      const scale = { x: photo.width / width, y: photo.height / height };
      return { image: { ...image, box: box && toSent(box, scale) }, content: file, scale };
    }),
  );
  for (const { image, content } of sent)
    if (typeof content === "string") body.append(image.field, content);
    else body.append(image.field, content, image.photo?.name);
  return { body, images: sent.map(({ image }) => image), scales: sent.map(({ scale }) => scale) };
}
