/** The position of a face in the order of an image's faces. */
export interface Rank {
  /** Whether the detector is confident; confident detections come first. */
  readonly isConfident: boolean;
  /** Visible size, weighted by the distance from the centre; more prominent faces come first. */
  readonly prominence: number;
}

/** Sorts faces by rank, the most prominent first. Faces of equal rank keep their order. */
export function sortByRank<T extends { readonly rank: Rank }>(faces: readonly T[]): T[] {
  return faces.toSorted(
    ({ rank: a }, { rank: b }) =>
      Number(b.isConfident) - Number(a.isConfident) || b.prominence - a.prominence,
  );
}
