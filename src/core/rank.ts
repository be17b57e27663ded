/** Where a face belongs in the order of an image's faces. */
export interface Rank {
  /** Whether the detector is sure of it; sure faces come first. */
  readonly isSure: boolean;
  /** Size as it counts for the order; larger faces come first. */
  readonly prominence: number;
}

/** Sorts faces by rank, the most prominent first; those of equal rank stay in their order. */
export function byRank<T extends { readonly rank: Rank }>(faces: readonly T[]): T[] {
  return faces.toSorted(
    ({ rank: one }, { rank: other }) =>
      Number(other.isSure) - Number(one.isSure) || other.prominence - one.prominence,
  );
}
