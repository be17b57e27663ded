import { bindFileDialog, bindZone, highlightDrops } from "../photos/drop-zone.ts";
import { type Box, sentSize } from "../photos/geometry.ts";
import { sizeText } from "../photos/open-photo.ts";
import { byId, partOf, reporting } from "../site/elements.ts";
import { plural } from "../site/words.ts";
import { hasCamera, takePhoto } from "./camera.ts";
import { isSameFace } from "./faces.ts";
import { OPERATIONS } from "./operations.ts";
import { drawOverlay, markSelected } from "./overlay.ts";
import type { Photo, Slot } from "./photo.ts";
import type { PhotoLoader } from "./photo-loader.ts";
import type { Store } from "./store.ts";
import { mountZoom } from "./zoom.ts";

/** What the buttons of a slot do. */
export interface SlotActions {
  readonly photoLoader: PhotoLoader;
  /** Detects the faces of the slot's photo. */
  findFaces(slot: number): void;
  /** Selects a face for requests, or clears the selection. */
  selectFace(slot: number, box: Box): void;
}

/** Longer sides only slow the response (spec, 1). */
const RECOMMENDED_SIDE = 1024;

/** Shows a slot and the photo in it. */
export function mountSlotView(store: Store, index: number, actions: SlotActions): void {
  const { photoLoader, findFaces, selectFace } = actions;
  const content = byId("slot", HTMLTemplateElement).content.cloneNode(true) as DocumentFragment;
  const root = content.firstElementChild as HTMLElement;
  root.dataset.slot = String(index);
  byId("photos", HTMLDivElement).append(root);

  const button = (name: string) => partOf(root, name, HTMLButtonElement);
  const addFiles = reporting((files: readonly File[]) => photoLoader.add(files, index));
  const input = partOf(root, "file", HTMLInputElement);
  bindFileDialog(button("choose"), input, addFiles);
  bindZone(root, input);
  button("find").addEventListener("click", () => findFaces(index));
  button("remove").addEventListener("click", () => {
    photoLoader.remove(index);
    // The pressed button disappears, so move the focus to the one that remains.
    button("choose").focus();
  });
  button("camera").addEventListener("click", async () => {
    const photo = await takePhoto();
    if (photo) addFiles([photo]);
  });
  button("landmarks").addEventListener("click", () =>
    store.update({ hasLandmarks: !store.state.hasLandmarks }),
  );
  const zoom = mountZoom(root);
  highlightDrops(root);

  store.subscribe(({ offer, operation, slots, isBusy, hasLandmarks, mayScale }) => {
    const photo = slots[index]?.photo;
    partOf(root, "note", HTMLElement).textContent = photo ? noteText(photo, mayScale) : "";
    const count = OPERATIONS[operation].images.length;
    const name = count > 1 ? `Photo ${index + 1}` : "Photo";
    root.hidden = index >= count;
    partOf(root, "name", HTMLLegendElement).textContent = name;
    const what = count > 1 ? name.toLowerCase() : "a photo";
    partOf(root, "title", HTMLElement).textContent = `Drop or paste ${what} here`;
    // The page cannot mark faces on the photo of a URL.
    const marksItself = operation !== "match";
    button("find").hidden = !photo || photo.url !== undefined || marksItself || !offer.has("analyze");
    button("find").setAttribute("aria-disabled", String(isBusy));
    button("landmarks").hidden = !slots[index]?.photo?.faces.some(({ landmarks }) => landmarks?.length);
    button("landmarks").setAttribute("aria-pressed", String(hasLandmarks));
    root.classList.toggle("without-landmarks", !hasLandmarks);
  });
  let drawn: Slot | undefined;
  store.subscribe(({ slots }) => {
    const slot = slots[index]!;
    if (slot.photo?.image !== drawn?.photo?.image) zoom.reset();
    if (slot !== drawn) draw(root, slot, drawn, (box) => selectFace(index, box));
    drawn = slot;
  });
}

function draw(
  root: HTMLElement,
  { photo, problem }: Slot,
  previous: Slot | undefined,
  onSelect: Parameters<typeof drawOverlay>[1],
): void {
  root.classList.toggle("filled", photo !== undefined);
  partOf(root, "invitation", HTMLElement).hidden = photo !== undefined;
  partOf(root, "problem", HTMLElement).textContent = problem ?? "";
  partOf(root, "about", HTMLElement).textContent = photo ? photoText(photo) : "";
  const isUsers = photo !== undefined && !photo.sample;
  partOf(root, "choose", HTMLButtonElement).textContent = isUsers ? "Replace" : "Choose";
  partOf(root, "camera", HTMLButtonElement).hidden = isUsers || !hasCamera();
  partOf(root, "remove", HTMLButtonElement).hidden = !photo;
  partOf(root, "frame", HTMLElement).hidden = !photo;
  partOf(root, "tools", HTMLElement).hidden = !photo;
  const stage = partOf(root, "stage", HTMLElement);
  if (!photo) {
    stage.replaceChildren();
    return;
  }
  // Redraw only what changed, so that a face that was just selected keeps the focus.
  if (photo.image !== previous?.photo?.image || photo.faces !== previous.photo.faces) {
    photo.image.alt = `${photo.name}, ${facesText(photo)}`;
    stage.replaceChildren(photo.image, ...drawOverlay(photo, onSelect));
  }
  markSelected(stage, photo);
}

function photoText({ name, url, width, height, file }: Photo): string {
  if (url) return name;
  return `${name} · ${width} × ${height} · ${sizeText(file.size)}`;
}

function noteText(photo: Photo, mayScale: boolean): string {
  const { width, height, faces, selectedBox, sample } = photo;
  if (sample === "collins-copy") return "A sample: the other photo, mirrored, tilted and without colour.";
  if (sample) return "A sample. Drop or paste your own photo here.";
  const selected = faces.findIndex(({ box }) => isSameFace(selectedBox, box));
  if (selected >= 0) return `Face ${selected + 1} is selected.`;
  if (faces.length > 1) return "Click a face to select it.";
  if (photo.url) return "";
  const sent = mayScale ? sentSize(photo) : photo;
  const format = photo.isAccepted ? "" : "a JPEG of ";
  if (sent.width < width || format) return `Sent as ${format}${sent.width} × ${sent.height} pixels.`;
  if (Math.max(width, height) > RECOMMENDED_SIDE)
    return `Photos above ${RECOMMENDED_SIDE} pixels take longer.`;
  return "";
}

function facesText({ faces: { length } }: Photo): string {
  return length === 0 ? "no faces marked" : `${plural(length, "face")} marked`;
}
