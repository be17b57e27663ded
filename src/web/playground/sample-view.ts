import type { SampleName } from "./photo.ts";
import { cancelRun } from "./run.ts";
import { hasSamples, operationFor, samplesFor, showSamples } from "./samples.ts";
import type { Store } from "./store.ts";

/** Binds the buttons of the samples. `onShown` is called when the photos are in the slots. */
export function mountSampleView(store: Store, onShown: () => void): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("[data-samples]")) {
    const names = button.dataset.samples!.split(" ") as SampleName[];
    button.hidden = operationFor(names, store.state) === undefined;
    button.addEventListener("click", () => {
      cancelRun();
      showSamples(store, names).then(onShown).catch(reportError);
    });
  }
}

/** Shows the samples of the operation, unless the user has added a photo. Returns whether it did. */
export async function showSamplesOfOperation(store: Store): Promise<boolean> {
  const { operation } = store.state;
  const isUnused = () => store.state.slots.every(({ photo, problem }) => !photo && !problem);
  const isWanted = () => store.state.operation === operation && (isUnused() || hasSamples(store.state.slots));
  return isWanted() && showSamples(store, samplesFor(operation), isWanted);
}
