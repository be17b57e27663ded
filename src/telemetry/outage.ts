/** Reports the beginning and the end of an outage once each. */
export class Outage {
  readonly #onBegin: (cause: unknown) => void;
  readonly #onEnd: () => void;
  #isActive = false;

  constructor(onBegin: (cause: unknown) => void, onEnd: () => void) {
    this.#onBegin = onBegin;
    this.#onEnd = onEnd;
  }

  /** Call it for every failure; the first one is reported. */
  begin(cause: unknown): void {
    if (this.#isActive) return;
    this.#isActive = true;
    this.#onBegin(cause);
  }

  /** Call it for every success; the first one after a failure is reported. */
  end(): void {
    if (!this.#isActive) return;
    this.#isActive = false;
    this.#onEnd();
  }
}
