interface Closable {
  close(): Promise<void>;
}

/** Closes resources in the reverse order of opening, because later ones may use earlier ones. */
export class ResourceStack {
  readonly #resources: Closable[] = [];

  add<T extends Closable>(resource: T): T {
    this.#resources.push(resource);
    return resource;
  }

  /** Adds a resource that is still being opened. `close` waits for it. */
  addPending<T extends Closable | undefined>(opening: Promise<T>): Promise<T> {
    const opened = opening.catch(() => undefined);
    this.#resources.push({ close: async () => (await opened)?.close() });
    return opening;
  }

  addIfDefined<T extends Closable>(resource: T | undefined): T | undefined {
    return resource && this.add(resource);
  }

  async close(): Promise<void> {
    for (const resource of this.#resources.splice(0).toReversed()) await resource.close();
  }
}
