import type { SampleBox, SampleRequest } from "./sample-request.ts";
import { boxesOf, featuresOf, numberOf, photosOf, present, quote, skipsDetection } from "./sdk-arguments.ts";

/** Writes a call. Arguments that are undefined are left out. */
export function call(method: string, ...args: readonly (string | undefined)[]): string {
  return `${method}(${present(args).join(", ")})`;
}

/** An object literal; undefined without members. */
export function options(...members: readonly (string | undefined | false)[]): string | undefined {
  const given = present(members);
  return given.length > 0 ? `{ ${given.join(", ")} }` : undefined;
}

/** Writes a member of an object; undefined without a value. */
export function member(name: string, value: string | number | undefined): string | undefined {
  return value === undefined ? undefined : `${name}: ${value}`;
}

/** Turns detection off, if the request does. */
export function detection(request: SampleRequest): string | false {
  return skipsDetection(request) && "detect: false";
}

/** The boxes that select faces. */
export function boxes(request: SampleRequest): string | undefined {
  const chosen = boxesOf(request)?.map(box);
  return member("boxes", chosen && `[${chosen.join(", ")}]`);
}

/** Writes a box. */
export function box(corners: SampleBox | undefined): string | undefined {
  if (!corners) return undefined;
  const [x1, y1, x2, y2] = corners;
  return `{ x1: ${x1}, y1: ${y1}, x2: ${x2}, y2: ${y2} }`;
}

/** The options of an analysis. */
export function analysisOptions(request: SampleRequest): (string | undefined)[] {
  const features = featuresOf(request)?.map((name) => quote(name.toLowerCase()));
  return [
    member("features", features && `[${features.join(", ")}]`),
    member("maxFaces", numberOf(request, "maxFaces")),
  ];
}

/** The photos of the request. */
export function photos(request: SampleRequest): string[] {
  return photosOf(request, { file: (path) => `{ path: ${path} }`, url: (url) => `{ url: ${url} }` });
}
