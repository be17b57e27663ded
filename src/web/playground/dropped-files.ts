import { PhotoError } from "../photos/open-photo.ts";
import { MAX_PHOTOS } from "./batch/batch-item.ts";

/** What was dropped on the page. */
export interface Drop {
  readonly files: readonly File[];
  /** The name of the first dropped folder; its images are among the files. */
  readonly folder?: string | undefined;
}

/** Names of images in a folder. Other files in it, and hidden ones, are not meant. */
const IMAGE_NAME = /^[^.].*\.(jpe?g|png|webp|avif|hei[cf]|gif|bmp)$/i;

/**
 * Returns the dropped files, and the images in dropped folders and the folders in those. Call it in the handler of the
 * event, because the browser empties `data` afterwards. Throws PhotoError if a folder cannot be read.
 */
export function readDrop(data: DataTransfer): Promise<Drop> {
  const files = [...data.files];
  const entries = [...data.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const folder = entries.find(isFolder);
  // Without a folder the files are complete, also in a browser that has no entries.
  return folder ? readEntries(entries, folder.name) : Promise.resolve({ files });
}

async function readEntries(entries: readonly FileSystemEntry[], folder: string): Promise<Drop> {
  const files: File[] = [];
  for (const entry of entries) {
    if (isFolder(entry)) await addImages(entry, files);
    else files.push(await fileOf(entry as FileSystemFileEntry));
  }
  return { files, folder };
}

/** Adds the images of a folder, and stops when there are more than a batch may have. */
async function addImages(folder: FileSystemDirectoryEntry, files: File[]): Promise<void> {
  for (const entry of await listFolder(folder)) {
    if (files.length > MAX_PHOTOS) return;
    if (isFolder(entry)) await addImages(entry, files);
    else if (IMAGE_NAME.test(entry.name)) {
      const file = await fileOf(entry as FileSystemFileEntry);
      // Several folders may have files of the same name.
      files.push(new File([file], entry.fullPath.slice(1), { type: file.type }));
    }
  }
}

/** Returns the content of a folder by name, with numbers in their order. */
async function listFolder(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const entries: FileSystemEntry[] = [];
  for (;;) {
    // Each call returns some of the entries, the last one none.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, () => reject(new PhotoError(`${folder.name} cannot be read.`)));
    });
    if (some.length === 0) break;
    entries.push(...some);
  }
  return entries.sort((one, other) => one.name.localeCompare(other.name, "en", { numeric: true }));
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => {
    entry.file(resolve, () => reject(new PhotoError(`${entry.name} cannot be read.`)));
  });
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}
