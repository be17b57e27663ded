import type { SampleBox, SampleRequest } from "./sample-request.ts";
import { boxesOf, featuresOf, numberOf, photosOf, present, quote, skipsDetection } from "./sdk-arguments.ts";

/** Writes a call. Arguments that are undefined or false are left out. */
export function call(method: string, ...args: readonly (string | undefined | false)[]): string {
  return `${method}(${present(args).join(", ")})`;
}

/** Writes a keyword argument; undefined without a value. */
export function named(name: string, value: string | number | undefined): string | undefined {
  return value === undefined ? undefined : `${name}=${value}`;
}

/** Turns detection off, if the request does. */
export function detection(request: SampleRequest): string | false {
  return skipsDetection(request) && "detect=False";
}

/** The boxes that select faces. */
export function boxes(request: SampleRequest): string | undefined {
  const chosen = boxesOf(request)?.map(box);
  return named("boxes", chosen && `[${chosen.join(", ")}]`);
}

/** Writes a box. */
export function box(corners: SampleBox | undefined): string | undefined {
  return corners && `Box(${corners.join(", ")})`;
}

/** The options of an analysis. */
export function analysisOptions(request: SampleRequest): (string | undefined)[] {
  const features = featuresOf(request)?.map((name) => quote(name.toLowerCase()));
  return [
    named("features", features && `[${features.join(", ")}]`),
    named("max_faces", numberOf(request, "maxFaces")),
  ];
}

/** The photos of the request. */
export function photos(request: SampleRequest): string[] {
  return photosOf(request, { file: (path) => `Path(${path})`, url: (url) => `Url(${url})` });
}
