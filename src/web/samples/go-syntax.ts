import type { SampleBox, SampleRequest } from "./sample-request.ts";
import { boxOf, featuresOf, numberOf, photosOf, present, skipsDetection } from "./sdk-arguments.ts";

/** Ends the program if there is an error. */
export const CHECK = ["if err != nil {", "\tlog.Fatal(err)", "}"];

/** Writes a call of the client. An argument that is undefined is nil. */
export function call(method: string, ...args: readonly (string | undefined)[]): string {
  return `client.${method}(${["ctx", ...args.map((argument) => argument ?? "nil")].join(", ")})`;
}

/** A pointer to options; undefined without members. */
export function options(
  type: string,
  ...members: readonly (string | undefined | false)[]
): string | undefined {
  const given = present(members);
  return given.length > 0 ? `&visage.${type}{${given.join(", ")}}` : undefined;
}

/** Writes a field of a struct; undefined without a value. */
export function member(name: string, value: string | number | undefined): string | undefined {
  return value === undefined ? undefined : `${name}: ${value}`;
}

/** Writes a slice; undefined without items. */
export function list<Item>(
  type: string,
  items: readonly Item[] | undefined,
  write: (item: Item) => string,
): string | undefined {
  return items && `[]${type}{${items.map(write).join(", ")}}`;
}

/** Turns detection off, if the request does. */
export function detection(request: SampleRequest): string | false {
  return skipsDetection(request) && "SkipDetection: true";
}

/** A box of the original API, in whole pixels. In a list its type is left out. */
export function pixelBox(corners: SampleBox | undefined, type: string): string | undefined {
  return (
    corners &&
    `${type}{${corners
      .map(Math.round)
      .map((value, i) => `${CORNERS[i]}: ${value}`)
      .join(", ")}}`
  );
}

/** A box of the typed API. In a list its type is left out. */
export function typedBox(corners: SampleBox | undefined, type = "&visagev1.BoundingBox"): string | undefined {
  return corners && `${type}{${corners.map((value, i) => `${CORNERS[i]}: ${value}`).join(", ")}}`;
}

const CORNERS = ["X1", "Y1", "X2", "Y2"];

/** The options of an analysis. */
export function analysisMembers(request: SampleRequest): (string | undefined)[] {
  return [
    member(
      "Features",
      list("visagev1.Feature", featuresOf(request), (name) => `visagev1.Feature_FEATURE_${name}`),
    ),
    member("MaxFaces", numberOf(request, "maxFaces")),
  ];
}

/** Writes the face in an image of the request. */
export function face(request: SampleRequest, image: number): string {
  const members = present([
    member("Image", photos(request)[image]),
    member("Box", typedBox(boxOf(request, image))),
  ]);
  return `visage.Face{${members.join(", ")}}`;
}

/** The photos of the request. */
export function photos(request: SampleRequest): string[] {
  return photosOf(request, { file: (path) => `visage.File(${path})`, url: (url) => `visage.URL(${url})` });
}
