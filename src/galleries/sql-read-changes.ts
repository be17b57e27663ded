import type { SqlDatabase } from "../database/sql-database.ts";
import { DATA_KEY, openCipher } from "./data-keys.ts";
import {
  type GalleryChanges,
  GalleryError,
  type GalleryProgress,
  type GalleryVersion,
  MAX_ENROLMENT_BATCH,
  type ReloadCause,
} from "./gallery-store.ts";
import type { MasterKeys } from "./master-keys.ts";
import { decryptAll, ENCRYPTED_BYTES, PLAIN_BYTES } from "./template-cipher.ts";

/**
 * Templates in one page. More than one enrolment has, because a page ends between two enrolments. SQLite reads a page on
 * the event loop, in about 5 ms.
 */
const PAGE_SIZE = 25 * MAX_ENROLMENT_BATCH;

const EMPTY = new Uint8Array();

/**
 * Reads a page of what changed in a gallery since some progress.
 *
 * Why an index that applies the pages, the first one from nothing, has the faces of the gallery: a page is one
 * statement, so everything in it is of one state of the database, `version`. The next page is used only if the gallery
 * went through that version, so all pages follow one history, whatever is restored between them. By induction, after a
 * page the index has the faces that the gallery has at `version` with a revision up to `until`: faces that were removed
 * after the version before are removed; faces that were added or replaced have a revision after the `until` before, so
 * they are in this page or a later one. At the end `until` is the revision of `version`, and the index has them all.
 */
export async function readChanges(
  database: SqlDatabase,
  galleryKey: string,
  { until, version }: GalleryProgress,
  keys: MasterKeys,
): Promise<GalleryChanges | ReloadCause> {
  const [row] = await database.queryBytes({
    // `page` has only revisions, which are in an index, to find out where the page ends.
    sql: `with page as (
        select max(revision) as last, count(*) as size from (
          select revision from gallery_faces where gallery_key = $1 and revision > $2
          order by revision limit ${PAGE_SIZE}) revisions),
      gallery as (
        select revision, token, case
            when size < ${PAGE_SIZE} then revision
            when last > $2 + 1 then last - 1
            else last end as until
          from galleries cross join page where key = $1 and id is not null),
      added as (
        select string_agg(person_id || '/' || id, ',') as ids, ${database.concatBytes("template")} as templates,
            string_agg(
              case length(template) when ${PLAIN_BYTES} then '0' when ${ENCRYPTED_BYTES} then '1' else '2' end, ''
            ) as flags from (
          select person_id, id, template from gallery_faces
          where gallery_key = $1 and revision > $2 and revision <= (select until from gallery)
          order by revision) faces),
      removed as (
        select string_agg(mark, ',') as marks from gallery_removals
          where gallery_key = $1 and revision > $3)
      select cast(gallery.revision as text) as revision, gallery.token, cast(until as text) as until,
          (select token from gallery_revisions where gallery_key = $1 and revision = $3) as recorded_token,
          marks, owner, master, wrapped, ids, templates, flags
        from gallery cross join added cross join removed left join ${DATA_KEY} on true`,
    // Nothing can have been removed from an index that is empty.
    values: [galleryKey, until, version?.revision ?? Number.MAX_SAFE_INTEGER],
  });
  if (!row) throw new GalleryError("galleryNotFound", "The gallery has been deleted.");
  const [revision, token, end, recordedToken, marks, owner, master] = row.slice(0, 7).map(textFrom);
  const current = { revision: Number(revision), token: token! };
  const [wrapped, ids = EMPTY, templates = EMPTY, flags = EMPTY] = row.slice(7);
  const openOwnCipher = () =>
    openCipher(galleryKey, wrapped && { owner: owner!, master: master!, wrapped }, keys);
  return (
    (version && findReloadCause(version, current.revision, recordedToken)) ?? {
      version: current,
      until: Number(end),
      removed: marks?.split(",") ?? [],
      added: { ids, embeddings: decryptAll({ ids, templates, flags }, openOwnCipher) },
    }
  );
}

/** Returns why the changes since a version cannot be read; undefined if they can. */
function findReloadCause(
  { revision, token }: GalleryVersion,
  currentRevision: number,
  recordedToken: string | undefined,
): ReloadCause | undefined {
  if (token === recordedToken) return undefined;
  return recordedToken === undefined && revision < currentRevision ? "outdated" : "replaced";
}

function textFrom(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}
