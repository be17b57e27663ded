import { DELETION_BATCH, deleteInBatches } from "./delete-in-batches.ts";
import type { SqlDatabase } from "./sql-database.ts";

type Database = Pick<SqlDatabase, "query" | "runTransaction">;

/** Galleries that are deleted together. */
const MAX_GALLERIES = 100;

/** The keys of galleries, which are passed as one JSON parameter. */
const KEYS = "(select value ->> 'key' from json_each($1))";

/** Each deletes a part of what galleries have. The galleries come last, when nothing refers to them any more. */
const BATCHES = [
  `delete from gallery_faces where (gallery_key, person_id, id) in (select gallery_key, person_id, id
    from gallery_faces where gallery_key in ${KEYS} limit ${DELETION_BATCH}) returning 1 as one`,
  `delete from gallery_people where (gallery_key, id) in (select gallery_key, id
    from gallery_people where gallery_key in ${KEYS} limit ${DELETION_BATCH}) returning 1 as one`,
  `delete from gallery_removals where (gallery_key, revision) in (select gallery_key, revision
    from gallery_removals where gallery_key in ${KEYS} limit ${DELETION_BATCH}) returning 1 as one`,
  `delete from gallery_revisions where (gallery_key, revision) in (select gallery_key, revision
    from gallery_revisions where gallery_key in ${KEYS} limit ${DELETION_BATCH}) returning 1 as one`,
  `delete from galleries where id is null and key in ${KEYS} returning 1 as one`,
];

/** Hides all galleries of a user, so that nobody is found or enrolled any more. */
export function hideGalleries(database: Database, userId: string): Promise<void> {
  const sql = `update galleries set id = null, alias = null where key in
    (select key from galleries where user_id = $1 and id is not null limit ${DELETION_BATCH}) returning 1 as one`;
  return deleteInBatches(database, sql, [userId]);
}

/**
 * Deletes the galleries that are hidden, of one or all users, in small transactions: one that deletes many templates
 * would take too long.
 */
export async function deleteHiddenGalleries(database: Database, userId: string | null = null): Promise<void> {
  for (;;) {
    const rows = await database.query({
      sql: `select key from galleries where id is null and user_id = coalesce($1, user_id) limit ${MAX_GALLERIES}`,
      values: [userId],
    });
    if (rows.length === 0) return;
    for (const sql of BATCHES) await deleteInBatches(database, sql, [JSON.stringify({ ...rows })]);
  }
}
