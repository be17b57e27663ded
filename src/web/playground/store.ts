import type { Rectangle } from "./answers.ts";
import { type Face, isSameFace } from "./faces.ts";
import type { OperationName } from "./operations.ts";
import type { Outcome } from "./send.ts";

/** A photo that was given, and what is known of it. */
export interface Photo {
  readonly file: Blob;
  readonly name: string;
  /** Where the page shows it from. */
  readonly image: HTMLImageElement;
  /** Size of the upright photo. */
  readonly width: number;
  readonly height: number;
  readonly faces: readonly Face[];
  /** The box of the face to use. */
  readonly chosen?: Rectangle | undefined;
}

/** A place for a photo: empty, filled, or with why a photo was not taken. */
export interface Slot {
  readonly photo?: Photo;
  readonly problem?: string;
}

/** All that the page knows. */
export interface State {
  readonly userId: string;
  readonly isRevealed: boolean;
  readonly operation: OperationName;
  readonly slots: readonly [Slot, Slot];
  readonly detect: boolean;
  readonly quality: boolean;
  readonly isWorking: boolean;
  readonly outcome?: Outcome | undefined;
}

/** Holds the state and tells those who draw it. */
export interface Store {
  readonly state: State;
  change(changes: Partial<State>): void;
  /** Calls back now and after each change. */
  watch(draw: (state: State) => void): void;
}

/** Makes a store. */
export function createStore(first: State): Store {
  let state = first;
  const watchers: ((state: State) => void)[] = [];
  return {
    get state() {
      return state;
    },
    change(changes) {
      state = { ...state, ...changes };
      for (const draw of watchers) draw(state);
    },
    watch(draw) {
      watchers.push(draw);
      draw(state);
    },
  };
}

/** Puts something else into a slot. */
export function changeSlot(store: Store, index: number, slot: Slot): void {
  store.change({ slots: store.state.slots.with(index, slot) as [Slot, Slot] });
}

/** Chooses the face to use in a photo by its box, or none where it was chosen already. */
export function toggleFace(store: Store, index: number, box: Rectangle): void {
  const photo = store.state.slots[index]?.photo;
  if (!photo) return;
  const chosen = isSameFace(photo.chosen, box) ? undefined : box;
  changeSlot(store, index, { photo: { ...photo, chosen } });
}
