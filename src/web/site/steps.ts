/** How long the page may be busy at a time. */
const STEP_MS = 10;

/** Calls a function for each item in short steps, between which the page responds to the user. */
export function forEachInSteps<Item>(
  items: readonly Item[],
  visit: (item: Item, index: number) => void,
): void {
  let index = 0;
  const step = () => {
    const endMs = performance.now() + STEP_MS;
    while (index < items.length && performance.now() < endMs) {
      visit(items[index]!, index);
      index++;
    }
    if (index < items.length) setTimeout(step);
  };
  step();
}
