import { confirmAction } from "../site/dialog.ts";
import { byId, reporting } from "../site/elements.ts";
import { plural } from "../site/words.ts";
import { openNameDialog } from "./action-dialog.ts";
import { deleteGallery, type Gallery, renameGallery } from "./gallery-api.ts";
import { countText } from "./gallery-list.ts";
import { mountTransferView } from "./transfer-view.ts";

/** What the buttons of a gallery need. */
export interface GalleryActions {
  /** The shown gallery. */
  gallery(): Gallery | undefined;
  /** Runs a call and shows its error. Returns whether it succeeded. */
  run(call: () => Promise<unknown>): Promise<boolean>;
  /** Shows why something failed. */
  onFailure(text: string): void;
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
  onClick("rename-gallery", rename);
  onClick("export-gallery", (gallery) => actions.run(() => transfer.exportFile(gallery)));
  onClick("import-gallery", (gallery) =>
    actions.run(async () => {
      if (await transfer.importFile(gallery)) await actions.onImported();
    }),
  );
  onClick("delete-gallery", remove);
  return { clear: () => transfer.clear() };
}

function rename({ galleryId, displayName }: Gallery, { onRenamed, onFailure }: GalleryActions): void {
  openNameDialog(
    {
      title: "Rename the gallery",
      name: displayName,
      save: (name) => renameGallery(galleryId, name),
      onSaved: onRenamed,
    },
    onFailure,
  );
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
