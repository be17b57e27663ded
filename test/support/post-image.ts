import { USER } from "../../tools/support/service-process.ts";

/** What every answer of plain HTTP is made of. */
export interface Envelope {
  readonly code: string;
  readonly data: { readonly attributes: Readonly<Record<string, unknown>> };
}

/** Asks a service process for the attributes of an image, as a file in multipart. */
export async function postImage(
  port: number,
  image: Uint8Array,
  fileName = "photo.jpg",
): Promise<{ readonly status: number; readonly body: Envelope }> {
  const form = new FormData();
  form.append("image_attr", new Blob([new Uint8Array(image)]), fileName);
  const response = await fetch(`http://127.0.0.1:${port}/get_image_attr`, {
    method: "POST",
    headers: { user_id: USER },
    body: form,
  });
  return { status: response.status, body: (await response.json()) as Envelope };
}
