import { onDroppedFiles, onPastedImages } from "../photos/drop-zone.ts";
import { type Drop, readDrop } from "../photos/dropped-files.ts";
import { closePhoto, openPhoto, PhotoError } from "../photos/open-photo.ts";
import { reporting } from "../site/elements.ts";
import type { ServiceInfo } from "../site/service-info.ts";
import { MAX_PHOTOS } from "./batch/batch-item.ts";
import { OPERATIONS } from "./operations.ts";
import { cancelRun } from "./run.ts";
import { giveUpSamples, hasSamples } from "./samples.ts";
import { type State, type Store, updateSlot } from "./store.ts";
import { createUrlPhoto } from "./url-photo.ts";

/** Puts photos into the slots and removes them. */
export type PhotoLoader = ReturnType<typeof createPhotoLoader>;

/** File names that browsers give to pasted images. */
const GENERIC_NAME = /^(image|blob)?(\.(png|jpe?g))?$/i;

/** What added photos cause. */
export interface PhotoActions {
  /** Photos have been added to slots. */
  onAdded(): void;
  /** There are more photos than slots. The notes say what is missing among them. */
  onBatch(files: readonly File[], notes: readonly string[]): void;
}

/** Creates the loader. It also handles photos that are pasted anywhere or dropped outside a slot. */
export function createPhotoLoader(
  store: Store,
  limits: Promise<ServiceInfo | undefined>,
  { onAdded, onBatch }: PhotoActions,
) {
  const hasBatches = store.state.offer.has("analyze");
  const loader = {
    /**
     * Puts the files into a slot and the slots after it. More files than the operation takes become a batch, or are left
     * out if there are no batches.
     */
    async add(files: readonly File[], slot: number): Promise<void> {
      if (hasBatches && files.length > slotCount(store.state)) return onBatch(files, []);
      const fitting = files.slice(0, slotCount(store.state) - slot);
      if (fitting.length === 0) return;
      removeSamples(store);
      await Promise.all(fitting.map((file, i) => addPhoto(store, limits, file, slot + i)));
      onAdded();
    },
    /** Puts a photo that the service fetches into the next slot. */
    async addUrl(url: URL): Promise<void> {
      const photo = await createUrlPhoto(url);
      cancelRun();
      const slot = nextSlot(store.state);
      removeSamples(store);
      releasePhoto(store, slot);
      updateSlot(store, slot, { photo });
      store.update({ outcome: undefined });
      onAdded();
    },
    /** Empties a slot. */
    remove(slot: number) {
      cancelRun();
      releasePhoto(store, slot);
      updateSlot(store, slot, {});
      store.update({ outcome: undefined });
    },
  };
  /** A folder is a batch, however many photos it has. */
  const addDrop = async ({ files, folder, notes }: Drop, slot: number) => {
    if (folder !== undefined && files.length === 0)
      throw new PhotoError([`${folder} has no photos.`, ...notes].join(" "));
    if (folder === undefined || !hasBatches) return loader.add(files, slot);
    onBatch(files, notes);
  };
  onPastedImages(reporting((files) => loader.add(files, nextSlot(store.state))));
  onDroppedFiles((data, target) => {
    const over = target instanceof Element ? target.closest<HTMLElement>("[data-slot]") : null;
    const slot = over ? Number(over.dataset.slot) : nextSlot(store.state);
    readDrop(data, MAX_PHOTOS)
      .then((drop) => addDrop(drop, slot))
      .catch((error: unknown) => showProblem(store, slot, error))
      .catch(reportError);
  });
  return loader;
}

async function addPhoto(
  store: Store,
  limits: Promise<ServiceInfo | undefined>,
  file: File,
  slot: number,
): Promise<void> {
  cancelRun();
  const name = GENERIC_NAME.test(file.name) ? `photo-${slot + 1}.${extensionOf(file)}` : file.name;
  try {
    const photo = await openPhoto(file, name, await limits, { mayScale: store.state.mayScale });
    releasePhoto(store, slot);
    updateSlot(store, slot, { photo: { ...photo, faces: [] } });
    store.update({ outcome: undefined });
  } catch (error) {
    showProblem(store, slot, error);
  }
}

/** Shows in a slot why there is no photo. Throws what is not the fault of a photo. */
function showProblem(store: Store, slot: number, error: unknown): void {
  if (!(error instanceof PhotoError)) throw error;
  cancelRun();
  removeSamples(store);
  releasePhoto(store, slot);
  updateSlot(store, slot, { problem: error.message });
  store.update({ outcome: undefined });
}

/** A photo of the user replaces all samples, not only the one in its slot. */
function removeSamples(store: Store): void {
  giveUpSamples();
  if (!hasSamples(store.state.slots)) return;
  for (const slot of store.state.slots.keys()) releasePhoto(store, slot);
  store.update({ slots: [{}, {}], outcome: undefined });
}

function releasePhoto({ state }: Store, slot: number): void {
  const photo = state.slots[slot]?.photo;
  if (photo) closePhoto(photo);
}

function slotCount({ operation }: State): number {
  return OPERATIONS[operation].images.length;
}

/** The first slot without a photo of the user, or the first slot if there is none. */
function nextSlot(state: State): number {
  const empty = state.slots
    .slice(0, slotCount(state))
    .findIndex(({ photo }) => !photo || photo.sample !== undefined);
  return Math.max(0, empty);
}

function extensionOf({ type }: File): string {
  return type === "image/png" ? "png" : "jpg";
}
