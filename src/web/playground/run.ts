import { byId } from "../site/elements.ts";
import { openKeyDialog } from "../site/key-control.ts";
import { plural } from "../site/words.ts";
import { facesFrom, mergeFaces } from "./faces.ts";
import { detectionRequest, type FaceRequest, requestFrom } from "./request.ts";
import { isComparison } from "./responses.ts";
import { hasSamples, storedOutcome } from "./samples.ts";
import { type Outcome, type Success, send } from "./send.ts";
import { type State, type Store, updateSlot } from "./store.ts";

/** The request in flight. */
let current: AbortController | undefined;

/** Whether the page may scroll to show the outcome. */
interface RunOptions {
  readonly mayScroll?: boolean;
}

/** Sends the request that the form describes and shows its outcome. Asks for missing input instead. */
export async function run(store: Store, options?: RunOptions): Promise<void> {
  const request = requestFrom(store.state);
  if (!requireKey(store) || !requirePhotos(store, request)) return;
  const isUpdating = store.state.outcome !== undefined;
  const sending = sendWhileBusy(store, request, { isUpdating });
  if (options?.mayScroll !== false) scrollToProgress();
  const outcome = await sending;
  if (outcome) showOutcome(store, outcome, options);
}

/** Runs the operation if all its photos are there, without asking for input. Samples need no API key. */
export async function runIfComplete(store: Store, options?: RunOptions): Promise<void> {
  const request = requestFrom(store.state);
  if (request.images.some(({ photo }) => !photo)) return;
  if (store.state.apiKey) return run(store, options);
  if (hasSamples(store.state.slots)) return showStored(store, options);
  showOutcome(store, { isSuccess: false, message: "Enter an API key.", code: "4001" }, options);
}

/** Shows the stored result of the samples, if there is one. */
export async function showStored(store: Store, options?: RunOptions): Promise<void> {
  const outcome = await storedOutcome(store);
  if (!outcome || outcome.request.operation.name !== store.state.operation) return;
  if (hasSamePhotos(store, outcome.request)) showOutcome(store, outcome, options);
}

/** Cancels the request in flight, because its input has changed. */
export function cancelRun(): void {
  current?.abort();
}

/** Cancels the request in flight, because the user wants it. The outcome before it, if there is one, stays. */
export function cancelByUser(): void {
  cancelRun();
  byId("status", HTMLParagraphElement).textContent = "Cancelled.";
}

/** Marks every face of a photo so that the user can select one. */
export async function findFaces(store: Store, slot: number): Promise<void> {
  const photo = store.state.slots[slot]?.photo;
  if (!photo || !requireKey(store)) return;
  const request = detectionRequest(photo, slot, store.state.mayScale);
  const outcome = await sendWhileBusy(store, request, { isUpdating: false });
  if (!outcome || !hasSamePhotos(store, request)) return;
  if (!outcome.isSuccess) return showOutcome(store, outcome);
  rememberFaces(store, outcome);
  const count = store.state.slots[slot]?.photo?.faces.length ?? 0;
  const found = count === 0 ? "No face found" : `${plural(count, "face")} found`;
  byId("status", HTMLParagraphElement).textContent = `${found} in ${photo.name}.`;
}

/** Sends a request, and cancels an earlier one. Returns undefined if it was cancelled itself. */
async function sendWhileBusy(
  store: Store,
  request: FaceRequest,
  { isUpdating }: Pick<State, "isUpdating">,
): Promise<Outcome | undefined> {
  current?.abort();
  const controller = new AbortController();
  current = controller;
  store.update({ isBusy: true, isUpdating, sentShare: undefined });
  try {
    const { signal } = controller;
    const onProgress = (sentShare: number) => {
      if (current === controller) store.update({ sentShare });
    };
    const outcome = await send(request, store.state.apiKey, { signal, onProgress });
    return controller.signal.aborted ? undefined : outcome;
  } finally {
    if (current === controller) {
      current = undefined;
      store.update({ isBusy: false, isUpdating: false });
    }
  }
}

function showOutcome(store: Store, outcome: Outcome, { mayScroll = true }: RunOptions = {}): void {
  if (outcome.isSuccess) rememberFaces(store, outcome);
  store.update({ outcome });
  if (mayScroll) scrollToResult();
}

/** Scrolls as far as needed to show the start of the result, so that the photo stays visible if there is room. */
function scrollToResult(): void {
  const { top } = byId("result", HTMLElement).getBoundingClientRect();
  const hiddenBy = top - innerHeight / 2;
  const isAbove = top < 0;
  if (hiddenBy <= 0 && !isAbove) return;
  const prefersReducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
  scrollBy({ top: isAbove ? top : hiddenBy, behavior: prefersReducedMotion ? "instant" : "smooth" });
}

/** Scrolls up to the progress of a request. The result, which is beside the form or below it, stays in view. */
function scrollToProgress(): void {
  const row = byId("run", HTMLButtonElement).parentElement!;
  if (isNarrow() && row.getBoundingClientRect().bottom < 0) row.scrollIntoView();
}

/** Whether the result is below the form. */
function isNarrow(): boolean {
  return matchMedia("(max-width: 999px)").matches;
}

/** Adds the faces of a response to their photos. */
function rememberFaces(store: Store, { request, response }: Success): void {
  const images = facesFrom(response);
  request.images.forEach(({ slot, box }, i) => {
    const photo = store.state.slots[slot]?.photo;
    // The page does not have the photo of a URL, so it cannot mark faces on it.
    if (!photo || photo.url) return;
    // Only an analysis without a box returns every face, so only it replaces the known ones.
    const hasEveryFace = !box && !isComparison(response);
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

/** Asks for the API key and returns false if it is missing. */
function requireKey({ state, update }: Store): boolean {
  if (state.apiKey) return true;
  openKeyDialog();
  update({ outcome: { isSuccess: false, message: "Enter an API key.", code: "4001" } });
  return false;
}
