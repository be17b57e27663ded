import { hasCamera, takePhoto } from "./camera.ts";
import { byId, partOf } from "./elements.ts";
import { isSameFace } from "./faces.ts";
import type { Intake } from "./intake.ts";
import { OPERATIONS } from "./operations.ts";
import { drawOverlay, markChosen } from "./overlay.ts";
import { sizeText } from "./photos.ts";
import { type Photo, type Slot, type Store, toggleFace } from "./store.ts";

/** What a slot needs beside the state. */
export interface SlotTools {
  readonly intake: Intake;
  /** Looks for the faces of the slot's photo. */
  findFaces(slot: number): void;
}

/** Sides beyond this only make an answer slower (spec, 1). */
const RECOMMENDED_SIDE = 1024;

/** Shows the place for a photo, and the photo in it. */
export function openSlotView(store: Store, index: number, { intake, findFaces }: SlotTools): void {
  const content = byId("slot", HTMLTemplateElement).content.cloneNode(true) as DocumentFragment;
  const root = content.firstElementChild as HTMLElement;
  root.dataset.slot = String(index);
  byId("photos", HTMLDivElement).append(root);

  const file = partOf(root, "file", HTMLInputElement);
  const button = (name: string) => partOf(root, name, HTMLButtonElement);
  button("choose").addEventListener("click", () => file.click());
  button("find").addEventListener("click", () => findFaces(index));
  button("remove").addEventListener("click", () => {
    intake.remove(index);
    // The pressed button is gone: the way goes on from what takes its place.
    button("choose").focus();
  });
  button("camera").addEventListener("click", async () => {
    const photo = await takePhoto();
    if (photo) await intake.take([photo], index);
  });
  file.addEventListener("change", () => {
    const files = [...(file.files ?? [])];
    file.value = "";
    void intake.take(files, index);
  });
  showDropping(root);

  store.watch(({ operation, slots, isWorking }) => {
    const count = OPERATIONS[operation].images.length;
    const name = count > 1 ? `Photo ${index + 1}` : "Photo";
    root.hidden = index >= count;
    partOf(root, "name", HTMLLegendElement).textContent = name;
    const what = count > 1 ? name.toLowerCase() : "a photo";
    partOf(root, "title", HTMLElement).textContent = `Drop ${what} here, or paste it`;
    // Attributes tell of every face by themselves.
    button("find").hidden = !slots[index]?.photo || operation === "get_image_attr";
    button("find").setAttribute("aria-disabled", String(isWorking));
  });
  let drawn: Slot | undefined;
  store.watch(({ slots }) => {
    const slot = slots[index]!;
    if (slot !== drawn) draw(root, slot, drawn, (box) => toggleFace(store, index, box));
    drawn = slot;
  });
}

function draw(
  root: HTMLElement,
  { photo, problem }: Slot,
  before: Slot | undefined,
  onChoose: Parameters<typeof drawOverlay>[1],
): void {
  root.classList.toggle("filled", photo !== undefined);
  partOf(root, "invitation", HTMLElement).hidden = photo !== undefined;
  partOf(root, "problem", HTMLElement).textContent = problem ?? "";
  partOf(root, "about", HTMLElement).textContent = photo ? about(photo) : "";
  partOf(root, "note", HTMLElement).textContent = photo ? noteOn(photo) : "";
  partOf(root, "choose", HTMLButtonElement).textContent = photo ? "Replace" : "Choose";
  partOf(root, "camera", HTMLButtonElement).hidden = photo !== undefined || !hasCamera();
  partOf(root, "remove", HTMLButtonElement).hidden = !photo;
  const frame = partOf(root, "frame", HTMLElement);
  frame.hidden = !photo;
  if (!photo) return void frame.replaceChildren();
  // Only what has changed, so that a face that was just chosen keeps the focus.
  if (photo.image !== before?.photo?.image || photo.faces !== before.photo.faces) {
    photo.image.alt = `${photo.name}, ${facesText(photo)}`;
    frame.replaceChildren(photo.image, ...drawOverlay(photo, onChoose));
  }
  markChosen(frame, photo);
}

function about({ name, width, height, file }: Photo): string {
  return `${name} · ${width} × ${height} · ${sizeText(file.size)}`;
}

function noteOn({ width, height, faces, chosen }: Photo): string {
  const used = faces.findIndex(({ rectangle }) => isSameFace(chosen, rectangle));
  if (used >= 0) return `Face ${used + 1} is used.`;
  if (faces.length > 1) return "Choose a face by its frame to use that one.";
  if (Math.max(width, height) > RECOMMENDED_SIDE)
    return `Above ${RECOMMENDED_SIDE} pixels an answer takes longer.`;
  return "";
}

function facesText({ faces: { length } }: Photo): string {
  if (length === 0) return "no face marked yet";
  return `${length} ${length === 1 ? "face" : "faces"} marked`;
}

function showDropping(root: HTMLElement): void {
  root.addEventListener("dragenter", () => root.classList.add("dropping"));
  root.addEventListener("dragleave", ({ relatedTarget }) => {
    if (!root.contains(relatedTarget as Node | null)) root.classList.remove("dropping");
  });
  root.addEventListener("drop", () => root.classList.remove("dropping"));
}
