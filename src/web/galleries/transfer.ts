import { make } from "../site/elements.ts";
import { exportGallery, type Gallery, importFaces } from "./gallery-api.ts";

/** How long the browser may take to start a download before its data is released. */
const DOWNLOAD_START_MS = 60_000;

/** Saves all faces of a gallery as a file. Returns their number. */
export async function saveGallery({ galleryId }: Gallery): Promise<number> {
  const lines = await exportGallery(galleryId);
  const url = URL.createObjectURL(new Blob([lines], { type: "application/x-ndjson" }));
  make("a", { href: url, download: `${galleryId}.jsonl` }).click();
  setTimeout(() => URL.revokeObjectURL(url), DOWNLOAD_START_MS);
  return lines.split("\n").filter(Boolean).length;
}

/** Asks for an exported file and imports it. Returns the number of faces; undefined if the user chose no file. */
export async function restoreGallery(
  { galleryId }: Gallery,
  onProgress: (share: number) => void,
): Promise<number | undefined> {
  const file = await chooseFile();
  return file && importFaces(galleryId, file, { onProgress });
}

function chooseFile(): Promise<File | undefined> {
  const input = make("input", { type: "file", accept: ".jsonl,.ndjson,.json,application/x-ndjson" });
  return new Promise((resolve) => {
    input.addEventListener("change", () => resolve(input.files?.[0]));
    input.addEventListener("cancel", () => resolve(undefined));
    input.click();
  });
}
