import type { TryForm } from "./try-form.ts";
import { requestPath, sendTry, type TryRequest } from "./try-request.ts";

/** The gallery of the forms. Each visit has its own, so nothing of the user's is changed. */
export const EXAMPLE_GALLERY = `example-${Math.random().toString(36).slice(2, 8)}`;

/** What must be there before an operation on the example gallery can succeed. */
const NEEDS: Readonly<Record<string, "nothing" | "gallery" | "face">> = {
  v1CreateGallery: "nothing",
  v1GetGallery: "gallery",
  v1UpdateGallery: "gallery",
  v1DeleteGallery: "gallery",
  v1EnrolFace: "gallery",
  v1ImportFaces: "gallery",
  v1GetPerson: "face",
  v1ListPeople: "face",
  v1UpdatePerson: "face",
  v1DeletePerson: "face",
  v1DeleteFace: "face",
  v1IdentifyFaces: "face",
  v1ExportGallery: "face",
};

/** Whether the forms of an operation prepare the example gallery. */
export function preparesGallery(operation: string): boolean {
  return operation in NEEDS;
}

/**
 * Creates the example gallery and a face in it if an operation needs them, or removes the gallery before it is created.
 * Does nothing for a gallery of the user.
 */
export async function prepareGallery(
  operation: string,
  request: TryRequest,
  forms: Readonly<Record<string, TryForm>>,
  {
    key,
    signal,
    photo,
  }: { readonly key: string; readonly signal: AbortSignal; readonly photo: () => Promise<Blob> },
): Promise<void> {
  const need = NEEDS[operation];
  const target = `${request.path}${typeof request.body === "string" ? request.body : ""}`;
  if (need === undefined || !target.includes(EXAMPLE_GALLERY)) return;
  const ids = new Map([
    ["gallery_id", EXAMPLE_GALLERY],
    ["person_id", "ann"],
  ]);
  const send = (
    name: string,
    rest: Pick<TryRequest, "body" | "contentType"> = {},
    query: [string, string][] = [],
  ) => {
    const { method, path } = forms[name]!;
    return sendTry({ method, path: requestPath(path, ids, query), ...rest }, key, signal);
  };
  // Answers that the gallery exists already, or does not, are expected. Others are repeated by the request itself.
  if (need === "nothing") {
    await send("v1DeleteGallery");
    return;
  }
  const body = JSON.stringify({ galleryId: EXAMPLE_GALLERY, displayName: "Example" });
  await send("v1CreateGallery", { body, contentType: "application/json" });
  if (need !== "face") return;
  const form = new FormData();
  form.append("source", await photo(), "sample.jpg");
  await send("v1EnrolFace", { body: form }, [
    ["faceId", "front"],
    ["displayName", "Ann"],
  ]);
}
