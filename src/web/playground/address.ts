import { MATCH_DISTANCE, MAX_THRESHOLD, MIN_THRESHOLD } from "./match/curve.ts";
import { OPERATIONS } from "./operations.ts";
import type { SampleName } from "./photo.ts";
import { samplesFor } from "./samples.ts";
import type { State, Store } from "./store.ts";

/** What the address keeps of the form, so that reloading and going back do. It never has photos or keys. */
type AddressField = "operation" | "sample" | "threshold";

/** Reads a field of the address of the page; undefined if it is missing. */
export function readFromAddress(field: AddressField): string | undefined {
  return new URLSearchParams(location.search).get(field) ?? undefined;
}

/** Changes a field of the address, without a new entry in the history. Undefined removes it. */
function writeToAddress(field: AddressField, value: string | undefined): void {
  const address = new URL(location.href);
  if (value === (address.searchParams.get(field) ?? undefined)) return;
  if (value === undefined) address.searchParams.delete(field);
  else address.searchParams.set(field, value);
  history.replaceState(history.state, "", address);
}

/** The samples that the address names, if they are as many as the operation takes; or else those it starts with. */
export function samplesFromAddress({ operation }: State): readonly SampleName[] {
  const names = readFromAddress("sample") ?? "";
  const isKnown = document.querySelector(`[data-samples="${CSS.escape(names)}"]`) !== null;
  const samples = names.split(" ") as SampleName[];
  return isKnown && samples.length === OPERATIONS[operation].images.length ? samples : samplesFor(operation);
}

/** The threshold that the address names, or else the default. */
export function thresholdFromAddress(): number {
  const value = Number(readFromAddress("threshold"));
  return value >= MIN_THRESHOLD && value <= MAX_THRESHOLD ? value : MATCH_DISTANCE;
}

/** Keeps operation, samples and threshold in the address, as far as they are not those of a first visit. */
export function keepInAddress(store: Store): void {
  store.subscribe(({ offer, operation, slots, threshold }) => {
    const usual = samplesFor(operation).join(" ");
    const shown = slots
      .slice(0, OPERATIONS[operation].images.length)
      .map(({ photo }) => photo?.sample ?? "")
      .join(" ");
    const isUsual = shown === usual || shown.trim() === "";
    writeToAddress("operation", operation === offer.operations[0] ? undefined : operation);
    writeToAddress("sample", isUsual ? undefined : shown);
    writeToAddress("threshold", threshold === MATCH_DISTANCE ? undefined : String(threshold));
  });
}
