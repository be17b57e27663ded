import type { Box } from "../photos/geometry.ts";
import { isSameFace } from "./faces.ts";
import type { Slot } from "./photo.ts";
import type { RequestForm } from "./request.ts";
import type { Outcome } from "./send.ts";

/** The state of the page. */
export interface State extends RequestForm {
  readonly apiKey: string;
  /** The distance below which two faces match, as the user has set it. */
  readonly threshold: number;
  /** Whether landmarks are drawn on the photos. */
  readonly hasLandmarks: boolean;
  /** Whether a request is in flight. */
  readonly isBusy: boolean;
  /** Whether the request in flight will replace the outcome, which is that of an earlier request. */
  readonly isUpdating: boolean;
  /** The share of the request that is sent, from 0 to 1, while it is in flight. */
  readonly sentShare?: number | undefined;
  readonly outcome?: Outcome | undefined;
  /** The outcome that is hidden because a batch was opened after it. Missing if there is no batch. */
  readonly behindBatch?: { readonly outcome: Outcome | undefined } | undefined;
}

/** Holds the state and notifies the views of changes. */
export interface Store {
  readonly state: State;
  update(changes: Partial<State>): void;
  /** Calls the listener now and after each update. */
  subscribe(listener: (state: State) => void): void;
}

/** Creates a store. */
export function createStore(initialState: State): Store {
  let state = initialState;
  const listeners: ((state: State) => void)[] = [];
  return {
    get state() {
      return state;
    },
    update(changes) {
      state = { ...state, ...changes };
      for (const listener of listeners) listener(state);
    },
    subscribe(listener) {
      listeners.push(listener);
      listener(state);
    },
  };
}

/** Replaces the content of a slot. */
export function updateSlot(store: Store, index: number, slot: Slot): void {
  store.update({ slots: store.state.slots.with(index, slot) as [Slot, Slot] });
}

/** Selects the face that requests use, or clears the selection if it is selected already. */
export function toggleFace(store: Store, index: number, box: Box): void {
  const photo = store.state.slots[index]?.photo;
  if (!photo) return;
  const selectedBox = isSameFace(photo.selectedBox, box) ? undefined : box;
  updateSlot(store, index, { photo: { ...photo, selectedBox } });
}

/** Selects a face in the photo of each slot. */
export function selectFaces(store: Store, boxes: readonly [Box, Box]): void {
  const slots = store.state.slots.map((slot, i) =>
    slot.photo ? { photo: { ...slot.photo, selectedBox: boxes[i] } } : slot,
  );
  store.update({ slots: slots as [Slot, Slot] });
}
