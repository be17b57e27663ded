import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { extname, join, resolve } from "node:path";
import picomatch from "picomatch";
import { DEFAULT_IMAGE_FORMATS, type ImageFormat } from "../fetch/image-format.ts";
import { fileErrorReason } from "./photo-file.ts";

/** A photo that was found, or an argument or folder without photos and the reason. */
export interface FoundPhoto {
  readonly file: string;
  readonly error?: string;
}

/** Options of a search. */
export interface FindOptions {
  /** A folder to skip, such as that of the drawings: they would be found as photos. */
  readonly excludedFolder?: string | undefined;
  /** Formats of the photos; JPEG and PNG by default. */
  readonly formats?: readonly ImageFormat[] | undefined;
  /** Ends the search when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** How file names of a format end. Whether a file really has the format is decided by its bytes. */
const EXTENSIONS: Readonly<Record<ImageFormat, readonly string[]>> = {
  jpeg: [".jpg", ".jpeg"],
  png: [".png"],
  webp: [".webp"],
};

const IS_WINDOWS = process.platform === "win32";

/**
 * Finds the photos of the arguments, which are files, folders or glob patterns. Folders are searched recursively, sorted
 * by name; hidden files, hidden folders and links to folders are skipped. The folders are read while the photos are
 * processed, so that any number of photos needs little memory.
 */
export async function* findPhotos(
  args: readonly string[],
  options: FindOptions = {},
): AsyncGenerator<FoundPhoto> {
  for (const arg of args) {
    const search = await searchOf(arg);
    if (!search) yield { file: arg };
    else yield* orNoPhotos(arg, searchFolder(search, options), options);
  }
}

/** A folder to search. */
interface Search {
  readonly folder: string;
  /** Path of the folder as the pattern sees it. */
  readonly path: string;
  /** Number of levels of folders to search. */
  readonly depth: number;
  /** Whether a path below the first folder is searched for. Its separator is a slash. */
  readonly matches: (path: string) => boolean;
}

/** Returns what to search for an argument; undefined if it is a file, existing or not. */
async function searchOf(arg: string): Promise<Search | undefined> {
  const status = await stat(arg).catch(() => undefined);
  if (status?.isDirectory())
    return { folder: arg, path: "", depth: Number.POSITIVE_INFINITY, matches: () => true };
  if (status) return undefined;
  // A backslash is a separator on Windows, and an escape character elsewhere.
  const pattern = IS_WINDOWS ? arg.replaceAll("\\", "/") : arg;
  const { base, glob, isGlob } = picomatch.scan(pattern);
  if (!isGlob) return undefined;
  return {
    folder: base || ".",
    path: "",
    // The pattern matches no deeper level than it has slashes, unless it has a globstar.
    depth: glob.includes("**") ? Number.POSITIVE_INFINITY : glob.split("/").length,
    matches: picomatch(glob, { nocase: IS_WINDOWS }),
  };
}

async function* orNoPhotos(
  arg: string,
  photos: AsyncGenerator<FoundPhoto>,
  options: FindOptions,
): AsyncGenerator<FoundPhoto> {
  let isEmpty = true;
  for await (const photo of photos) {
    isEmpty = false;
    yield photo;
  }
  if (isEmpty && !options.signal?.aborted)
    yield { file: arg, error: `has no photos (${extensionsOf(options).join(", ")})` };
}

async function* searchFolder(search: Search, options: FindOptions): AsyncGenerator<FoundPhoto> {
  const { folder, depth, matches } = search;
  let entries: Dirent[];
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    yield { file: folder, error: fileErrorReason(error) };
    return;
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    if (options.signal?.aborted) return;
    if (entry.name.startsWith(".")) continue;
    const file = join(folder, entry.name);
    const path = search.path + entry.name;
    if (entry.isDirectory()) {
      if (depth > 1 && resolve(file) !== options.excludedFolder)
        yield* searchFolder({ folder: file, path: `${path}/`, depth: depth - 1, matches }, options);
    } else if (isPhotoName(entry.name, options) && matches(path) && (await isFile(entry, file)))
      yield { file };
  }
}

/** Whether a file name ends as that of a photo. */
export function isPhotoName(name: string, options: FindOptions): boolean {
  return extensionsOf(options).includes(extname(name).toLowerCase());
}

function extensionsOf({ formats = DEFAULT_IMAGE_FORMATS }: FindOptions): string[] {
  return formats.flatMap((format) => EXTENSIONS[format]);
}

/** Returns whether an entry is a file or a link to one. */
async function isFile(entry: Dirent, path: string): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isFile();
  const target = await stat(path).catch(() => undefined);
  // A broken link is reported when it is read.
  return target?.isFile() ?? true;
}
