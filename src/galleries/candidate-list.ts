/** A face that may be near the query. */
export interface Candidate {
  readonly row: number;
  readonly distance: number;
}

/**
 * Collects the faces that may be among the `k` nearest ones within a limit, if their distances may be wrong by up to
 * `maxError`: the k-th nearest face is at most `maxError` farther than it seems, and a nearer one may seem farther by as
 * much.
 */
export class CandidateList {
  readonly #k: number;
  readonly #maxError: number;
  readonly #limit: number;
  readonly #candidates: Candidate[] = [];

  constructor(k: number, within: number, maxError: number) {
    this.#k = k;
    this.#maxError = maxError;
    this.#limit = within + maxError;
  }

  /** The nearest first. */
  get candidates(): readonly Candidate[] {
    return this.#candidates;
  }

  /** Faces that seem farther are not among the nearest. */
  get bound(): number {
    const last = this.#candidates[this.#k - 1];
    return last ? Math.min(this.#limit, last.distance + 2 * this.#maxError) : this.#limit;
  }

  /** Adds a face within the bound. */
  add(candidate: Candidate): void {
    let [start, end] = [0, this.#candidates.length];
    while (start < end) {
      const middle = (start + end) >> 1;
      if (this.#candidates[middle]!.distance <= candidate.distance) start = middle + 1;
      else end = middle;
    }
    this.#candidates.splice(start, 0, candidate);
    while (this.#candidates.at(-1)!.distance > this.bound) this.#candidates.pop();
  }
}
