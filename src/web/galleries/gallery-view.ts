import { confirmAction } from "../site/dialog.ts";
import { byId, reporting } from "../site/elements.ts";
import { plural } from "../site/words.ts";
import { mountEnrolView } from "./enrol-view.ts";
import type { KnownCrops } from "./face-crop.ts";
import { isCancelled } from "./failure.ts";
import { mountGalleryActions } from "./gallery-actions.ts";
import { type Gallery, getGallery } from "./gallery-api.ts";
import { countText } from "./gallery-list.ts";
import { mountIdentifyView } from "./identify-view.ts";
import { mountPeopleView } from "./people-view.ts";
import { showProblem } from "./problem.ts";

/** What the gallery shares with the rest of the page. */
interface GalleryViewOptions {
  /** The faces that the list of people shows. */
  readonly crops: KnownCrops;
  /** Called after the name or the counts have changed. */
  onChange(): void;
  onDeleted(): void;
}

/** Binds the parts of the page about the selected gallery. */
export function mountGalleryView({ crops, onChange, onDeleted }: GalleryViewOptions) {
  const root = byId("gallery", HTMLDivElement);
  const guide = byId("guide", HTMLElement);
  const problem = byId("gallery-problem", HTMLParagraphElement);
  let gallery: Gallery | undefined;
  let reading = new AbortController();

  const refreshNow = reporting(() => refresh());
  const enrolView = mountEnrolView(crops, () => {
    peopleView.refresh().catch(reportError);
    refreshNow();
  });
  const identifyView = mountIdentifyView();
  const peopleView = mountPeopleView({
    crops,
    onRead: (people) => enrolView.setPeople(people),
    onChange: refreshNow,
    onAddPhotos: (person) => enrolView.addTo(person),
  });

  const draw = ({ galleryId, displayName, peopleCount, faceCount, model }: Gallery) => {
    byId("gallery-title", HTMLHeadingElement).textContent = displayName || galleryId;
    byId("gallery-id", HTMLElement).textContent = galleryId;
    byId("gallery-model", HTMLElement).textContent = model;
    byId("gallery-counts", HTMLSpanElement).textContent =
      `${countText(peopleCount)}, ${plural(faceCount, "face")}`;
  };
  const read = async (galleryId: string) => {
    reading.abort();
    reading = new AbortController();
    gallery = await getGallery(galleryId, { signal: reading.signal });
    draw(gallery);
  };
  const open = async (galleryId: string) => {
    const retry = () => open(galleryId);
    if (!(await run(() => read(galleryId), retry))) return;
    root.hidden = false;
    peopleView.show(galleryId);
  };
  const refresh = async () => {
    if (!gallery) return;
    await run(() => read(gallery!.galleryId), refresh);
    onChange();
  };
  /** Runs a call and shows its error. Returns whether it succeeded. */
  const run = async (call: () => Promise<unknown>, onRetry?: () => unknown): Promise<boolean> => {
    problem.replaceChildren();
    try {
      await call();
      return true;
    } catch (error) {
      if (!isCancelled(error)) showProblem(problem, error, onRetry);
      return false;
    }
  };
  const actions = mountGalleryActions({
    gallery: () => gallery,
    run,
    onFailure: (text) => problem.replaceChildren(text),
    onRenamed: refreshNow,
    onImported: () => Promise.all([peopleView.refresh(), refresh()]),
    onDeleted,
  });

  return {
    /** Shows a gallery, or nothing. Returns false if the user wants to finish the enrolment first. */
    async show(galleryId: string | undefined) {
      if (enrolView.isBusy && galleryId !== gallery?.galleryId && !(await confirmLeave())) return false;
      reading.abort();
      gallery = undefined;
      root.hidden = true;
      guide.hidden = galleryId !== undefined;
      problem.textContent = "";
      actions.clear();
      enrolView.show(galleryId ?? "");
      identifyView.show(galleryId ?? "");
      if (galleryId !== undefined) await open(galleryId);
      return true;
    },
    /** Identifies the people in a photo, as if it had been dropped. */
    identify: (photo: File) => identifyView.open(photo),
  };
}

function confirmLeave(): Promise<boolean> {
  return confirmAction({
    title: "Stop enrolling?",
    text: "Photos are still being enrolled. Photos that are enrolled already stay in the gallery.",
    action: "Stop",
  });
}
