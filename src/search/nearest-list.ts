/** A template near the query. */
export interface Neighbour {
  readonly id: string;
  /** Euclidean distance to the query. Below 0.5, both are the same person. */
  readonly distance: number;
}

/** Keeps the `k` nearest neighbours within a distance, ordered by distance and then by id. */
export class NearestList {
  readonly #k: number;
  readonly #within: number;
  readonly #neighbours: Neighbour[] = [];

  constructor(k: number, within: number) {
    this.#k = k;
    this.#within = within;
  }

  get neighbours(): readonly Neighbour[] {
    return this.#neighbours;
  }

  /** The distance beyond which the list accepts no neighbour. It shrinks once the list is full. */
  get bound(): number {
    return this.#neighbours.length < this.#k ? this.#within : this.#neighbours.at(-1)!.distance;
  }

  /** Adds a neighbour if it is among the `k` nearest so far. */
  offer(neighbour: Neighbour): void {
    if (neighbour.distance >= this.#within) return;
    let place = this.#neighbours.length;
    while (place > 0 && precedes(neighbour, this.#neighbours[place - 1]!)) place--;
    this.#neighbours.splice(place, 0, neighbour);
    if (this.#neighbours.length > this.#k) this.#neighbours.pop();
  }
}

function precedes(one: Neighbour, other: Neighbour): boolean {
  return one.distance < other.distance || (one.distance === other.distance && one.id < other.id);
}
