import { saveFile } from "../site/download.ts";
import { make } from "../site/elements.ts";
import { ExportedFile } from "./exported-file.ts";
import { type CallOptions, exportGallery, type Gallery, importFaces } from "./gallery-api.ts";

/** Saves all faces of a gallery as a file. Returns their number. Reports which share of the faces has arrived. */
export async function saveGallery(
  { galleryId, faceCount }: Gallery,
  { signal, onProgress }: CallOptions,
): Promise<number> {
  const file = new ExportedFile();
  const head = await exportGallery(galleryId, {
    signal,
    onChunk: (chunk) => {
      file.add(chunk);
      onProgress?.(Math.min(1, file.faces / Math.max(1, faceCount)));
    },
  });
  saveFile(await file.finish(head), `${galleryId}.jsonl`);
  return file.faces;
}

/** Asks for an exported file and imports it. Returns the number of faces; undefined if the user chose no file. */
export async function restoreGallery(
  { galleryId }: Gallery,
  options: CallOptions,
): Promise<number | undefined> {
  const file = await chooseFile();
  return file && importFaces(galleryId, file, options);
}

function chooseFile(): Promise<File | undefined> {
  const input = make("input", { type: "file", accept: ".jsonl,.ndjson,.json,application/x-ndjson" });
  return new Promise((resolve) => {
    input.addEventListener("change", () => resolve(input.files?.[0]));
    input.addEventListener("cancel", () => resolve(undefined));
    input.click();
  });
}
