import { EXAMPLE_GALLERY } from "./try-example.ts";
import {
  createBodyControl,
  createControl,
  createPhotoControl,
  InputError,
  type PhotoControl,
} from "./try-fields.ts";
import type { TryForm } from "./try-form.ts";
import { requestPath, type TryRequest } from "./try-request.ts";

/** Creates the inputs for the parameters and the body of an operation. */
export function createInputs(form: TryForm, id: (name: string) => string) {
  const fields = form.fields.map((field) => ({
    place: field.place,
    control: createControl(
      field.name === "gallery_id" ? { ...field, value: EXAMPLE_GALLERY } : field,
      id(field.name),
    ),
  }));
  const names = form.files ?? (form.isImageStream ? ["image"] : []);
  const photos = names.map((name) => createPhotoControl(name, id(name)));
  const text = names.length > 0 ? undefined : initialText(form);
  const [bodyElement, body] = text === undefined ? [] : createBodyControl(form, id("body"), text);
  return {
    elements: [
      ...fields.map(({ control }) => control.element),
      ...photos.map(({ element }) => element),
      ...(bodyElement ? [bodyElement] : []),
    ],
    /** Creates the request that the inputs describe. Throws InputError if that is impossible. */
    createRequest: async (): Promise<TryRequest> => {
      const inPath = new Map<string, string>();
      const inQuery: [string, string][] = [];
      for (const { place, control } of fields)
        if (place === "path") inPath.set(control.name, pathValue(control.name, control.read()[0]));
        else for (const value of control.read()) inQuery.push([control.name, value]);
      const path = requestPath(form.path, inPath, inQuery);
      const content = await (form.isImageStream
        ? streamBody(photos[0]!)
        : body
          ? textBody(form, body.value)
          : photosBody(photos));
      return { method: form.method, path, ...content };
    },
  };
}

/** Browsers remove `.` and `..` from a path, so the request would be another one. */
function pathValue(name: string, value = ""): string {
  if (value === "") throw new InputError(`Enter ${name}.`);
  if (/^\.\.?$/.test(value)) throw new InputError(`A browser cannot send ${name} "${value}".`);
  return value;
}

/** The text of a body that the user can edit; undefined if there is no body. */
function initialText({ json, lines }: TryForm): string | undefined {
  if (lines !== undefined) return JSON.stringify(lines);
  if (!json) return undefined;
  const example = "galleryId" in json ? { ...json, galleryId: EXAMPLE_GALLERY } : json;
  return JSON.stringify(example, undefined, 2);
}

type Content = Pick<TryRequest, "body" | "contentType">;

function textBody({ lines }: TryForm, body: string): Content {
  return { body, contentType: lines === undefined ? "application/json" : "application/x-ndjson" };
}

async function streamBody(control: PhotoControl): Promise<Content> {
  const file = control.file();
  const content = await base64Of(file ?? (await samplePhoto(0)));
  const request = { image: { content }, features: ["FEATURE_QUALITY"] };
  const line = JSON.stringify({ key: file?.name ?? "sample.jpg", request });
  return { body: `${line}\n`, contentType: "application/x-ndjson" };
}

async function photosBody(photos: readonly PhotoControl[]): Promise<Content> {
  if (photos.length === 0) return {};
  const body = new FormData();
  for (const [i, control] of photos.entries()) {
    const file = control.file();
    body.append(control.name, file ?? (await samplePhoto(i)), file?.name ?? "sample.jpg");
  }
  return { body };
}

/** Loads the sample photo that stands for a missing file: the first, or the second of a pair. */
export async function samplePhoto(index: number): Promise<Blob> {
  const links = document.querySelectorAll<HTMLAnchorElement>("[data-sample-photo]");
  const link = links[index % links.length];
  if (!link) throw new Error("The page has no sample photo.");
  const response = await fetch(link.href);
  if (!response.ok) throw new Error("The sample photo could not be loaded.");
  return response.blob();
}

/** Encodes a photo for JSON. */
async function base64Of(photo: Blob): Promise<string> {
  const bytes = new Uint8Array(await photo.arrayBuffer());
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
