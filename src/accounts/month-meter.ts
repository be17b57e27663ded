/**
 * What one user has used of one month's quota, as far as this process knows: its own successes, and those that
 * the store told of beyond them.
 */
export class MonthMeter {
  #own = 0;
  #others = 0;
  #underWay = 0;

  /** Successes of the month, everybody's. */
  get used(): number {
    return this.#own + this.#others;
  }

  /** Requests that are being served and may yet succeed. */
  get underWay(): number {
    return this.#underWay;
  }

  begin(): void {
    this.#underWay++;
  }

  end(isSuccess: boolean): void {
    this.#underWay--;
    if (isSuccess) this.#own++;
  }

  /**
   * Takes in a count that was just read from the store; `unsent` of our own successes have not been sent there.
   *
   * A batch that was on its way during the read may be in the count or not. It is taken to be in it, which
   * makes others' share too small rather than too large: nobody is refused wrongly. And as others' share only
   * grows, the largest that was ever seen is kept: a process that is alone never serves beyond the quota.
   */
  learn(stored: number, unsent: number): void {
    this.#others = Math.max(this.#others, stored - (this.#own - unsent));
  }
}

/** The meters of the users of a month; those of another month are forgotten when it is over. */
export class MonthMeters {
  #month = "";
  readonly #meters = new Map<string, MonthMeter>();

  /** The meter of a user, new where there is none. */
  of(idHash: string, month: string): MonthMeter {
    if (month !== this.#month) {
      this.#month = month;
      this.#meters.clear();
    }
    let meter = this.#meters.get(idHash);
    if (!meter) {
      meter = new MonthMeter();
      this.#meters.set(idHash, meter);
    }
    return meter;
  }

  /** Forgets a user who is no longer stored. */
  forget(idHash: string): void {
    this.#meters.delete(idHash);
  }
}
