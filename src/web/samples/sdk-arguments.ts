import type { SampleBox, SampleRequest } from "./sample-request.ts";

/** The photos of a request. */
export function filesOf({ images = [] }: SampleRequest): string[] {
  return images.map(({ file }) => file);
}

/** The photos of a request as arguments, by functions that write a quoted path and a quoted URL. */
export function photosOf(
  { images = [] }: SampleRequest,
  write: { readonly file: (path: string) => string; readonly url: (url: string) => string },
): string[] {
  return images.map(({ file, url }) => (url === undefined ? write.file(quote(file)) : write.url(quote(url))));
}

/** The box that selects the face of an image. */
export function boxOf({ images }: SampleRequest, image = 0): SampleBox | undefined {
  return images?.[image]?.boxes?.[0];
}

/** The boxes of the first image; undefined if there are none. */
export function boxesOf({ images }: SampleRequest): readonly SampleBox[] | undefined {
  const boxes = images?.[0]?.boxes ?? [];
  return boxes.length > 0 ? boxes : undefined;
}

/** The chosen features without their prefix, such as `EMBEDDING`; undefined if the request chooses none. */
export function featuresOf({ fields }: SampleRequest): string[] | undefined {
  const features = fields?.features;
  return Array.isArray(features) ? features.map((name: string) => name.replace("FEATURE_", "")) : undefined;
}

/** A field as text; undefined if it is not set. */
export function textOf({ fields }: SampleRequest, name: string): string | undefined {
  const value = fields?.[name];
  return value === undefined ? undefined : String(value);
}

/** A field as a number; undefined if it is not set. */
export function numberOf({ fields }: SampleRequest, name: string): number | undefined {
  const value = fields?.[name];
  return value === undefined ? undefined : Number(value);
}

/** Whether a switch is on. */
export function isOn({ fields }: SampleRequest, name: string): boolean {
  return fields?.[name] === true;
}

/** Whether the request turns detection off. */
export function skipsDetection({ fields }: SampleRequest): boolean {
  return fields?.face_det === false;
}

/**
 * Quotes a text for Python, TypeScript, Go or Java: the strings of JSON mean the same in all of them.
 */
export function quote(text: string): string {
  return JSON.stringify(text);
}

/** Keeps what is defined. */
export function present<Item>(items: readonly (Item | undefined | false)[]): Item[] {
  return items.filter((item): item is Item => item !== undefined && item !== false);
}
