// The transactions that change the ids and aliases under which galleries are found.
import { randomUUID } from "node:crypto";
import type { TransactionScript } from "../database/sql-database.ts";
import {
  type Gallery,
  GalleryError,
  type GalleryLimits,
  type GalleryUpdate,
  type NewGallery,
  type Replacement,
} from "./gallery-store.ts";
import { galleryNotFound, IS_NAMED, recordVersion } from "./sql-gallery-changes.ts";
import { galleryFromRow } from "./sql-gallery-rows.ts";

/** Adds a gallery. Throws GalleryError if its id is taken or the plan allows no more. */
export function* insertGallery(
  userId: string,
  { id, displayName, model, maxDistance, expiresAt }: NewGallery,
  { maxGalleries = Number.POSITIVE_INFINITY }: GalleryLimits,
  exclusiveRowLockClause: string,
): TransactionScript<Gallery> {
  yield* lockNames(userId, exclusiveRowLockClause);
  if (yield* findGallery(userId, id))
    throw new GalleryError("galleryExists", `The gallery ${id} exists already.`);
  // Galleries of other models wait for their successor.
  const [count] = yield {
    sql: "select count(*) as count from galleries where user_id = $1 and model = $2 and id is not null",
    values: [userId, model],
  };
  if (Number(count!.count) >= maxGalleries)
    throw new GalleryError("tooManyGalleries", `The plan allows ${maxGalleries} galleries.`);
  const [row] = yield {
    sql: `insert into galleries
      (key, user_id, id, display_name, model, max_distance, people, faces, revision, token, created_at,
        expires_at)
      values ($1, $2, $3, $4, $5, $6, 0, 0, 0, $1, $7, $8) returning *`,
    values: [
      ...[randomUUID(), userId, id, displayName, model, maxDistance ?? null],
      ...[new Date().toISOString(), expiresAt?.toISOString() ?? null],
    ],
  };
  const gallery = galleryFromRow(row!);
  yield* recordVersion(gallery);
  return gallery;
}

/** Changes the name, the threshold, the alias or the end of a gallery. */
export function* updateGallery(
  userId: string,
  galleryId: string,
  changes: GalleryUpdate,
  exclusiveRowLockClause: string,
): TransactionScript<Gallery> {
  const { displayName, maxDistance, alias, expiresAt } = changes;
  if (alias !== undefined) yield* lockNames(userId, exclusiveRowLockClause);
  const gallery = yield* requireGallery(userId, galleryId);
  if (alias !== undefined) {
    const other = yield* findGallery(userId, alias);
    if (other?.id === alias)
      throw new GalleryError("galleryExists", `There is a gallery with the id ${alias}.`);
    yield {
      sql: "update galleries set alias = null where user_id = $1 and alias = $2",
      values: [userId, alias],
    };
  }
  const [row] = yield {
    sql: `update galleries set display_name = coalesce($2, display_name),
        max_distance = case when $3 = 1 then $4 else max_distance end,
        alias = case when $5 = 1 then $6 else alias end,
        expires_at = case when $7 = 1 then $8 else expires_at end
      where key = $1 and id is not null returning *`,
    values: [
      gallery.key,
      displayName ?? null,
      ...[Number("maxDistance" in changes), maxDistance ?? null],
      ...[Number("alias" in changes), alias ?? null],
      ...[Number("expiresAt" in changes), expiresAt?.toISOString() ?? null],
    ],
  };
  if (!row) throw galleryNotFound(galleryId);
  return galleryFromRow(row);
}

/**
 * Hides a gallery, to be deleted, and lets another one take its place. The revision goes on from the higher one of both,
 * because the revision of an id must not decrease.
 */
export function* replaceGallery(
  userId: string,
  galleryId: string,
  successorId: string,
  revision: number | undefined,
  exclusiveRowLockClause: string,
): TransactionScript<Replacement> {
  yield* lockNames(userId, exclusiveRowLockClause);
  const replaced = yield* requireGallery(userId, galleryId);
  const successor = yield* requireGallery(userId, successorId);
  if (successor.key === replaced.key)
    throw new GalleryError("galleryNotFound", `There is no other gallery ${successorId}.`);
  const [hidden] = yield {
    sql: `update galleries set id = null, alias = null
      where key = $1 and revision = coalesce($2, revision) returning faces, revision`,
    values: [replaced.key, revision ?? null],
  };
  if (!hidden)
    throw new GalleryError(
      "galleryChanged",
      `The gallery ${galleryId} has another revision than ${revision}.`,
    );
  const [row] = yield {
    sql: `update galleries set id = $2, alias = coalesce($3, alias), display_name = $4, max_distance = $5,
        revision = case when revision > $6 then revision else $6 end + 1, token = $7, expires_at = $8
      where key = $1 and id is not null returning *`,
    values: [
      successor.key,
      ...[replaced.id, replaced.alias ?? null, replaced.displayName, replaced.maxDistance ?? null],
      ...[Number(hidden.revision), randomUUID(), replaced.expiresAt?.toISOString() ?? null],
    ],
  };
  if (!row) throw galleryNotFound(successorId);
  const gallery = galleryFromRow(row);
  yield* recordVersion(gallery);
  return { gallery, removedFaces: Number(hidden.faces) };
}

/** Keeps others from giving an id to two galleries of the user, or from exceeding the limit, at the same time. */
function* lockNames(userId: string, exclusiveRowLockClause: string): TransactionScript<void> {
  yield { sql: `select 1 as one from users where id = $1 ${exclusiveRowLockClause}`, values: [userId] };
}

function* findGallery(userId: string, galleryId: string): TransactionScript<Gallery | undefined> {
  const [row] = yield { sql: `select * from galleries where ${IS_NAMED}`, values: [userId, galleryId] };
  return row && galleryFromRow(row);
}

function* requireGallery(userId: string, galleryId: string): TransactionScript<Gallery> {
  const gallery = yield* findGallery(userId, galleryId);
  if (!gallery) throw galleryNotFound(galleryId);
  return gallery;
}
