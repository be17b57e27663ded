import type { Box, Scale } from "../photos/geometry.ts";
import { createUpload } from "../photos/upload.ts";
import { callService, type ServiceCall, type ServiceResponse } from "../site/request.ts";
import { OPERATIONS, type Operation } from "./operations.ts";
import type { Photo } from "./photo.ts";
import { cornersOf, toOriginal } from "./positions.ts";
import type { Analysis, Comparison } from "./responses.ts";

/** A photo as it is sent: bytes, or the URL from which the service fetches it. */
export interface SentPhoto {
  readonly content: Blob | string;
  /** How many pixels of the original one pixel is. */
  readonly scale: Scale;
}

/** A photo, and the box of a face in pixels of the original. */
export interface SentFace extends SentPhoto {
  readonly box?: Box | undefined;
}

type CallOptions = Pick<ServiceCall, "key" | "signal" | "onProgress">;

/** Converts and scales a photo as far as needed. Throws PhotoError if the browser cannot. */
export async function prepare(photo: Photo, mayScale: boolean): Promise<SentPhoto> {
  if (photo.url) return { content: photo.url, scale: { x: 1, y: 1 } };
  const { file, scale } = await createUpload(photo, mayScale);
  return { content: file, scale };
}

/** Analyses the faces of a photo, or the one in the box. All positions are pixels of the original. */
export async function analyze(
  sent: SentFace,
  features: readonly string[],
  options: CallOptions,
): Promise<ServiceResponse<Analysis>> {
  const box = sentBox(sent);
  const parameters = [
    ...features.map((feature) => `features=${feature}`),
    ...(box ? [`boxes=${cornersOf(box)}`] : []),
  ];
  const path = `${OPERATIONS.attributes.path}?${parameters.join("&")}`;
  const response = await callService<Analysis>({ path, body: formOf({ image: sent }), ...options });
  return { ...response, body: toOriginal(response.body, sent.scale) };
}

/** Compares a face with those of another photo. All positions are pixels of the originals. */
export async function compare(
  source: SentFace,
  target: SentFace,
  options: CallOptions,
): Promise<ServiceResponse<Comparison>> {
  const { path, fields } = OPERATIONS.match;
  // A form cannot have the box of a source.
  const body =
    source.box || target.box
      ? { json: { source: await sourceOf(source), target: await sourceOf(target), ...fields } }
      : { body: formOf({ source, target }, fields) };
  const response = await callService<Comparison>({ path, ...body, ...options });
  const { sourceBox, matches } = response.body;
  const [one, others] = [toOriginal(sourceBox, source.scale), toOriginal(matches, target.scale)];
  return { ...response, body: { ...response.body, sourceBox: one, matches: others } };
}

function formOf(photos: Readonly<Record<string, SentPhoto>>, fields: Operation["fields"] = {}): FormData {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, String(value));
  for (const [field, { content }] of Object.entries(photos))
    if (typeof content === "string") form.append(field, content);
    else form.append(field, content, "photo");
  return form;
}

async function sourceOf(sent: SentFace): Promise<unknown> {
  const { content } = sent;
  return { image: typeof content === "string" ? content : await dataUri(content), box: sentBox(sent) };
}

function sentBox({ box, scale: { x, y } }: SentFace): Box | undefined {
  return box && toOriginal(box, { x: 1 / x, y: 1 / y });
}

function dataUri(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}
