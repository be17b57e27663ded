import { createDropZone, onPastedImages } from "../photos/drop-zone.ts";
import { closePhoto } from "../photos/open-photo.ts";
import { byId, make, reporting } from "../site/elements.ts";
import { failureText, isCancelled } from "./failure.ts";
import { type Identification, identifyFaces, MAX_DISTANCE } from "./gallery-api.ts";
import { drawFaceBoxes, drawIdentification } from "./identified-faces.ts";
import { openSentPhoto, type SentPhoto } from "./sent-photo.ts";

/** How many people to show for each face. */
const MAX_RESULTS = 3;

/** Binds "Who is this?". */
export function mountIdentifyView() {
  const frame = byId("identify-frame", HTMLDivElement);
  const result = byId("identify-result", HTMLElement);
  const status = byId("identify-status", HTMLParagraphElement);
  const cancel = byId("cancel-identify", HTMLButtonElement);
  let galleryId = "";
  let shown: SentPhoto | undefined;
  let running: AbortController | undefined;
  /** Counts what the view has shown, so that a photo that opens slowly does not replace a newer one. */
  let version = 0;

  const clear = () => {
    version++;
    running?.abort();
    running = undefined;
    if (shown) closePhoto(shown);
    shown = undefined;
    cancel.hidden = true;
    status.textContent = "";
    frame.replaceChildren();
    result.replaceChildren();
  };
  /** Runs one call of which the page shows the progress. Returns undefined if it fails or is cancelled. */
  const identify = async (photo: SentPhoto, maxDistance?: number): Promise<Identification | undefined> => {
    running?.abort();
    const controller = new AbortController();
    running = controller;
    cancel.hidden = false;
    status.textContent = "Sending…";
    const onProgress = (share: number) => {
      if (running !== controller) return;
      status.textContent = share < 1 ? `Sending, ${Math.floor(100 * share)}%` : "Searching…";
    };
    const limits = { maxResults: MAX_RESULTS, ...(maxDistance !== undefined && { maxDistance }) };
    let problem = "";
    try {
      const options = { signal: controller.signal, onProgress };
      const { faces, ...rest } = await identifyFaces(galleryId, photo.file, limits, options);
      return { ...rest, faces: faces.map((face) => ({ ...face, box: photo.toPhoto(face.box) })) };
    } catch (error) {
      problem = isCancelled(error) ? "Cancelled." : failureText(error);
      return undefined;
    } finally {
      // A newer search has taken over the view.
      if (running === controller) {
        running = undefined;
        cancel.hidden = true;
        status.textContent = problem;
      }
    }
  };
  const draw = (photo: SentPhoto, found: Identification, nearest?: Identification) => {
    const showNearest = async () => {
      const more = await identify(photo, MAX_DISTANCE);
      if (more && shown === photo) draw(photo, found, more);
    };
    result.replaceChildren(
      ...drawIdentification({
        image: photo.image,
        found,
        nearest,
        onShowNearest: showNearest,
      }),
    );
    result.focus();
  };
  const open = async (file: File) => {
    clear();
    const opened = version;
    let photo: SentPhoto;
    try {
      photo = await openSentPhoto(file);
    } catch (error) {
      if (opened === version) status.textContent = failureText(error);
      return;
    }
    if (opened !== version) return closePhoto(photo);
    shown = photo;
    photo.image.alt = `Photo ${photo.name}`;
    const stage = make("div", { class: "stage" }, photo.image);
    frame.replaceChildren(stage);
    const found = await identify(photo);
    if (!found || shown !== photo) return;
    stage.append(...drawFaceBoxes(photo, found.faces));
    draw(photo, found);
  };
  const openNow = reporting(open);
  const openFirst = ([file]: readonly File[]) => file && openNow(file);

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
      clear();
      galleryId = id;
    },
    /** Identifies the people in a photo. */
    open: openNow,
  };
}
