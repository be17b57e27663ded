import { byId } from "../site/elements.ts";
import { plural } from "../site/words.ts";
import { isCancelled } from "./failure.ts";
import type { CallOptions, Gallery } from "./gallery-api.ts";
import { restoreGallery, saveGallery } from "./transfer.ts";

/** The export or import in progress. */
export interface TransferView {
  /** Saves the gallery as a file. Throws RequestError. */
  exportFile(gallery: Gallery): Promise<void>;
  /** Asks for a file and imports it. Returns whether anything was imported. Throws RequestError. */
  importFile(gallery: Gallery): Promise<boolean>;
  /** Cancels what is in progress, for another gallery. */
  clear(): void;
}

/** Binds the progress of exports and imports, of which one runs at a time. */
export function mountTransferView(): TransferView {
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
    async exportFile(gallery) {
      const count = await transfer("Exporting", (options) => {
        options.onProgress?.(0);
        return saveGallery(gallery, options);
      });
      status.textContent = `${plural(count, "face")} exported. The file is biometric data: protect it.`;
    },
    async importFile(gallery) {
      const count = await transfer("Importing", (options) => restoreGallery(gallery, options));
      if (count === undefined) return false;
      status.textContent = `${plural(count, "face")} imported.`;
      return true;
    },
    clear() {
      running?.abort();
      running = undefined;
      setBusy(false);
      status.textContent = "";
    },
  };
}
