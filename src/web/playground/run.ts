import { byId } from "../site/elements.ts";
import { plural } from "../site/words.ts";
import { facesFrom, mergeFaces } from "./faces.ts";
import { detectionRequest, type FaceRequest, requestFrom } from "./request.ts";
import { type Outcome, type Success, send } from "./send.ts";
import { type Store, updateSlot } from "./store.ts";

/** Sends the request that the form describes and shows its outcome. Asks for missing input instead. */
export async function run(store: Store): Promise<void> {
  const request = requestFrom(store.state);
  if (store.state.isBusy || !requireUserId(store) || !requirePhotos(store, request)) return;
  const outcome = await sendWhileBusy(store, request);
  // The user may have changed the form in the meantime.
  const isSameOperation = store.state.operation === request.operation.name;
  if (isSameOperation && hasSamePhotos(store, request)) showOutcome(store, outcome);
}

/** Marks every face of a photo so that the user can select one. */
export async function findFaces(store: Store, slot: number): Promise<void> {
  const photo = store.state.slots[slot]?.photo;
  if (!photo || store.state.isBusy || !requireUserId(store)) return;
  const request = detectionRequest(photo, slot);
  const outcome = await sendWhileBusy(store, request);
  if (!hasSamePhotos(store, request)) return;
  if (!outcome.isSuccess) return showOutcome(store, outcome);
  rememberFaces(store, outcome);
  const count = store.state.slots[slot]?.photo?.faces.length ?? 0;
  const found = count === 0 ? "No face found" : `${plural(count, "face")} found`;
  byId("status", HTMLParagraphElement).textContent = `${found} in ${photo.name}.`;
}

async function sendWhileBusy(store: Store, request: FaceRequest): Promise<Outcome> {
  store.update({ isBusy: true });
  try {
    return await send(request, store.state.userId);
  } finally {
    store.update({ isBusy: false });
  }
}

function showOutcome(store: Store, outcome: Outcome): void {
  if (outcome.isSuccess) rememberFaces(store, outcome);
  store.update({ outcome });
  scrollIntoView(byId("result", HTMLElement));
}

/** Scrolls to an element in the lower half of the window or below it, where phones show the result. */
function scrollIntoView(element: HTMLElement): void {
  if (element.getBoundingClientRect().top < innerHeight / 2) return;
  const prefersReducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
  element.scrollIntoView({ behavior: prefersReducedMotion ? "auto" : "smooth" });
}

/** Adds the faces of a response to their photos. */
function rememberFaces(store: Store, { request, response }: Success): void {
  const images = facesFrom(response.data);
  request.images.forEach(({ slot, box }, i) => {
    const photo = store.state.slots[slot]?.photo;
    if (!photo) return;
    // Only get_image_attr without a box returns every face, so only it replaces the known ones.
    const hasEveryFace = request.operation.name === "get_image_attr" && !box;
    const faces = mergeFaces(hasEveryFace ? [] : photo.faces, images[i] ?? []);
    updateSlot(store, slot, { photo: { ...photo, faces } });
  });
}

function hasSamePhotos({ state }: Store, { images }: FaceRequest): boolean {
  return images.every(({ slot, photo }) => state.slots[slot]?.photo?.image === photo?.image);
}

/** Asks for the first missing photo and returns false, or returns true if all are there. */
function requirePhotos(store: Store, { images }: FaceRequest): boolean {
  const missing = images.find(({ photo }) => !photo);
  if (!missing) return true;
  const { slot } = missing;
  const name = images.length > 1 ? `photo ${slot + 1}` : "a photo";
  const problem = store.state.slots[slot]?.problem ?? `Add ${name}.`;
  updateSlot(store, slot, { problem });
  document.querySelector<HTMLElement>(`[data-slot="${slot}"] [data-part="choose"]`)?.focus();
  return false;
}

/** Asks for the user id and returns false if it is missing. */
function requireUserId({ state, update }: Store): boolean {
  if (state.userId) return true;
  const input = byId("user-id", HTMLInputElement);
  input.setAttribute("aria-invalid", "true");
  input.focus();
  update({ outcome: { isSuccess: false, message: "Enter a user id.", code: "4001" } });
  return false;
}
