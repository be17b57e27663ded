/** Those who wait. Callers take turns, and each one's are served in the order of arrival. */
export class WaitingLine<One extends { readonly caller: string }> {
  // A map keeps the order of arrival, also for those who leave and come again. In it are lists and no sets: those that
  // are filled and emptied all the time keep what was in them from being collected as young garbage.
  #byCaller = new Map<string, One[]>();
  #count = 0;

  /** How many wait. */
  get count(): number {
    return this.#count;
  }

  /** How many of this caller's wait. */
  countOf(caller: string): number {
    return this.#byCaller.get(caller)?.length ?? 0;
  }

  /** Those of whom anyone waits, in the order of their turns. */
  get callers(): string[] {
    return [...this.#byCaller.keys()];
  }

  /** The last of this caller's. */
  lastOf(caller: string): One | undefined {
    return this.#byCaller.get(caller)?.at(-1);
  }

  add(one: One): void {
    const others = this.#byCaller.get(one.caller);
    if (others) others.push(one);
    else this.#byCaller.set(one.caller, [one]);
    this.#count++;
  }

  /** Lets one wait before all others: it has had its turn, and lost it. */
  addFirst(one: One): void {
    const others = this.#byCaller.get(one.caller) ?? [];
    this.#byCaller.delete(one.caller);
    this.#byCaller = new Map([[one.caller, [one, ...others]], ...this.#byCaller]);
    this.#count++;
  }

  /** Takes out the first of the caller whose turn it is, who then is the last to have another turn. */
  next(): One | undefined {
    const [first] = this.#byCaller;
    if (!first) return undefined;
    const [caller, ofCaller] = first;
    this.#byCaller.delete(caller);
    this.#byCaller.set(caller, ofCaller);
    const [next] = ofCaller;
    this.remove(next!);
    return next;
  }

  remove(one: One): void {
    const ofCaller = this.#byCaller.get(one.caller) ?? [];
    const place = ofCaller.indexOf(one);
    if (place < 0) return;
    ofCaller.splice(place, 1);
    this.#count--;
    if (ofCaller.length === 0) this.#byCaller.delete(one.caller);
  }

  /** Everyone, caller by caller. */
  *[Symbol.iterator](): Iterator<One> {
    for (const ofCaller of this.#byCaller.values()) yield* ofCaller;
  }
}
