import { runOne } from "../database/delete-in-batches.ts";
import type { Row, SqlDatabase, SqlValue } from "../database/sql-database.ts";
import { DATA_KEY, decryptRows } from "./data-keys.ts";
import { deletePersonFromAll } from "./delete-person.ts";
import {
  type Gallery,
  type GalleryStore,
  MAX_FACES_PER_PERSON,
  type Page,
  type Person,
} from "./gallery-store.ts";
import { type MasterKeys, NO_MASTER_KEYS } from "./master-keys.ts";
import { defaultExpiry } from "./retention.ts";
import { insertFaces, jsonFrom } from "./sql-enrolment.ts";
import { type ExpiryOptions, ExpiryRemoval, IS_DUE } from "./sql-expiry.ts";
import {
  galleryNotFound,
  IS_NAMED,
  personNotFound,
  removeFace,
  removePerson,
  updatePerson,
} from "./sql-gallery-changes.ts";
import { insertGallery, replaceGallery, updateGallery } from "./sql-gallery-names.ts";
import {
  exportedFaceFromRow,
  galleryFromRow,
  peopleFromRows,
  storedFaceFromRow,
} from "./sql-gallery-rows.ts";
import { readChanges } from "./sql-read-changes.ts";

/**
 * Rows of a page of people. SQLite reads them on the event loop: 20,000 block it for 0.3 s. The largest page of people
 * with one face each is whole.
 */
const MAX_PEOPLE_ROWS = 1_000 + MAX_FACES_PER_PERSON;

/** Options of a gallery store. */
export interface GalleryStoreOptions extends Partial<ExpiryOptions> {
  /** Without master keys, no templates are encrypted. */
  readonly keys?: MasterKeys | undefined;
}

/** Creates a gallery store on a database whose schema is up to date. By default, with the clock of the system. */
export function createSqlGalleryStore(
  database: SqlDatabase,
  { keys = NO_MASTER_KEYS, now = () => new Date(), ...observer }: GalleryStoreOptions = {},
): GalleryStore {
  const expiry = new ExpiryRemoval(database, { now, ...observer });

  /** Reads galleries by $1, the id of the user, $2, and from $4 on. Before, removes what has expired in them. */
  async function readGalleries(
    userId: string,
    condition: string,
    text: string,
    values: readonly SqlValue[] = [],
  ): Promise<Gallery[]> {
    for (;;) {
      const rows = await database.query({
        sql: `select galleries.*, ${IS_DUE} as is_due from galleries where ${condition}`,
        values: [userId, text, expiry.now(), ...values],
      });
      const due = rows.filter((row) => Number(row.is_due) === 1);
      if (due.length === 0) return rows.map(galleryFromRow);
      for (const { key } of due) await expiry.removeFrom(String(key));
    }
  }

  async function findGallery(userId: string, galleryId: string): Promise<Gallery> {
    const [gallery] = await readGalleries(userId, IS_NAMED, galleryId);
    if (!gallery) throw galleryNotFound(galleryId);
    return gallery;
  }

  /** Removes the galleries of a user that have expired, so that their ids are free and they do not count. */
  const removeExpiredGalleries = (userId: string) =>
    readGalleries(userId, "user_id = $1 and id > $2 and expires_at <= $3", "");

  function listGalleries(userId: string, { after = "", size }: Page, personId?: string): Promise<Gallery[]> {
    const hasPerson = `and exists (select 1 from gallery_people people
      where people.gallery_key = galleries.key and people.id = $5)`;
    const [filter, ids] = personId === undefined ? ["", []] : [hasPerson, [personId]];
    const condition = `user_id = $1 and id > $2 ${filter} order by id limit $4`;
    return readGalleries(userId, condition, after, [size, ...ids]);
  }

  /** Reads at most MAX_PEOPLE_ROWS rows: one for each face, or one for a person without faces. */
  async function readPeopleRows(
    userId: string,
    galleryId: string,
    { condition, values }: PeopleCondition,
  ): Promise<readonly Row[]> {
    const { key } = await findGallery(userId, galleryId);
    return database.query({
      sql: `select people.*, faces.id as face_id, faces.created_at as face_created_at
        from gallery_people people
        left join gallery_faces faces on faces.gallery_key = people.gallery_key and faces.person_id = people.id
        where people.gallery_key = $1 and ${condition}
        order by people.id, faces.id limit ${MAX_PEOPLE_ROWS}`,
      values: [key, ...values],
    });
  }

  async function getPerson(userId: string, galleryId: string, personId: string): Promise<Person> {
    const condition = { condition: "people.id = $2", values: [personId] };
    const [person] = peopleFromRows(await readPeopleRows(userId, galleryId, condition));
    if (!person) throw personNotFound(personId);
    return person;
  }

  return {
    async createGallery(userId, gallery, limits) {
      await removeExpiredGalleries(userId);
      return database.runTransaction(insertGallery(userId, gallery, limits, database.exclusiveRowLockClause));
    },

    getGallery: findGallery,

    listGalleries,

    async updateGallery(userId, galleryId, changes) {
      await removeExpiredGalleries(userId);
      await findGallery(userId, galleryId);
      const gallery = await database.runTransaction(
        updateGallery(userId, galleryId, changes, database.exclusiveRowLockClause),
      );
      if (changes.displayName !== undefined) database.startErasure("rows");
      return gallery;
    },

    async deleteGallery(userId, galleryId) {
      await findGallery(userId, galleryId);
      const [row] = await database.runTransaction(
        runOne(`update galleries set id = null, alias = null where ${IS_NAMED} returning faces`, [
          userId,
          galleryId,
        ]),
      );
      if (!row) throw galleryNotFound(galleryId);
      database.startErasure("galleries");
      return Number(row.faces);
    },

    async replaceGallery(userId, galleryId, successorId, revision) {
      await findGallery(userId, galleryId);
      await findGallery(userId, successorId);
      const { exclusiveRowLockClause } = database;
      const replacement = await database.runTransaction(
        replaceGallery(userId, galleryId, successorId, revision, exclusiveRowLockClause),
      );
      database.startErasure("galleries");
      return replacement;
    },

    async enrolFaces(userId, galleryId, model, faces, limits, galleryKey) {
      await findGallery(userId, galleryId);
      const enrolment = { userId, galleryId, galleryKey, model, faces, limits };
      const { gallery, hasReplaced } = await database.runTransaction(
        insertFaces({ ...enrolment, defaultExpiry: defaultExpiry(limits, now()) }, database, keys),
      );
      if (hasReplaced) database.startErasure("rows");
      return gallery;
    },

    getPerson,

    async listPeople(userId, galleryId, { after = "", size }) {
      const rows = await readPeopleRows(userId, galleryId, {
        // Not a join with the page, because SQLite would read and sort all its rows.
        condition: `people.id > $2 and people.id <= (select max(id) from (select id from gallery_people
          where gallery_key = $1 and id > $2 order by id limit $3) page)`,
        values: [after, size],
      });
      const people = peopleFromRows(rows);
      if (rows.length < MAX_PEOPLE_ROWS) return { people, isLast: people.length < size };
      // The rows of the last person may be incomplete.
      return { people: people.slice(0, -1), isLast: false };
    },

    async updatePerson(userId, galleryId, personId, changes) {
      await findGallery(userId, galleryId);
      await database.runTransaction(updatePerson(userId, galleryId, personId, changes));
      if (changes.displayName !== undefined) database.startErasure("rows");
      return getPerson(userId, galleryId, personId);
    },

    async deletePerson(userId, galleryId, personId) {
      if (galleryId !== undefined) {
        await findGallery(userId, galleryId);
        const deletion = await database.runTransaction(removePerson(userId, galleryId, personId));
        database.startErasure("rows");
        return [deletion];
      }
      const list = (size: number) => listGalleries(userId, { size }, personId);
      const deletions = await deletePersonFromAll(database, userId, personId, list);
      if (deletions.length === 0) throw personNotFound(personId);
      return deletions;
    },

    async deleteFace(userId, galleryId, personId, faceId) {
      await findGallery(userId, galleryId);
      await database.runTransaction(removeFace(userId, galleryId, personId, faceId));
      database.startErasure("rows");
    },

    async readFaces(galleryKey, { after = { personId: "", faceId: "" }, size }) {
      const rows = await database.query({
        sql: `select faces.*, display_name, expires_at, data_key.* from gallery_faces faces
          join gallery_people people on people.gallery_key = faces.gallery_key and people.id = faces.person_id
          left join ${DATA_KEY} on true
          where faces.gallery_key = $1 and (faces.person_id, faces.id) > ($2, $3)
            and (expires_at is null or expires_at > $5)
          order by faces.person_id, faces.id limit $4`,
        values: [galleryKey, after.personId, after.faceId, size, expiry.now()],
      });
      return decryptRows(galleryKey, rows, keys).map(exportedFaceFromRow);
    },

    readChanges: (galleryKey, since) => readChanges(database, galleryKey, since, keys),

    async findFaces(galleryKey, ids) {
      const rows = await database.query({
        sql: `select faces.*, display_name, data_key.* from json_each($2)
          cross join gallery_faces faces cross join gallery_people people left join ${DATA_KEY} on true
          where faces.gallery_key = $1 and faces.person_id = value ->> 'personId' and faces.id = value ->> 'faceId'
            and people.gallery_key = $1 and people.id = faces.person_id
            and (expires_at is null or expires_at > $3)`,
        values: [
          galleryKey,
          jsonFrom(ids.map(({ personId, faceId }) => ({ personId, faceId }))),
          expiry.now(),
        ],
      });
      return decryptRows(galleryKey, rows, keys).map(storedFaceFromRow);
    },

    async markSearched(galleryKey) {
      const now = new Date().toISOString();
      const sql = "update galleries set last_searched_at = $2 where key = $1";
      await database.runTransaction(runOne(sql, [galleryKey, now]));
    },

    async listSearched(count) {
      const rows = await database.query({
        sql: `select * from galleries where id is not null and last_searched_at is not null
          order by last_searched_at desc limit $1`,
        values: [count],
      });
      return rows.map((row) => ({ userId: String(row.user_id), gallery: galleryFromRow(row) }));
    },

    async countModels() {
      const sql = "select model, count(*) as count from galleries where id is not null group by model";
      return new Map((await database.query({ sql })).map((row) => [String(row.model), Number(row.count)]));
    },

    removeExpired: (signal) => expiry.removeAll(signal),

    finishDeletions: () => database.startErasure("galleries"),

    waitForErasure: (maxMs) => database.waitForErasure(maxMs),
  };
}

/** Which people to read. The first parameter is the key of their gallery, and these follow. */
interface PeopleCondition {
  readonly condition: string;
  readonly values: readonly SqlValue[];
}
