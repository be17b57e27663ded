import { saveFile } from "../site/download.ts";
import { byId, make } from "../site/elements.ts";
import { plural } from "../site/words.ts";
import { isCancelled } from "./failure.ts";
import { type CallOptions, exportGallery, type Gallery, importFaces } from "./gallery-api.ts";

/** Binds the progress of exports and imports, of which one runs at a time. */
export function mountTransferView() {
  const status = byId("gallery-status", HTMLParagraphElement);
  const progress = byId("transfer-progress", HTMLProgressElement);
  const cancel = byId("cancel-transfer", HTMLButtonElement);
  const buttons = ["export-gallery", "import-gallery"].map((id) => byId(id, HTMLButtonElement));
  let running: AbortController | undefined;

  const setBusy = (isBusy: boolean) => {
    progress.hidden = cancel.hidden = !isBusy;
    for (const button of buttons) button.disabled = isBusy;
  };
  /** Runs a transfer. Nothing is shown of it before its first progress, because the user may choose no file. */
  const transfer = async <Result>(verb: string, work: (options: CallOptions) => Promise<Result>) => {
    running?.abort();
    const controller = new AbortController();
    running = controller;
    status.textContent = "";
    const onProgress = (share: number) => {
      if (running !== controller) return;
      setBusy(true);
      // Everything is sent, and how long the service takes to store it is not known. Without a value, the bar shows that.
      if (share < 1) progress.value = share;
      else progress.removeAttribute("value");
      if (status.textContent === "") status.textContent = `${verb}…`;
    };
    try {
      return await work({ signal: controller.signal, onProgress });
    } catch (error) {
      if (running === controller) status.textContent = isCancelled(error) ? "Cancelled." : "";
      throw error;
    } finally {
      if (running === controller) {
        running = undefined;
        setBusy(false);
      }
    }
  };

  cancel.addEventListener("click", () => running?.abort());
  addEventListener("beforeunload", (event) => {
    if (running && !cancel.hidden) event.preventDefault();
  });
  return {
    /** Saves the gallery as a file. Throws RequestError. */
    async exportFile(gallery: Gallery) {
      const count = await transfer("Exporting", (options) => {
        options.onProgress?.(0);
        return saveGallery(gallery, options);
      });
      status.textContent = `${plural(count, "face")} exported. The file is biometric data: protect it.`;
    },
    /** Asks for a file and imports it. Returns whether anything was imported. Throws RequestError. */
    async importFile(gallery: Gallery) {
      const count = await transfer("Importing", (options) => restoreGallery(gallery, options));
      if (count === undefined) return false;
      status.textContent = `${plural(count, "face")} imported.`;
      return true;
    },
    /** Cancels what is in progress, for another gallery. */
    clear() {
      running?.abort();
      running = undefined;
      setBusy(false);
      status.textContent = "";
    },
  };
}

/** Saves all faces of a gallery as a file. Returns their number. Reports which share of the faces has arrived. */
async function saveGallery(
  { galleryId, faceCount }: Gallery,
  { signal, onProgress }: CallOptions,
): Promise<number> {
  let faces = 0;
  const file = await exportGallery(galleryId, signal, (count) => {
    faces = count;
    onProgress?.(Math.min(1, count / Math.max(1, faceCount)));
  });
  saveFile(file, `${galleryId}.jsonl`);
  return faces;
}

/** Asks for an exported file and imports it. Returns the number of faces; undefined if the user chose no file. */
async function restoreGallery({ galleryId }: Gallery, options: CallOptions): Promise<number | undefined> {
  const file = await chooseFile();
  return file && importFaces(galleryId, file, options);
}

function chooseFile(): Promise<File | undefined> {
  const input = make("input", { type: "file", accept: ".jsonl,.ndjson,.json,application/x-ndjson" });
  return new Promise((resolve) => {
    input.addEventListener("change", () => resolve(input.files?.[0]));
    input.addEventListener("cancel", () => resolve(undefined));
    input.click();
  });
}
