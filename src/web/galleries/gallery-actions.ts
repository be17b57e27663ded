import { confirmAction } from "../site/dialog.ts";
import { byId, reporting } from "../site/elements.ts";
import { plural } from "../site/words.ts";
import { deleteGallery, type Gallery, renameGallery } from "./gallery-api.ts";
import { countText } from "./gallery-list.ts";
import { createRenameForm, focusField } from "./rename-form.ts";
import { mountTransferView } from "./transfer-view.ts";

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

/** Binds the buttons that rename, export, import and delete the shown gallery. `clear` is for another gallery. */
export function mountGalleryActions(actions: GalleryActions): { clear(): void } {
  const transfer = mountTransferView();
  const onClick = (id: string, act: (gallery: Gallery, actions: GalleryActions) => unknown) => {
    const onPress = reporting(() => {
      const gallery = actions.gallery();
      return gallery && act(gallery, actions);
    });
    byId(id, HTMLButtonElement).addEventListener("click", onPress);
  };
  onClick("rename-gallery", startRename);
  onClick("export-gallery", (gallery) => actions.run(() => transfer.exportFile(gallery)));
  onClick("import-gallery", (gallery) =>
    actions.run(async () => {
      if (await transfer.importFile(gallery)) await actions.onImported();
    }),
  );
  onClick("delete-gallery", remove);
  return { clear: () => transfer.clear() };
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
