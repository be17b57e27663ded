/** The messages of a request stream, in order. Only one consumer may iterate over it. */
export class Outbox<T> implements AsyncIterable<T> {
  readonly #messages: T[] = [];
  #isEnded = false;
  /** Wakes the consumer, which waits for a message. */
  #wake = () => {};
  #onEmptied: (() => void) | undefined;
  #emptied = Promise.resolve();

  /** Whether the consumer has taken all messages. */
  get isEmpty(): boolean {
    return this.#messages.length === 0;
  }

  /** Resolves when the consumer takes the last message. */
  get emptied(): Promise<void> {
    if (!this.#onEmptied)
      this.#emptied = new Promise((resolve) => {
        this.#onEmptied = resolve;
      });
    return this.#emptied;
  }

  add(message: T): void {
    this.#messages.push(message);
    this.#wake();
  }

  /** Ends the stream after the messages. */
  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  /** Ends the stream at once. */
  close(): void {
    this.#messages.length = 0;
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const message = this.#messages.shift();
      if (message !== undefined) {
        if (this.isEmpty) {
          this.#onEmptied?.();
          this.#onEmptied = undefined;
        }
        yield message;
      } else if (this.#isEnded) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
