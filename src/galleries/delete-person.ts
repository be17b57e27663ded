import type { SqlDatabase } from "../database/sql-database.ts";
import type { Gallery, PersonDeletion } from "./gallery-store.ts";
import { removePersonFromAll } from "./sql-gallery-changes.ts";

/** Galleries from which one transaction deletes a person. */
const MAX_GALLERIES = 100;

/**
 * Deletes a person from all galleries of a user, until none has the person: others may enrol it meanwhile. `list` returns
 * galleries that have the person. Returns what was deleted, by the id of the gallery.
 */
export async function deletePersonFromAll(
  database: SqlDatabase,
  userId: string,
  personId: string,
  list: (size: number) => Promise<readonly Gallery[]>,
): Promise<PersonDeletion[]> {
  const faceCounts = new Map<string, number>();
  for (;;) {
    const galleries = await list(MAX_GALLERIES);
    if (galleries.length === 0) break;
    // Everybody locks galleries in the same order.
    const keys = galleries.map(({ key }) => key).toSorted();
    const deletions = await database.runTransaction(removePersonFromAll(userId, keys, personId));
    database.startErasure("rows");
    for (const { galleryId, faces } of deletions)
      faceCounts.set(galleryId, (faceCounts.get(galleryId) ?? 0) + faces);
  }
  return Array.from(faceCounts, ([galleryId, faces]) => ({ galleryId, faces })).toSorted((one, other) =>
    one.galleryId < other.galleryId ? -1 : 1,
  );
}
