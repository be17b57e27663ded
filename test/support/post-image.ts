import { USER } from "../../tools/support/service-process.ts";

/** The part of a plain HTTP response body that tests read. */
export interface Envelope {
  readonly code: string;
  readonly data: { readonly attributes: Readonly<Record<string, unknown>> };
}

/** Requests the attributes of an image from a service process, as a multipart file. */
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
