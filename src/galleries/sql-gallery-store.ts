import { runOne } from "../database/delete-in-batches.ts";
import type { Row, SqlDatabase, SqlValue } from "../database/sql-database.ts";
import { DATA_KEY, decryptRows } from "./data-keys.ts";
import { type Gallery, type GalleryStore, MAX_FACES_PER_PERSON, type Person } from "./gallery-store.ts";
import { type MasterKeys, NO_MASTER_KEYS } from "./master-keys.ts";
import { insertFaces, jsonFrom } from "./sql-enrolment.ts";
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

/** Creates a gallery store on a database whose schema is up to date. Without keys, it encrypts no templates. */
export function createSqlGalleryStore(
  database: SqlDatabase,
  keys: MasterKeys = NO_MASTER_KEYS,
): GalleryStore {
  async function findGallery(userId: string, galleryId: string): Promise<Gallery> {
    const [row] = await database.query({
      sql: `select * from galleries where ${IS_NAMED}`,
      values: [userId, galleryId],
    });
    if (!row) throw galleryNotFound(galleryId);
    return galleryFromRow(row);
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
    createGallery: (userId, gallery, limits) =>
      database.runTransaction(insertGallery(userId, gallery, limits, database.exclusiveRowLockClause)),

    getGallery: findGallery,

    async listGalleries(userId, { after = "", size }) {
      const rows = await database.query({
        sql: "select * from galleries where user_id = $1 and id > $2 order by id limit $3",
        values: [userId, after, size],
      });
      return rows.map(galleryFromRow);
    },

    async updateGallery(userId, galleryId, changes) {
      const { exclusiveRowLockClause } = database;
      const gallery = await database.runTransaction(
        updateGallery(userId, galleryId, changes, exclusiveRowLockClause),
      );
      if (changes.displayName !== undefined) database.startErasure("rows");
      return gallery;
    },

    async deleteGallery(userId, galleryId) {
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
      const { exclusiveRowLockClause } = database;
      const replacement = await database.runTransaction(
        replaceGallery(userId, galleryId, successorId, revision, exclusiveRowLockClause),
      );
      database.startErasure("galleries");
      return replacement;
    },

    async enrolFaces(userId, galleryId, model, faces, limits, galleryKey) {
      const enrolment = { userId, galleryId, galleryKey, model, faces, limits };
      const { gallery, hasReplaced } = await database.runTransaction(insertFaces(enrolment, database, keys));
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

    async renamePerson(userId, galleryId, personId, displayName) {
      await database.runTransaction(updatePerson(userId, galleryId, personId, displayName));
      database.startErasure("rows");
      return getPerson(userId, galleryId, personId);
    },

    async deletePerson(userId, galleryId, personId) {
      const faces = await database.runTransaction(removePerson(userId, galleryId, personId));
      database.startErasure("rows");
      return faces;
    },

    async deleteFace(userId, galleryId, personId, faceId) {
      await database.runTransaction(removeFace(userId, galleryId, personId, faceId));
      database.startErasure("rows");
    },

    async readFaces(galleryKey, { after = { personId: "", faceId: "" }, size }) {
      const rows = await database.query({
        sql: `select faces.*, display_name, data_key.* from gallery_faces faces
          join gallery_people people on people.gallery_key = faces.gallery_key and people.id = faces.person_id
          left join ${DATA_KEY} on true
          where faces.gallery_key = $1 and (faces.person_id, faces.id) > ($2, $3)
          order by faces.person_id, faces.id limit $4`,
        values: [galleryKey, after.personId, after.faceId, size],
      });
      return decryptRows(galleryKey, rows, keys).map(exportedFaceFromRow);
    },

    readChanges: (galleryKey, since) => readChanges(database, galleryKey, since, keys),

    async findFaces(galleryKey, ids) {
      const rows = await database.query({
        sql: `select faces.*, display_name, data_key.* from json_each($2)
          cross join gallery_faces faces cross join gallery_people people left join ${DATA_KEY} on true
          where faces.gallery_key = $1 and faces.person_id = value ->> 'personId' and faces.id = value ->> 'faceId'
            and people.gallery_key = $1 and people.id = faces.person_id`,
        values: [galleryKey, jsonFrom(ids.map(({ personId, faceId }) => ({ personId, faceId })))],
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

    finishDeletions: () => database.startErasure("galleries"),

    waitForErasure: (maxMs) => database.waitForErasure(maxMs),
  };
}

/** Which people to read. The first parameter is the key of their gallery, and these follow. */
interface PeopleCondition {
  readonly condition: string;
  readonly values: readonly SqlValue[];
}
