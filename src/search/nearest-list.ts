/** A template and how far it is from what was looked for. */
export interface Neighbour {
  readonly id: string;
  /** Euclidean distance; below 0.5 it is the same person. */
  readonly distance: number;
}

/** The nearest few of those that were offered, nearest first; of equally near ones those with the lesser id. */
export class NearestList {
  readonly #most: number;
  readonly #within: number;
  readonly #neighbours: Neighbour[] = [];

  constructor(most: number, within: number) {
    this.#most = most;
    this.#within = within;
  }

  /** Those that are kept. */
  get neighbours(): readonly Neighbour[] {
    return this.#neighbours;
  }

  /** What lies farther than this has no place. */
  get bound(): number {
    return this.#neighbours.length < this.#most ? this.#within : this.#neighbours.at(-1)!.distance;
  }

  /** Keeps a neighbour that is nearer than the limit and one of the nearest so far. */
  offer(neighbour: Neighbour): void {
    if (neighbour.distance >= this.#within) return;
    let place = this.#neighbours.length;
    while (place > 0 && precedes(neighbour, this.#neighbours[place - 1]!)) place--;
    this.#neighbours.splice(place, 0, neighbour);
    if (this.#neighbours.length > this.#most) this.#neighbours.pop();
  }
}

function precedes(one: Neighbour, other: Neighbour): boolean {
  return one.distance < other.distance || (one.distance === other.distance && one.id < other.id);
}
