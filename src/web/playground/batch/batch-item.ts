import type { Size } from "../../photos/geometry.ts";
import type { Analysis } from "../responses.ts";

/** Why a photo of a batch failed. */
export interface ItemError {
  readonly message: string;
  /** The stable code of the error table; missing if the service did not see the photo. */
  readonly code?: string | undefined;
  readonly reason?: string | undefined;
  /** Whether the same photo can succeed when it is sent again. */
  readonly isRetryable: boolean;
}

/** How far a photo of a batch is. */
export type ItemState =
  | { readonly name: "waiting" }
  | { readonly name: "running" }
  | { readonly name: "done"; readonly analysis: Analysis }
  | { readonly name: "failed"; readonly error: ItemError };

/** A photo of a batch. */
export interface BatchItem {
  readonly file: File;
  state: ItemState;
  /** Size of the original, as soon as it has been decoded. */
  size?: Size;
  /** A small picture as a data URL, as soon as it has been decoded. */
  thumbnail?: string;
}

/** The most photos of a batch. A table with more rows would be of no use. */
export const MAX_PHOTOS = 2000;

/** How many photos are in each state. */
export type Counts = Readonly<Record<ItemState["name"], number>>;

/** Whether a photo failed that can succeed when it is sent again. */
export function canRetry({ state }: BatchItem): boolean {
  return state.name === "failed" && state.error.isRetryable;
}

/** Counts the photos by state. */
export function countItems(items: readonly BatchItem[]): Counts {
  const counts = { waiting: 0, running: 0, done: 0, failed: 0 };
  for (const { state } of items) counts[state.name]++;
  return counts;
}
