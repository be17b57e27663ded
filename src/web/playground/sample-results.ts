import type { OperationName } from "./operations.ts";
import type { Envelope, ResponseData } from "./responses.ts";
import type { SampleName } from "./samples.ts";

type Results = Readonly<Record<string, Envelope<ResponseData>>>;

let results: Promise<Results> | undefined;

/** Returns what the service answered for sample photos; undefined if that is not stored. */
export async function sampleResultFor(
  operation: OperationName,
  names: readonly SampleName[],
): Promise<Envelope<ResponseData> | undefined> {
  results ??= fetchResults();
  return (await results)[`${operation} ${names.join(" ")}`];
}

/** `npm run generate:samples` writes the file, and a test compares it with what the service answers. */
async function fetchResults(): Promise<Results> {
  const group = document.querySelector<HTMLElement>("[data-results-src]");
  const response = await fetch(new URL(group?.dataset.resultsSrc ?? "", document.baseURI));
  return response.json();
}
