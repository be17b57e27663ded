// The transactions that change the people and faces of galleries.
import { randomUUID } from "node:crypto";
import type { TransactionScript } from "../database/sql-database.ts";
import { type Gallery, GalleryError, type PersonDeletion, type PersonUpdate } from "./gallery-store.ts";
import { markOf } from "./removal-mark.ts";
import { galleryFromRow } from "./sql-gallery-rows.ts";

/** The condition for the gallery of the user $1 whose id or alias is $2. */
export const IS_NAMED = "user_id = $1 and (id = $2 or alias = $2)";

/** Changes are recorded for this many revisions. An index that is older is read anew. */
export const KEPT_REVISIONS = 100_000;
/** Old revisions are removed this many at a time. */
const PRUNED_REVISIONS = 100;

/** Starts a change of people or faces: locks the gallery and gives it another version. */
export function* startChange(userId: string, galleryId: string): TransactionScript<Gallery> {
  const gallery = yield* changeVersion(IS_NAMED, userId, galleryId);
  if (!gallery) throw galleryNotFound(galleryId);
  return gallery;
}

function* changeVersion(
  condition: string,
  userId: string,
  idOrKey: string,
): TransactionScript<Gallery | undefined> {
  const [row] = yield {
    sql: `update galleries set revision = revision + 1, token = $3 where ${condition} returning *`,
    values: [userId, idOrKey, randomUUID()],
  };
  if (!row) return undefined;
  const gallery = galleryFromRow(row);
  yield* recordVersion(gallery);
  return gallery;
}

/**
 * Records the version of a gallery, so that a replica can find out whether the state that it has read is one that the
 * gallery went through: a token is drawn once, so the record of a revision has the token of the replica only if both
 * come from the same change, and then everything before it is the same too. `step` is the number of revisions of the
 * change.
 */
export function* recordVersion({ key, revision, token }: Gallery, step = 1): TransactionScript<void> {
  yield {
    sql: "insert into gallery_revisions (gallery_key, revision, token) values ($1, $2, $3)",
    values: [key, revision, token],
  };
  if (revision % PRUNED_REVISIONS >= step || revision <= KEPT_REVISIONS) return;
  // As long as a version is recorded, so are all removals since then.
  for (const table of ["gallery_revisions", "gallery_removals"])
    yield {
      sql: `delete from ${table} where gallery_key = $1 and revision <= $2`,
      values: [key, revision - KEPT_REVISIONS],
    };
}

/** Ends a change: counts what was added or removed. */
export function* endChange(gallery: Gallery, people: number, faces: number): TransactionScript<Gallery> {
  const [row] = yield {
    sql: "update galleries set people = people + $2, faces = faces + $3 where key = $1 returning *",
    values: [gallery.key, people, faces],
  };
  return galleryFromRow(row!);
}

/** Changes the name of a person, or when it expires. */
export function* updatePerson(
  userId: string,
  galleryId: string,
  personId: string,
  changes: PersonUpdate,
): TransactionScript<void> {
  const { key } = yield* startChange(userId, galleryId);
  const { displayName, expiresAt } = changes;
  const [row] = yield {
    sql: `update gallery_people set display_name = coalesce($3, display_name),
        expires_at = case when $4 = 1 then $5 else expires_at end
      where gallery_key = $1 and id = $2 returning id`,
    values: [
      ...[key, personId, displayName ?? null],
      ...[Number("expiresAt" in changes), expiresAt?.toISOString() ?? null],
    ],
  };
  if (!row) throw personNotFound(personId);
}

/** Removes a person with all faces. */
export function* removePerson(
  userId: string,
  galleryId: string,
  personId: string,
): TransactionScript<PersonDeletion> {
  const gallery = yield* startChange(userId, galleryId);
  const removed = yield* removeFrom(gallery, personId);
  if (!removed) throw personNotFound(personId);
  return removed;
}

/** Removes a person from those galleries that still exist and have it. The keys are in the order of the locks. */
export function* removePersonFromAll(
  userId: string,
  keys: readonly string[],
  personId: string,
): TransactionScript<PersonDeletion[]> {
  const deletions: PersonDeletion[] = [];
  for (const key of keys) {
    const gallery = yield* changeVersion("user_id = $1 and key = $2 and id is not null", userId, key);
    const removed = gallery && (yield* removeFrom(gallery, personId));
    if (removed) deletions.push(removed);
  }
  return deletions;
}

function* removeFrom(gallery: Gallery, personId: string): TransactionScript<PersonDeletion | undefined> {
  const faces = yield {
    sql: "delete from gallery_faces where gallery_key = $1 and person_id = $2 returning id",
    values: [gallery.key, personId],
  };
  const [person] = yield {
    sql: "delete from gallery_people where gallery_key = $1 and id = $2 returning id",
    values: [gallery.key, personId],
  };
  if (!person) return undefined;
  yield* markRemovals(gallery, [{ personId }]);
  yield* endChange(gallery, -1, -faces.length);
  return { galleryId: gallery.id, faces: faces.length };
}

/** Removes a face. */
export function* removeFace(
  userId: string,
  galleryId: string,
  personId: string,
  faceId: string,
): TransactionScript<void> {
  const gallery = yield* startChange(userId, galleryId);
  const [face] = yield {
    sql: "delete from gallery_faces where gallery_key = $1 and person_id = $2 and id = $3 returning id",
    values: [gallery.key, personId, faceId],
  };
  if (!face) throw new GalleryError("faceNotFound", `The person ${personId} has no face ${faceId}.`);
  yield* markRemovals(gallery, [{ personId, faceId }]);
  yield* endChange(gallery, 0, -1);
}

/** Records removals for the indexes of all replicas. Each has one of the last revisions of the gallery. */
export function* markRemovals(
  { key, revision }: Gallery,
  removals: readonly { readonly personId: string; readonly faceId?: string }[],
): TransactionScript<void> {
  const first = revision - removals.length + 1;
  const rows = removals.map(({ personId, faceId }, i) => ({
    revision: first + i,
    mark: markOf(key, personId, faceId),
  }));
  yield {
    sql: `insert into gallery_removals (gallery_key, revision, mark)
      select $1, cast(value ->> 'revision' as bigint), value ->> 'mark' from json_each($2)`,
    values: [key, JSON.stringify({ ...rows })],
  };
}

/** Makes the error of a gallery that does not exist or belongs to another user. */
export function galleryNotFound(galleryId: string): GalleryError {
  return new GalleryError("galleryNotFound", `There is no gallery ${galleryId}.`);
}

/** Makes the error of a person who does not exist. */
export function personNotFound(personId: string): GalleryError {
  return new GalleryError("personNotFound", `There is no person ${personId} in the gallery.`);
}
