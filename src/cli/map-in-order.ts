/** Limits of a concurrent mapping. */
export interface MapLimits {
  /** Maximum number of items that are processed at once. */
  readonly concurrency: number;
  /** Maximum number of results that are not consumed yet, including those of items in process. */
  readonly maxPending: number;
}

interface Pending<Result> {
  result?: { readonly value: Result };
}

/**
 * Processes items concurrently and yields the results in the order of the items. Reads no more items than the limits
 * allow. `work` must not reject.
 */
export async function* mapInOrder<Item, Result>(
  items: AsyncIterator<Item>,
  { concurrency, maxPending }: MapLimits,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const pending: Pending<Result>[] = [];
  const running = new Set<Promise<unknown>>();
  let hasMore = true;

  const start = (item: Item) => {
    const entry: Pending<Result> = {};
    pending.push(entry);
    const run = work(item).then((value) => {
      entry.result = { value };
      running.delete(run);
    });
    running.add(run);
  };

  while (hasMore || pending.length > 0) {
    const first = pending[0]?.result;
    if (first) {
      pending.shift();
      yield first.value;
    } else if (hasMore && running.size < concurrency && pending.length < maxPending) {
      const next = await items.next();
      if (next.done) hasMore = false;
      else start(next.value);
    } else await Promise.race(running);
  }
}
