import type { Scale } from "../photos/geometry.ts";
import { createUpload } from "../photos/upload.ts";
import type { FaceRequest, RequestImage } from "./request.ts";
import { toSent } from "./scale-response.ts";

/** A request in pixels of the photos that are sent. */
interface SentRequest {
  readonly body: FormData;
  readonly images: readonly RequestImage[];
  /** The scale of each photo. */
  readonly scales: readonly Scale[];
}

/** Converts and scales the photos of a request, and writes them as a form. Throws PhotoError if it cannot. */
export async function createSentRequest({ images, mayScale }: FaceRequest): Promise<SentRequest> {
  const body = new FormData();
  const sent = await Promise.all(
    images.map(async (image) => {
      const { photo, box } = image;
      if (!photo || photo.url) return { image, content: photo?.url ?? "", scale: { x: 1, y: 1 } };
      const { file, scale } = await createUpload(photo, mayScale);
      return { image: { ...image, box: box && toSent(box, scale) }, content: file, scale };
    }),
  );
  for (const { image, content } of sent)
    if (typeof content === "string") body.append(image.field, content);
    else body.append(image.field, content, image.photo?.name);
  return { body, images: sent.map(({ image }) => image), scales: sent.map(({ scale }) => scale) };
}
