import { bindFileDialog } from "../photos/drop-zone.ts";
import { type Drop, readChosenFolder } from "../photos/dropped-files.ts";
import { make } from "../site/elements.ts";
import { plural } from "../site/words.ts";
import type { Person } from "./gallery-api.ts";
import { randomPersonId } from "./names.ts";
import type { NamedPerson } from "./person-field.ts";

/** Photos whose names are their paths, by the folders of people. */
interface FolderGroups {
  /** By the name of the folder. */
  readonly folders: ReadonlyMap<string, readonly File[]>;
  /** Photos that are in no folder of a person. */
  readonly loose: readonly File[];
}

/** A person of a folder, who may be enrolled already, and the photos of it. */
export interface PlannedPerson extends NamedPerson {
  readonly photos: readonly File[];
  /** The ids of the faces that the person has. */
  readonly faceIds: Set<string>;
}

/** Whom the photos of folders would enrol. */
export interface FolderPlan {
  readonly people: readonly PlannedPerson[];
  /** What is not enrolled and why, in a sentence each. */
  readonly skipped: readonly string[];
}

/** Groups photos by the folders in the only folder, or by the folders if there are several. */
export function groupByFolder(photos: readonly File[]): FolderGroups {
  const paths = photos.map((photo) => [photo, photo.name.split("/")] as const);
  const roots = new Set(paths.filter(([, path]) => path.length > 1).map(([, [root]]) => root));
  const level = roots.size > 1 ? 0 : 1;
  const folders = new Map<string, File[]>();
  const loose: File[] = [];
  for (const [photo, path] of paths) {
    if (path.length <= level + 1) {
      loose.push(photo);
      continue;
    }
    // Some file systems decompose letters with accents.
    const name = path[level]!.normalize("NFC");
    folders.set(name, [...(folders.get(name) ?? []), photo]);
  }
  return { folders, loose };
}

/**
 * Finds the people of folders by id or name. The others are new, with random ids. Loose photos belong to the person who
 * is named in the form, if any.
 */
export function planFolders(
  { folders, loose }: FolderGroups,
  named: NamedPerson | undefined,
  enrolled: readonly Person[],
): FolderPlan {
  const byId = new Map(enrolled.map((person) => [person.personId, person]));
  const withName = (name: string) =>
    enrolled.filter((person) => person.displayName.normalize("NFC") === name);
  const people: PlannedPerson[] = [];
  const skipped: string[] = [];
  for (const [name, photos] of folders) {
    const [known, namesake] = byId.has(name) ? [byId.get(name)] : withName(name);
    if (namesake) {
      skipped.push(`Several people are named ${name}. Name the folder by the id of one of them.`);
      continue;
    }
    const { personId, displayName } = known ?? { personId: randomPersonId(), displayName: name };
    people.push({ personId, displayName, photos, faceIds: faceIdsOf(known) });
  }
  if (named && loose.length > 0)
    people.push({ ...named, photos: loose, faceIds: faceIdsOf(byId.get(named.personId)) });
  else if (loose.length > 0) skipped.push(`${plural(loose.length, "photo")} in no folder of a person.`);
  return { people, skipped };
}

function faceIdsOf(person: Person | undefined): Set<string> {
  return new Set(person?.faces.map(({ faceId }) => faceId));
}

/** Makes a button choose a folder. */
export function bindFolderDialog(
  button: HTMLButtonElement,
  maxPhotos: number,
  onFolder: (drop: Drop) => void,
): void {
  const input = make("input", { type: "file", webkitdirectory: true, multiple: true, hidden: true });
  bindFileDialog(button, input, (files) => onFolder(readChosenFolder(files, maxPhotos)));
  button.after(input);
}
