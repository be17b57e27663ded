/** What was dropped or chosen. */
export interface Drop {
  readonly files: readonly File[];
  /** The name of the first folder; its images are among the files, named by their paths. */
  readonly folder?: string | undefined;
  /** What is missing among the files and why, in one sentence each. */
  readonly notes: readonly string[];
}

/** Names of images in a folder. Other files in it, and hidden ones, are not meant. */
const IMAGE_NAME = /^[^.].*\.(jpe?g|png|webp|avif|hei[cf]|gif|bmp)$/i;

/** Orders names with the numbers in them: 9 before 10. */
const BY_NAME = new Intl.Collator("en", { numeric: true });

/** The most files and folders that are listed to find images: a few seconds of a browser. */
const MAX_ENTRIES = 100_000;

/** More files and folders than this that cannot be read are only counted. */
const MAX_NAMED = 3;

/** The search for images in the dropped folders. */
interface Search {
  readonly maxPhotos: number;
  readonly files: File[];
  /** Paths of files and folders that cannot be read. */
  readonly unreadable: string[];
  /** How many files and folders are listed so far. */
  entries: number;
}

/**
 * Returns the dropped files, and the images in dropped folders and the folders in those: at most one more than
 * `maxPhotos`. Call it in the handler of the event, because the browser empties `data` afterwards.
 */
export function readDrop(data: DataTransfer, maxPhotos: number): Promise<Drop> {
  const files = [...data.files];
  const entries = [...data.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const folders = entries.filter(isFolder);
  // Without a folder the files are complete, also in a browser that has no entries.
  return folders.length > 0
    ? readEntries(entries, folders, maxPhotos)
    : Promise.resolve({ files, notes: [] });
}

/** Returns the images of a folder that was chosen in a file dialog, like `readDrop`. */
export function readChosenFolder(chosen: readonly File[], maxPhotos: number): Drop {
  // A browser without folders lets files be chosen.
  const files = chosen.map((file) => withPath(file, file.webkitRelativePath || file.name));
  const isHidden = (path: string) => /(^|\/)\./.test(path);
  const images = files.filter(({ name }) => IMAGE_NAME.test(name.split("/").at(-1)!) && !isHidden(name));
  images.sort((one, other) => BY_NAME.compare(one.name, other.name));
  const folder = files[0]?.name.split("/")[0] ?? "";
  return {
    files: images.slice(0, maxPhotos + 1),
    folder,
    notes: images.length > maxPhotos ? [tooManyNote(maxPhotos, folder)] : [],
  };
}

function withPath(file: File, path: string): File {
  return new File([file], path, { type: file.type });
}

async function readEntries(
  entries: readonly FileSystemEntry[],
  folders: readonly FileSystemEntry[],
  maxPhotos: number,
): Promise<Drop> {
  const search: Search = { maxPhotos, files: [], unreadable: [], entries: 0 };
  for (const entry of entries) {
    if (isFolder(entry)) await addImages(entry, search);
    else await addFile(entry, search);
  }
  const folder = folders[0]!.name;
  const name = folders.length > 1 ? "the folders" : folder;
  return { files: search.files, folder, notes: notesOf(search, name) };
}

function notesOf(search: Search, name: string): string[] {
  const { unreadable, maxPhotos } = search;
  const unnamed = unreadable.length - MAX_NAMED;
  const named = unreadable.slice(0, MAX_NAMED).join(", ") + (unnamed > 0 ? ` and ${unnamed} more` : "");
  return [
    ...(hasTooMany(search) ? [tooManyNote(maxPhotos, name)] : []),
    ...(search.entries >= MAX_ENTRIES
      ? [`Only the first ${MAX_ENTRIES.toLocaleString("en")} files in ${name} were searched.`]
      : []),
    ...(unreadable.length > 0 ? [`Cannot be read: ${named}.`] : []),
  ];
}

function tooManyNote(maxPhotos: number, name: string): string {
  return `More than ${maxPhotos} photos are in ${name}.`;
}

function hasTooMany({ files, maxPhotos }: Search): boolean {
  return files.length > maxPhotos;
}

/** Adds the images of a folder and of the folders in it, until there are too many. */
async function addImages(folder: FileSystemDirectoryEntry, search: Search): Promise<void> {
  for (const entry of await listFolder(folder, search)) {
    if (hasTooMany(search)) return;
    if (isFolder(entry)) await addImages(entry, search);
    else await addFile(entry, search);
  }
}

/** Returns the images and folders in a folder by name. Of a folder with too many images only some are returned. */
async function listFolder(folder: FileSystemDirectoryEntry, search: Search): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const entries: FileSystemEntry[] = [];
  let images = search.files.length;
  while (images <= search.maxPhotos && search.entries < MAX_ENTRIES) {
    // Each call returns some of the entries, the last one none.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject);
    }).catch(() => {
      search.unreadable.push(folder.fullPath.slice(1));
      return [];
    });
    if (some.length === 0) break;
    search.entries += some.length;
    for (const entry of some) {
      const isImage = !isFolder(entry) && IMAGE_NAME.test(entry.name);
      if (isImage || isFolder(entry)) entries.push(entry);
      if (isImage) images++;
    }
  }
  return entries.sort((one, other) => BY_NAME.compare(one.name, other.name));
}

/** Adds a file under its path, because several folders may have files of the same name. */
async function addFile(entry: FileSystemEntry, { files, unreadable }: Search): Promise<void> {
  const path = entry.fullPath.slice(1);
  try {
    const file = await new Promise<File>((resolve, reject) => {
      (entry as FileSystemFileEntry).file(resolve, reject);
    });
    files.push(withPath(file, path));
  } catch {
    unreadable.push(path);
  }
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}
