import { ATTRIBUTES } from "../photos/attributes.ts";
import { closePhoto, openPhoto } from "../photos/open-photo.ts";
import type { Offer } from "./offer.ts";
import { OPERATIONS, type OperationName } from "./operations.ts";
import type { Photo, SampleName, Slot } from "./photo.ts";
import { requestFrom } from "./request.ts";
import { type Analysis, type Comparison, isComparison } from "./responses.ts";
import type { Success } from "./send.ts";
import type { State, Store } from "./store.ts";

/** Counts the reasons why samples that are still loading may be unwanted. */
let generation = 0;

const PAIR: readonly SampleName[] = ["collins", "hopper"];

/** The samples that an operation starts with. */
export function samplesFor(operation: OperationName): readonly SampleName[] {
  return PAIR.slice(0, OPERATIONS[operation].images.length);
}

/** The operation for samples: the given one if it takes as many photos, or else the first one that does. */
export function operationFor(
  names: readonly SampleName[],
  { operation, offer }: Pick<State, "operation" | "offer">,
): OperationName | undefined {
  return [operation, ...offer.operations].find((name) => OPERATIONS[name].images.length === names.length);
}

/** Whether the photos are samples: those are replaced by the first photo of the user. */
export function hasSamples(slots: readonly Slot[]): boolean {
  return slots.some(({ photo }) => photo?.sample !== undefined);
}

/** Gives up samples that are still loading, because the user adds a photo. */
export function giveUpSamples(): void {
  generation++;
}

/**
 * Puts samples into the slots, and selects an operation that takes as many photos. Returns false if they are no longer
 * wanted when they have been loaded.
 */
export async function showSamples(
  store: Store,
  names: readonly SampleName[],
  isWanted = () => true,
): Promise<boolean> {
  const own = ++generation;
  const photos = await Promise.all(names.map(openSample));
  if (own !== generation || !isWanted()) return false;
  for (const { photo } of store.state.slots) if (photo) closePhoto(photo);
  store.update({
    operation: operationFor(names, store.state) ?? store.state.operation,
    slots: [{ photo: photos[0]! }, photos[1] ? { photo: photos[1] } : {}],
    outcome: undefined,
  });
  return true;
}

/** Returns the stored result for the samples in the slots; undefined if there is none for the form. */
export async function storedOutcome({ state }: Store): Promise<Success | undefined> {
  const request = requestFrom(state);
  const names = request.images.map(({ photo }) => photo?.sample);
  if (request.images.some(({ photo, box }) => !photo?.sample || box)) return undefined;
  storedResults ??= fetchStoredResults();
  const response = (await storedResults)[`${state.operation} ${names.join(" ")}`];
  if (!response) return undefined;
  const shown = withoutSwitchedOff(response, state.offer);
  return { isSuccess: true, isStored: true, request, response: shown, httpStatus: 200, roundTripMs: 0 };
}

/** The response as a service answers that has some features switched off. */
function withoutSwitchedOff(response: Analysis | Comparison, { has }: Offer): Analysis | Comparison {
  if (isComparison(response) || (has("attributes") && has("landmarks"))) return response;
  const faces = response.faces.map(({ landmarks = [], ...face }) => {
    const fields = Object.entries(face).filter(([name]) => has("attributes") || !(name in ATTRIBUTES));
    return { ...Object.fromEntries(fields), box: face.box, landmarks: has("landmarks") ? landmarks : [] };
  });
  return { ...response, faces };
}

type StoredResults = Readonly<Record<string, Analysis | Comparison>>;

let storedResults: Promise<StoredResults> | undefined;

/** `npm run generate:samples` writes the file, and a test compares it with what the service answers. */
async function fetchStoredResults(): Promise<StoredResults> {
  const group = document.querySelector<HTMLElement>("[data-results-src]");
  const response = await fetch(new URL(group?.dataset.resultsSrc ?? "", document.baseURI));
  return response.json();
}

async function openSample(name: SampleName): Promise<Photo> {
  const thumbnail = document.querySelector<HTMLElement>(`[data-sample="${name}"]`);
  const response = await fetch(new URL(thumbnail?.dataset.src ?? "", document.baseURI));
  const photo = await openPhoto(await response.blob(), `${name}.jpg`, undefined);
  return { ...photo, faces: [], sample: name };
}
