/** Waiting jobs. Callers are served in turn, and the jobs of one caller in the order of arrival. */
export class RoundRobin<Job extends { readonly caller: string }> {
  // The order of the map's keys is the order of the round. The jobs are in arrays, not in sets: a set that is filled
  // and emptied all the time keeps removed entries alive across scavenges.
  #byCaller = new Map<string, Job[]>();
  #count = 0;

  /** Number of jobs. */
  get count(): number {
    return this.#count;
  }

  /** Number of a caller's jobs. */
  countOf(caller: string): number {
    return this.#byCaller.get(caller)?.length ?? 0;
  }

  /** Callers with jobs, in the order of the round. */
  get callers(): string[] {
    return [...this.#byCaller.keys()];
  }

  /** A caller's jobs in the order of arrival. */
  jobsOf(caller: string): readonly Job[] {
    return this.#byCaller.get(caller) ?? [];
  }

  /**
   * Adds a job behind the others of its caller. A caller without jobs joins the round at the end or, if it is not being
   * served, before the first caller that is.
   */
  add(job: Job, isServed: (caller: string) => boolean = () => false): void {
    this.#count++;
    const own = this.#byCaller.get(job.caller);
    if (own) {
      own.push(job);
      return;
    }
    const round = [...this.#byCaller];
    const index = isServed(job.caller) ? -1 : round.findIndex(([caller]) => isServed(caller));
    if (index < 0) this.#byCaller.set(job.caller, [job]);
    else this.#byCaller = new Map(round.toSpliced(index, 0, [job.caller, [job]]));
  }

  /** Returns the next caller's first job, which stays. The caller moves to the end of the round. */
  takeTurn(): Job | undefined {
    for (const [caller, own] of this.#byCaller) {
      this.#byCaller.delete(caller);
      this.#byCaller.set(caller, own);
      return own[0];
    }
    return undefined;
  }

  /** Removes a job, if it is there. */
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
