import { readFromTab, storeInTab } from "../site/tab-storage.ts";
import type { TryForm } from "./try-form.ts";
import { requestPath, type SendOptions, sendTry, type TryRequest, type TryResponse } from "./try-request.ts";

const NAME = "example_gallery";
/** What the forms have created in this tab, separated by spaces: `GALLERY`, and `GALLERY/` for the person in it. */
const CREATED = "examples";

/** The gallery of the forms. Each tab has its own, so nothing of the user's is changed. */
export const EXAMPLE_GALLERY = readFromTab(NAME) ?? `example-${Math.random().toString(36).slice(2, 8)}`;
storeInTab(NAME, EXAMPLE_GALLERY);
const EXAMPLE_PERSON = `${EXAMPLE_GALLERY}/`;

/** What must be there before an operation on the example gallery can succeed. */
const NEEDS: Readonly<Record<string, "nothing" | "gallery" | "person">> = {
  v1CreateGallery: "nothing",
  v1GetGallery: "gallery",
  v1UpdateGallery: "gallery",
  v1DeleteGallery: "gallery",
  v1EnrolFace: "gallery",
  v1ImportFaces: "gallery",
  v1GetPerson: "person",
  v1ListPeople: "person",
  v1UpdatePerson: "person",
  v1DeletePerson: "person",
  v1DeleteFace: "person",
  v1IdentifyFaces: "person",
  v1ExportGallery: "person",
  v1ExportPerson: "person",
};

/** The service refused to prepare or to remove an example, for instance because the plan allows no more galleries. */
export class ExampleError extends Error {
  override readonly name = "ExampleError";
  readonly response: TryResponse;

  constructor(response: TryResponse) {
    super("The page could not change its example gallery:");
    this.response = response;
  }
}

/** What the forms send their requests with. */
export interface TryContext {
  readonly forms: Readonly<Record<string, TryForm>>;
  readonly options: SendOptions;
  readonly photo: () => Promise<Blob>;
}

/** The galleries that the forms have created in this tab and not deleted since. */
export function createdGalleries(): string[] {
  return readCreated().filter((name) => !name.endsWith("/"));
}

/**
 * Sends a request. Creates the example gallery and a person in it first if the operation needs them. The tab remembers
 * what was created, so that no request is sent in vain. Throws ExampleError.
 */
export async function sendWithExample(
  operation: string,
  request: TryRequest,
  context: TryContext,
): Promise<TryResponse> {
  const usesExample = [request.path, String(request.body)].some((text) => text.includes(EXAMPLE_GALLERY));
  const need = usesExample ? NEEDS[operation] : undefined;
  await prepare(need, context);
  let response = await sendTry(request, context.options);
  if (need && need !== "nothing" && response.status === 404) {
    // Deleted on another page, or the key is another one.
    const isGalleryMissing = response.body.includes("GALLERY_NOT_FOUND");
    forget(isGalleryMissing ? EXAMPLE_GALLERY : EXAMPLE_PERSON);
    if (isGalleryMissing) {
      await prepare(need, context);
      response = await sendTry(request, context.options);
    }
  }
  if (response.status === 200) takeNote(operation, request, response);
  return response;
}

/** Deletes the galleries that the forms have created. Throws ExampleError. */
export async function removeExamples(context: Omit<TryContext, "photo">): Promise<void> {
  for (const gallery of createdGalleries()) await deleteGallery(gallery, context);
}

async function prepare(need: string | undefined, context: TryContext): Promise<void> {
  const has = (name: string) => readCreated().includes(name);
  if (need === undefined) return;
  if (need === "nothing") {
    if (has(EXAMPLE_GALLERY)) await deleteGallery(EXAMPLE_GALLERY, context);
    return;
  }
  if (!has(EXAMPLE_GALLERY)) {
    const body = JSON.stringify({ galleryId: EXAMPLE_GALLERY, displayName: "Example" });
    await send("v1CreateGallery", context, { body, contentType: "application/json" });
    remember(EXAMPLE_GALLERY);
  }
  if (need === "gallery" || has(EXAMPLE_PERSON)) return;
  const body = new FormData();
  body.append("source", await context.photo(), "sample.jpg");
  body.append("faceId", "front");
  body.append("displayName", "Ann");
  await send("v1EnrolFace", context, { body });
  remember(EXAMPLE_PERSON);
}

async function deleteGallery(gallery: string, context: Omit<TryContext, "photo">): Promise<void> {
  await send("v1DeleteGallery", context, { gallery, gone: 404 });
  forget(gallery);
}

/** Sends a request about an example. The status `gone` is no failure either. */
async function send(
  operation: string,
  { forms, options }: Omit<TryContext, "photo">,
  {
    gallery = EXAMPLE_GALLERY,
    gone = 200,
    ...content
  }: Pick<TryRequest, "body" | "contentType"> & { readonly gallery?: string; readonly gone?: number },
): Promise<void> {
  const { method, path } = forms[operation]!;
  const ids = new Map([
    ["gallery_id", gallery],
    ["person_id", "ann"],
  ]);
  const response = await sendTry({ method, path: requestPath(path, ids, []), ...content }, options);
  if (![200, gone].includes(response.status)) throw new ExampleError(response);
}

/** Notes what the user's own request has created or deleted. */
function takeNote(operation: string, { path }: TryRequest, { body }: TryResponse): void {
  if (operation === "v1CreateGallery") {
    const { gallery } = JSON.parse(body) as { readonly gallery: { readonly galleryId: string } };
    remember(gallery.galleryId);
  }
  if (operation === "v1DeleteGallery") forget(decodeURIComponent(path.split("/").at(-1)!));
  if (operation === "v1DeletePerson" || operation === "v1DeleteFace") forget(EXAMPLE_PERSON);
}

function readCreated(): string[] {
  return (readFromTab(CREATED) ?? "").split(" ").filter(Boolean);
}

function remember(name: string): void {
  storeInTab(CREATED, [...new Set([...readCreated(), name])].join(" "));
}

/** Forgets a person, or a gallery with its person. */
function forget(name: string): void {
  const kept = readCreated().filter((created) => created !== name && created !== `${name}/`);
  storeInTab(CREATED, kept.join(" "));
}
