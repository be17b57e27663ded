/** Jobs that wait, in a round robin of their callers. Jobs of one caller stay in the order of arrival. */
export class WaitingJobs<Job extends { readonly caller: string }> {
  // The order of the map's keys is the order of the round. The jobs are in arrays, not in sets: a set that is filled
  // and emptied all the time keeps removed entries alive across scavenges.
  #byCaller = new Map<string, Job[]>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  countOf(caller: string): number {
    return this.#byCaller.get(caller)?.length ?? 0;
  }

  /** Callers with waiting jobs, in the order of the round. */
  get callers(): string[] {
    return [...this.#byCaller.keys()];
  }

  /** The jobs of one caller in the order of arrival. */
  of(caller: string): readonly Job[] {
    return this.#byCaller.get(caller) ?? [];
  }

  /** Adds a job behind its caller's others. A caller without any joins the round at its end. */
  add(job: Job): void {
    const others = this.#byCaller.get(job.caller);
    if (others) others.push(job);
    else this.#byCaller.set(job.caller, [job]);
    this.#count++;
  }

  /** Adds a job before all others. */
  addFirst(job: Job): void {
    this.#byCaller.set(job.caller, [job, ...this.of(job.caller)]);
    this.moveToFront(job.caller);
    this.#count++;
  }

  /** Makes a caller the next in the round. */
  moveToFront(caller: string): void {
    const own = this.#byCaller.get(caller);
    if (!own) return;
    this.#byCaller.delete(caller);
    this.#byCaller = new Map([[caller, own], ...this.#byCaller]);
  }

  /** Removes and returns the next caller's first job. The caller moves to the end of the round. */
  next(): Job | undefined {
    const [first] = this.#byCaller;
    if (!first) return undefined;
    const [caller, own] = first;
    this.#byCaller.delete(caller);
    this.#byCaller.set(caller, own);
    const [next] = own;
    this.remove(next!);
    return next;
  }

  remove(job: Job): void {
    const own = this.#byCaller.get(job.caller) ?? [];
    const index = own.indexOf(job);
    if (index < 0) return;
    own.splice(index, 1);
    this.#count--;
    if (own.length === 0) this.#byCaller.delete(job.caller);
  }

  /** All jobs, grouped by caller. */
  *[Symbol.iterator](): Iterator<Job> {
    for (const own of this.#byCaller.values()) yield* own;
  }
}
