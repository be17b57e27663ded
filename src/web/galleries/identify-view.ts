import { createDropZone, onPastedImages } from "../photos/drop-zone.ts";
import { closePhoto } from "../photos/open-photo.ts";
import { byId, make, reporting } from "../site/elements.ts";
import { isCancelled } from "./failure.ts";
import { type Identification, identifyFaces, MAX_DISTANCE } from "./gallery-api.ts";
import { drawFaceBoxes, drawIdentification } from "./identified-faces.ts";
import { showProblem } from "./problem.ts";
import { openSentPhoto, type SentPhoto } from "./sent-photo.ts";

/** How many people to show for each face. */
const MAX_RESULTS = 3;

/** A photo with boxes, and who is in it. */
interface Shown {
  readonly photo: SentPhoto;
  readonly stage: HTMLElement;
  readonly result: readonly HTMLElement[];
}

/** Binds "Who is this?". */
export function mountIdentifyView() {
  const frame = byId("identify-frame", HTMLDivElement);
  const result = byId("identify-result", HTMLElement);
  const status = byId("identify-status", HTMLParagraphElement);
  const cancel = byId("cancel-identify", HTMLButtonElement);
  let galleryId = "";
  /** The last result, which comes back if the next search is cancelled. */
  let last: Shown | undefined;
  let running: AbortController | undefined;

  const show = (shown?: Shown) => {
    frame.replaceChildren(...(shown ? [shown.stage] : []));
    result.replaceChildren(...(shown?.result ?? []));
  };
  const replaceLast = (shown?: Shown) => {
    if (last && last.photo !== shown?.photo) closePhoto(last.photo);
    last = shown;
    show(last);
  };
  const stop = () => {
    running?.abort();
    running = undefined;
    cancel.hidden = true;
    status.textContent = "";
  };
  /** Runs work that the user can cancel. A newer run takes over the view. */
  const run = async (work: (signal: AbortSignal) => Promise<void>, onRetry: () => unknown) => {
    stop();
    const controller = new AbortController();
    running = controller;
    cancel.hidden = false;
    status.textContent = "Opening…";
    try {
      await work(controller.signal);
      if (running === controller) stop();
    } catch (error) {
      if (running !== controller) return;
      stop();
      // What cannot be opened is not shown either.
      if (isCancelled(error) || frame.childElementCount === 0) show(last);
      showProblem(status, error, onRetry);
    }
  };
  const search = async (photo: SentPhoto, signal: AbortSignal, maxDistance?: number) => {
    const onProgress = (share: number) => {
      if (!signal.aborted)
        status.textContent = share < 1 ? `Sending, ${Math.floor(100 * share)}%` : "Searching…";
    };
    const limits = { maxResults: MAX_RESULTS, ...(maxDistance !== undefined && { maxDistance }) };
    const { faces, ...rest } = await identifyFaces(galleryId, photo.file, limits, { signal, onProgress });
    return { ...rest, faces: faces.map((face) => ({ ...face, box: photo.toPhoto(face.box) })) };
  };
  const draw = (photo: SentPhoto, stage: HTMLElement, found: Identification, nearest?: Identification) => {
    const showNearest = () =>
      run(
        async (signal) => draw(photo, stage, found, await search(photo, signal, MAX_DISTANCE)),
        showNearest,
      );
    const view = { image: photo.image, found, nearest, onShowNearest: showNearest };
    replaceLast({ photo, stage, result: drawIdentification(view) });
    result.focus();
  };
  const identify = async (file: File, signal: AbortSignal) => {
    show();
    const photo = await openSentPhoto(file);
    try {
      photo.image.alt = `Photo ${photo.name}`;
      const stage = make("div", { class: "stage" }, photo.image);
      if (!signal.aborted) frame.replaceChildren(stage);
      const found = await search(photo, signal);
      stage.append(...drawFaceBoxes(photo, found.faces));
      draw(photo, stage, found);
    } catch (error) {
      closePhoto(photo);
      throw error;
    }
  };
  const open = reporting(
    (file: File): Promise<void> =>
      run(
        (signal) => identify(file, signal),
        () => open(file),
      ),
  );
  const openFirst = ([file]: readonly File[]) => file && open(file);

  cancel.addEventListener("click", () => running?.abort());
  byId("identify-zone", HTMLDivElement).append(
    createDropZone({
      title: "Drop or paste a photo",
      button: "Choose a photo",
      isMultiple: false,
      onFiles: openFirst,
    }),
  );
  onPastedImages((files) => {
    if (galleryId) openFirst(files);
  });
  return {
    /** Empties the view for another gallery, and cancels what is in progress. */
    show(id: string) {
      stop();
      replaceLast();
      galleryId = id;
    },
    /** Identifies the people in a photo. */
    open,
  };
}
