import { byId } from "./elements.ts";
import { facesFrom, mergeFaces } from "./faces.ts";
import { type FaceRequest, findingRequest, requestFrom } from "./request.ts";
import { type Outcome, type Success, send } from "./send.ts";
import { changeSlot, type Store } from "./store.ts";

/** Sends what the page stands at and shows what became of it; what is missing is asked for first. */
export async function run(store: Store): Promise<void> {
  const request = requestFrom(store.state);
  if (store.state.isWorking || !isComplete(store, request)) return;
  const outcome = await sendOnce(store, request);
  // What was changed meanwhile has nothing to do with the answer.
  const isSameOperation = store.state.operation === request.operation.name;
  if (isSameOperation && hasSamePhotos(store, request)) show(store, outcome);
}

/** Marks all faces of a photo, so that one can be chosen; an error is shown as that of any request. */
export async function findFaces(store: Store, slot: number): Promise<void> {
  const photo = store.state.slots[slot]?.photo;
  if (!photo || store.state.isWorking || !hasUserId(store)) return;
  const request = findingRequest(photo, slot);
  const outcome = await sendOnce(store, request);
  if (!hasSamePhotos(store, request)) return;
  if (!outcome.isSuccess) return show(store, outcome);
  learn(store, outcome);
  const { length } = store.state.slots[slot]?.photo?.faces ?? [];
  const found = length === 0 ? "No face found" : `${length} ${length === 1 ? "face" : "faces"} found`;
  byId("status", HTMLParagraphElement).textContent = `${found} in ${photo.name}.`;
}

async function sendOnce(store: Store, request: FaceRequest): Promise<Outcome> {
  store.change({ isWorking: true });
  try {
    return await send(request, store.state.userId);
  } finally {
    store.change({ isWorking: false });
  }
}

function show(store: Store, outcome: Outcome): void {
  if (outcome.isSuccess) learn(store, outcome);
  store.change({ outcome });
  bringIntoView(byId("result", HTMLElement));
}

/** On a phone the result lies below what was asked. */
function bringIntoView(element: HTMLElement): void {
  if (element.getBoundingClientRect().top < innerHeight / 2) return;
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  element.scrollIntoView({ behavior: isCalm ? "auto" : "smooth" });
}

/** Keeps what an answer tells of the photos' faces. */
function learn(store: Store, { request, answer }: Success): void {
  const images = facesFrom(answer.data);
  request.images.forEach(({ slot, box }, i) => {
    const photo = store.state.slots[slot]?.photo;
    if (!photo) return;
    // Only this operation without a box tells of every face there is.
    const isWhole = request.operation.name === "get_image_attr" && !box;
    const faces = mergeFaces(isWhole ? [] : photo.faces, images[i] ?? []);
    changeSlot(store, slot, { photo: { ...photo, faces } });
  });
}

function hasSamePhotos({ state }: Store, { images }: FaceRequest): boolean {
  return images.every(({ slot, photo }) => state.slots[slot]?.photo?.image === photo?.image);
}

function isComplete(store: Store, { images }: FaceRequest): boolean {
  if (!hasUserId(store)) return false;
  const missing = images.find(({ photo }) => !photo);
  if (!missing) return true;
  const { slot } = missing;
  const name = images.length > 1 ? `photo ${slot + 1}` : "a photo";
  const problem = store.state.slots[slot]?.problem ?? `Give ${name} first.`;
  changeSlot(store, slot, { problem });
  document.querySelector<HTMLElement>(`[data-slot="${slot}"] [data-part="choose"]`)?.focus();
  return false;
}

function hasUserId({ state, change }: Store): boolean {
  if (state.userId) return true;
  const input = byId("user-id", HTMLInputElement);
  input.setAttribute("aria-invalid", "true");
  input.focus();
  change({ outcome: { isSuccess: false, message: "A user id is needed.", code: "4001" } });
  return false;
}
