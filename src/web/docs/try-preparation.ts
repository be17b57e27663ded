import type { TryForm } from "./try-form.ts";
import { requestPath, type SendOptions, sendTry, type TryRequest, type TryResponse } from "./try-request.ts";

type Content = Pick<TryRequest, "body" | "contentType">;
type Query = readonly (readonly [name: string, value: string])[];

/** The gallery of the forms. Each visit has its own, so nothing of the user's is changed. */
export const EXAMPLE_GALLERY = `example-${Math.random().toString(36).slice(2, 8)}`;

const EXAMPLE_IDS = new Map([
  ["gallery_id", EXAMPLE_GALLERY],
  ["person_id", "ann"],
]);
const ENROL_QUERY: Query = [
  ["faceId", "front"],
  ["displayName", "Ann"],
];
const NOT_FOUND = 404;
const EXISTS = 409;

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
  v1ExportPerson: "face",
};

/** Whether the forms of an operation prepare the example gallery. */
export function preparesGallery(operation: string): boolean {
  return operation in NEEDS;
}

/**
 * Creates the example gallery and a face in it if an operation needs them, or removes the gallery before it is created.
 * Does nothing for a gallery of the user. Returns the response of what failed, for instance because the plan allows no
 * more galleries.
 */
export async function prepareGallery(
  operation: string,
  { path, body }: TryRequest,
  forms: Readonly<Record<string, TryForm>>,
  options: SendOptions,
  photo: () => Promise<Blob>,
): Promise<TryResponse | undefined> {
  const need = NEEDS[operation];
  const usesExample = path.includes(EXAMPLE_GALLERY) || String(body).includes(EXAMPLE_GALLERY);
  if (need === undefined || !usesExample) return undefined;
  const send = async (name: string, expected: number, content: Content = {}, query: Query = []) => {
    const form = forms[name]!;
    const request = { method: form.method, path: requestPath(form.path, EXAMPLE_IDS, query), ...content };
    const response = await sendTry(request, options);
    return [200, expected].includes(response.status) ? undefined : response;
  };
  if (need === "nothing") return send("v1DeleteGallery", NOT_FOUND);
  const gallery = JSON.stringify({ galleryId: EXAMPLE_GALLERY, displayName: "Example" });
  const failure = await send("v1CreateGallery", EXISTS, { body: gallery, contentType: "application/json" });
  if (failure || need === "gallery") return failure;
  const form = new FormData();
  form.append("source", await photo(), "sample.jpg");
  return send("v1EnrolFace", 200, { body: form }, ENROL_QUERY);
}
