import { confirmAction } from "../site/confirm.ts";
import { byId } from "../site/elements.ts";
import { plural } from "../site/words.ts";
import { deleteGallery, type Gallery, renameGallery } from "./gallery-api.ts";
import { countText } from "./gallery-list.ts";
import { createRenameForm, focusField } from "./rename-form.ts";
import { restoreGallery, saveGallery } from "./transfer.ts";

/** What the buttons of a gallery need. */
export interface GalleryActions {
  /** The shown gallery. */
  gallery(): Gallery | undefined;
  /** Runs a call and shows its error. Returns whether it succeeded. */
  run(call: () => Promise<unknown>): Promise<boolean>;
  onRenamed(): void;
  onImported(): Promise<unknown>;
  onDeleted(): void;
}

/** Binds the buttons that rename, export, import and delete the shown gallery. */
export function mountGalleryActions(actions: GalleryActions): void {
  const onClick = (id: string, act: (gallery: Gallery, actions: GalleryActions) => unknown) => {
    byId(id, HTMLButtonElement).addEventListener("click", () => {
      const gallery = actions.gallery();
      if (gallery) Promise.resolve(act(gallery, actions)).catch(reportError);
    });
  };
  onClick("rename-gallery", startRename);
  onClick("export-gallery", exportFile);
  onClick("import-gallery", importFile);
  onClick("delete-gallery", remove);
}

function startRename({ galleryId, displayName }: Gallery, { onRenamed }: GalleryActions): void {
  const open = document.querySelector<HTMLFormElement>(".gallery-top .rename");
  if (open) {
    focusField(open);
    return;
  }
  const heading = byId("gallery-heading", HTMLDivElement);
  const form = createRenameForm({
    label: "New name of the gallery",
    name: displayName,
    save: (name) => renameGallery(galleryId, name),
    onEnd: (isSaved) => {
      form.replaceWith(heading);
      byId("rename-gallery", HTMLButtonElement).focus();
      if (isSaved) onRenamed();
    },
  });
  heading.replaceWith(form);
  focusField(form);
}

function exportFile(gallery: Gallery, { run }: GalleryActions): Promise<boolean> {
  return run(async () => {
    showStatus("Exporting…");
    const count = await saveGallery(gallery).finally(() => showStatus(""));
    showStatus(`${plural(count, "face")} exported. The file is biometric data: protect it.`);
  });
}

function importFile(gallery: Gallery, { run, onImported }: GalleryActions): Promise<boolean> {
  const onProgress = (share: number) =>
    showStatus(share < 1 ? `Importing, ${Math.floor(100 * share)}%` : "Importing…");
  return run(async () => {
    const count = await restoreGallery(gallery, onProgress).finally(() => showStatus(""));
    if (count === undefined) return;
    showStatus(`${plural(count, "face")} imported.`);
    await onImported();
  });
}

async function remove(
  { galleryId, displayName, peopleCount, faceCount }: Gallery,
  { run, onDeleted }: GalleryActions,
): Promise<void> {
  const content = `${countText(peopleCount)} and ${plural(faceCount, "template")}`;
  const isAgreed = await confirmAction({
    title: `Delete ${displayName || galleryId}?`,
    text: `The gallery with ${content} will be erased. This cannot be undone.`,
    action: "Delete gallery",
  });
  if (isAgreed && (await run(() => deleteGallery(galleryId)))) onDeleted();
}

function showStatus(text: string): void {
  byId("gallery-status", HTMLParagraphElement).textContent = text;
}
