import { onDroppedFiles } from "../photos/drop-zone.ts";
import { byId } from "../site/elements.ts";
import { onKeyChange, readKey } from "../site/session.ts";
import { mountSite } from "../site/site.ts";
import { mountCreateForm } from "./create-form.ts";
import { KnownCrops } from "./face-crop.ts";
import { mountGalleryList } from "./gallery-list.ts";
import { mountGalleryView } from "./gallery-view.ts";
import { isId } from "./names.ts";
import { mountSampleGallery } from "./sample-gallery.ts";

await mountSite();
// The drop zones take what is dropped on them; the browser must not open the rest.
onDroppedFiles(() => {});

const create = byId("create", HTMLDetailsElement);
const crops = new KnownCrops();
let selectedId: string | undefined;
let last = Promise.resolve();

const list = mountGalleryList((galleries) => {
  const isNew = galleries?.length === 0;
  create.hidden = !galleries;
  if (isNew) create.open = true;
  byId("sample-offer", HTMLDivElement).hidden = !isNew;
});
const refreshList = () => {
  list.refresh().catch(reportError);
};
const view = mountGalleryView({
  crops,
  onChange: refreshList,
  onDeleted: () => {
    location.hash = "";
    refreshList();
    byId("list-title", HTMLHeadingElement).focus();
  },
});
mountCreateForm(({ galleryId }) => select(galleryId));
mountSampleGallery(crops, (galleryId, probe) => {
  select(galleryId);
  inTurn(async () => {
    await followAddress();
    view.identify(probe);
  });
});
onKeyChange(() => inTurn(start));

/** Selects a new gallery. */
function select(galleryId: string): void {
  create.open = false;
  location.hash = `#${new URLSearchParams({ gallery: galleryId })}`;
  refreshList();
}

/** Shows the gallery that the fragment of the address names, as in `#gallery=staff`. */
async function followAddress(): Promise<void> {
  const named = new URLSearchParams(location.hash.slice(1)).get("gallery") ?? "";
  const galleryId = isId(named) ? named : undefined;
  if (galleryId !== undefined && galleryId === selectedId) return;
  if (await view.show(galleryId)) selectedId = galleryId;
  else history.replaceState(null, "", `#${new URLSearchParams({ gallery: selectedId ?? "" })}`);
  list.mark(selectedId);
}

/** Shows what belongs to the user of the session. */
async function start(): Promise<void> {
  selectedId = undefined;
  await list.start();
  if (readKey() === "") await view.show(undefined);
  else await followAddress();
}

/** Runs what changes the selected gallery one after the other, so that the last address wins. */
function inTurn(action: () => Promise<void>): void {
  last = last.then(action).catch(reportError);
}

addEventListener("hashchange", () => inTurn(followAddress));
inTurn(start);
