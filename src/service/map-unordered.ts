/**
 * Maps the items of a source with at most `limit` at a time, and yields each result as soon as it is ready. An item
 * counts until its result has been taken, so a slow consumer stops the source.
 *
 * If the source throws, the results of the items in progress still come before the error. If `map` throws, the source is
 * closed at once. If the consumer stops early, the source is closed and the results of the items in progress are
 * dropped.
 */
export async function* mapUnordered<Item, Result>(
  source: AsyncIterable<Item>,
  limit: number,
  map: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const iterator = source[Symbol.asyncIterator]();
  const inProgress = new Set<Promise<Outcome<Result>>>();
  let next: Promise<Outcome<IteratorResult<Item>>> | undefined;
  let isOpen = true;
  let failure: Failure | undefined;
  try {
    while (isOpen || inProgress.size > 0) {
      if (isOpen && inProgress.size < limit) next ??= settle(iterator.next());
      const reading = next?.then((outcome) => ({ next: outcome }));
      const working = Array.from(inProgress, (work) => work.then((outcome) => ({ work, outcome })));
      const event = await Promise.race(reading ? [...working, reading] : working);
      if ("next" in event) {
        next = undefined;
        if ("cause" in event.next || event.next.value.done) {
          isOpen = false;
          if ("cause" in event.next) failure = event.next;
        } else inProgress.add(settle(map(event.next.value.value)));
      } else {
        inProgress.delete(event.work);
        if ("cause" in event.outcome) throw event.outcome.cause;
        yield event.outcome.value;
      }
    }
  } finally {
    // Not awaited: a source that waits for its client would not close before the client sends something.
    if (isOpen) iterator.return?.()?.catch(() => {});
  }
  if (failure) throw failure.cause;
}

type Outcome<T> = { readonly value: T } | Failure;

interface Failure {
  readonly cause: unknown;
}

/** Waits for a promise without rejecting, so that a result nobody waits for is not an unhandled rejection. */
function settle<T>(promise: Promise<T>): Promise<Outcome<T>> {
  return promise.then(
    (value) => ({ value }),
    (cause: unknown) => ({ cause }),
  );
}
