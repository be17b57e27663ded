import { OPERATIONS } from "./operations.ts";
import { closePhoto, type Limits, openPhoto, PhotoError } from "./photos.ts";
import { changeSlot, type State, type Store } from "./store.ts";

/** Takes photos in, however they come. */
export interface Intake {
  /** Puts files into a slot and those after it. */
  take(files: readonly File[], slot: number): Promise<void>;
  /** Empties a slot. */
  remove(slot: number): void;
}

/** Names that browsers give to what has none. */
const NAMELESS = /^(image|blob)?(\.(png|jpe?g))?$/i;

/** Makes the intake, and listens for photos that are pasted anywhere or dropped beside a slot. */
export function openIntake(store: Store, limits: Promise<Limits | undefined>): Intake {
  const intake: Intake = {
    async take(files, slot) {
      const fitting = files.slice(0, slotsOf(store.state) - slot);
      await Promise.all(fitting.map((file, i) => put(store, limits, file, slot + i)));
    },
    remove(slot) {
      release(store, slot);
      changeSlot(store, slot, {});
      store.change({ outcome: undefined });
    },
  };
  document.addEventListener("paste", ({ clipboardData }) => {
    const files = picturesOf(clipboardData);
    if (files.length > 0) void intake.take(files, nextSlot(store.state));
  });
  // Without this a browser would leave the page for the photo.
  document.addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  });
  document.addEventListener("drop", (event) => {
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    const at = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-slot]") : null;
    void intake.take(files, at ? Number(at.dataset.slot) : nextSlot(store.state));
  });
  return intake;
}

async function put(
  store: Store,
  limits: Promise<Limits | undefined>,
  file: File,
  slot: number,
): Promise<void> {
  const name = NAMELESS.test(file.name) ? `photo-${slot + 1}.${extensionOf(file)}` : file.name;
  try {
    const photo = await openPhoto(file, name, await limits);
    release(store, slot);
    changeSlot(store, slot, { photo });
  } catch (fault) {
    if (!(fault instanceof PhotoError)) throw fault;
    release(store, slot);
    changeSlot(store, slot, { problem: fault.message });
  }
  store.change({ outcome: undefined });
}

function release({ state }: Store, slot: number): void {
  const photo = state.slots[slot]?.photo;
  if (photo) closePhoto(photo);
}

function picturesOf(data: DataTransfer | null): File[] {
  return [...(data?.files ?? [])].filter(({ type }) => type.startsWith("image/"));
}

function slotsOf({ operation }: State): number {
  return OPERATIONS[operation].images.length;
}

/** The first slot without a photo; where all have one, the first. */
function nextSlot(state: State): number {
  const empty = state.slots.slice(0, slotsOf(state)).findIndex(({ photo }) => !photo);
  return Math.max(0, empty);
}

function extensionOf({ type }: File): string {
  return type === "image/png" ? "png" : "jpg";
}
