import type { SampleBox, SampleRequest } from "./sample-request.ts";
import { boxOf, featuresOf, numberOf, photosOf, present, skipsDetection } from "./sdk-arguments.ts";

/** Writes a call. Arguments that are undefined are left out. */
export function call(method: string, ...args: readonly (string | undefined)[]): string {
  return `${method}(${present(args).join(", ")})`;
}

/** A function that sets the optional fields; undefined without setters. */
export function options(...setters: readonly (string | undefined | false)[]): string | undefined {
  const given = present(setters);
  return given.length > 0 ? `request -> request.${given.join(".")}` : undefined;
}

/** Writes a call of a setter; undefined without a value. */
export function setter(name: string, value: string | number | undefined): string | undefined {
  return value === undefined ? undefined : `${name}(${value})`;
}

/** Turns detection off, if the request does. */
export function detection(request: SampleRequest): string | false {
  return skipsDetection(request) && "setFaceDet(false)";
}

/** Writes a number of the type float. */
export function float(value: number | undefined): string | undefined {
  return value === undefined ? undefined : `${value}f`;
}

/** A box of the original API, in whole pixels. */
export function pixelBox(corners: SampleBox | undefined): string | undefined {
  return corners && boxBuilder(corners.map((value) => String(Math.round(value))));
}

/** A box of the typed API. */
export function typedBox(corners: SampleBox | undefined): string | undefined {
  return corners && boxBuilder(corners.map((value) => `${value}f`));
}

function boxBuilder([x1, y1, x2, y2]: readonly string[]): string {
  return `BoundingBox.newBuilder().setX1(${x1}).setY1(${y1}).setX2(${x2}).setY2(${y2})`;
}

/** The options of an analysis. */
export function analysisSetters(request: SampleRequest): (string | undefined)[] {
  return [
    ...(featuresOf(request) ?? []).map((name) => `addFeatures(Feature.FEATURE_${name})`),
    setter("setMaxFaces", numberOf(request, "maxFaces")),
  ];
}

/** Writes the face in an image of the request. */
export function face(request: SampleRequest, image: number): string {
  const box = typedBox(boxOf(request, image));
  return call("FaceInput.of", photos(request)[image], box && `${box}.build()`);
}

/** The photos of the request. */
export function photos(request: SampleRequest): string[] {
  return photosOf(request, {
    file: (path) => `ImageInput.ofFile(Path.of(${path}))`,
    url: (url) => `ImageInput.ofUrl(URI.create(${url}))`,
  });
}
