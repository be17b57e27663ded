import { randomBytes } from "node:crypto";
import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Person } from "../client/visage-client.ts";
import { type FindOptions, type FoundPhoto, findPhotos, isPhotoName } from "./find-photos.ts";
import { throwFileError } from "./result-file.ts";

/** A folder with the photos of a person. */
export interface PersonFolder {
  readonly folder: string;
  readonly personId: string;
  /** The name of a person who is not enrolled yet; an empty one is not set. */
  readonly displayName: string;
}

/** Ids that the service accepts. */
const ID = /^(?!\.{1,2}$)[\w.~-]{1,128}$/;
const ID_BYTES = 8;

/** What a folder of people has. */
export interface PeopleFolder {
  /** The folders of people, sorted. */
  readonly folders: readonly string[];
  /** Photos that are in no folder of a person. */
  readonly strayPhotos: readonly string[];
}

/** Reads a folder of people. Hidden entries are skipped. Throws an error that names the folder. */
export async function readPeopleFolder(folder: string, options: FindOptions): Promise<PeopleFolder> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) =>
    throwFileError(folder, error),
  );
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const folders: string[] = [];
  const strayPhotos: string[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith(".")) continue;
    if (await isFolder(entry, path)) folders.push(path);
    else if (isPhotoName(entry.name, options)) strayPhotos.push(path);
  }
  return { folders, strayPhotos };
}

/** Finds the photos of a person, also in folders inside its folder. */
export function findPersonPhotos(folder: string, options: FindOptions): AsyncGenerator<FoundPhoto> {
  return findPhotos([folder], options);
}

/**
 * Finds the enrolled people of folders: by the id or the name of the person, which is the name of the folder, else by a
 * face, because the person may have been renamed. Throws an error for a name that two people have.
 */
export async function findPeople(
  folders: readonly string[],
  enrolled: readonly Person[],
  faceIdsOf: (folder: string) => AsyncIterable<string>,
): Promise<ReadonlyMap<string, Person>> {
  const byId = new Map(enrolled.map((person) => [person.personId, person]));
  const byName = new Map<string, Person | "ambiguous">();
  for (const person of enrolled) {
    const name = person.displayName.normalize("NFC");
    byName.set(name, byName.has(name) ? "ambiguous" : person);
  }
  const found = new Map<string, Person>();
  for (const folder of folders) {
    const person = byId.get(nameOf(folder)) ?? byName.get(nameOf(folder));
    if (person === "ambiguous")
      throw new Error(`${folder}: is the name of several people; name the folder by the id of one of them`);
    if (person) found.set(folder, person);
  }
  const taken = new Set(found.values());
  const byFace = new Map(
    enrolled
      .filter((person) => !taken.has(person))
      .flatMap((person) => person.faces.map(({ faceId }) => [faceId, person] as const)),
  );
  for (const folder of byFace.size > 0 ? folders : []) {
    if (found.has(folder)) continue;
    for await (const faceId of faceIdsOf(folder)) {
      const person = byFace.get(faceId);
      if (!person) continue;
      found.set(folder, person);
      break;
    }
  }
  return found;
}

/**
 * Makes the person of a folder who is not enrolled. Unless the name of the folder is to be the id, the id is random: ids
 * stay in logs, so they must not be names.
 */
export function newPerson(folder: string, hasIds: boolean): PersonFolder {
  const name = nameOf(folder);
  if (!hasIds) return { folder, personId: randomBytes(ID_BYTES).toString("hex"), displayName: name };
  if (!ID.test(name)) throw new Error(`${folder}: the name of the folder cannot be an id`);
  return { folder, personId: name, displayName: "" };
}

/** The name of a folder. Some file systems decompose letters with accents. */
function nameOf(folder: string): string {
  return basename(folder).normalize("NFC");
}

/** Returns whether an entry is a folder or a link to one. */
async function isFolder(entry: Dirent, path: string): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  const target = await stat(path).catch(() => undefined);
  return target?.isDirectory() ?? false;
}
