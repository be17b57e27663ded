import { createHash } from "node:crypto";
import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type FindOptions, type FoundPhoto, findPhotos, isPhotoName } from "./find-photos.ts";
import { throwFileError } from "./result-file.ts";

/** The folder of a person. */
export interface PersonFolder {
  readonly personId: string;
  /** The name of the folder, if it is not the id. */
  readonly displayName: string | undefined;
  readonly folder: string;
}

/** Ids that the service accepts. */
const ID = /^(?!\.{1,2}$)[\w.~-]{1,128}$/;
/** Characters of the digest in an id that is made from a name. */
const DIGEST_LENGTH = 12;
/** Characters of the name in such an id. */
const MAX_SLUG_LENGTH = 100;

/** The id and the name of the person of a folder. */
export function personFromFolder(name: string): Pick<PersonFolder, "personId" | "displayName"> {
  if (ID.test(name)) return { personId: name, displayName: undefined };
  // Some file systems decompose letters with accents.
  const displayName = name.normalize("NFC");
  const ascii = name.normalize("NFD").replaceAll(/\p{M}/gu, "");
  const slug = ascii.replaceAll(/[^\w.~-]+/g, "-").replaceAll(/^-+|-+$/g, "");
  const digest = createHash("sha256").update(displayName).digest("hex").slice(0, DIGEST_LENGTH);
  return { personId: `${slug.slice(0, MAX_SLUG_LENGTH) || "person"}-${digest}`, displayName };
}

/** What a folder of people has. */
export interface PeopleFolder {
  readonly people: readonly PersonFolder[];
  /** Photos that are in no folder of a person. */
  readonly strayPhotos: readonly string[];
}

/** Reads the folders of people, sorted by name. Hidden ones are skipped. Throws an error that names the folder. */
export async function readPeopleFolder(folder: string, options: FindOptions): Promise<PeopleFolder> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) =>
    throwFileError(folder, error),
  );
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const people: PersonFolder[] = [];
  const strayPhotos: string[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith(".")) continue;
    if (await isFolder(entry, path)) people.push({ ...personFromFolder(entry.name), folder: path });
    else if (isPhotoName(entry.name, options)) strayPhotos.push(path);
  }
  return { people, strayPhotos };
}

/** Finds the photos of a person, also in folders inside its folder. */
export function findPersonPhotos({ folder }: PersonFolder, options: FindOptions): AsyncGenerator<FoundPhoto> {
  return findPhotos([folder], options);
}

/** Returns whether an entry is a folder or a link to one. */
async function isFolder(entry: Dirent, path: string): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  const target = await stat(path).catch(() => undefined);
  return target?.isDirectory() ?? false;
}
