import { randomUUID } from "node:crypto";
import {
  dateFromColumn,
  type Row,
  type SqlDatabase,
  type SqlValue,
  type TransactionScript,
} from "../database/sql-database.ts";
import {
  type EnrolledFace,
  type ExportedFace,
  type Gallery,
  GalleryError,
  type GalleryLimits,
  type GalleryStore,
  type GalleryUpdate,
  MAX_ENROLMENT_BATCH,
  MAX_FACES_PER_PERSON,
  type NewFace,
  type NewGallery,
  type Person,
  type Template,
} from "./gallery-store.ts";

/** Removals are kept for this many revisions. An index that is older is read anew. */
const KEPT_REVISIONS = 100_000;
/** Templates in one page of changes. More than one enrolment has, so that a page ends between two enrolments. */
const CHANGES_PAGE = 10 * MAX_ENROLMENT_BATCH;
/** Rows that one transaction deletes: it must not keep others from writing for long. */
const DELETION_BATCH = 1_000;

/** Creates a gallery store on a database whose schema is up to date. */
export function createSqlGalleryStore(database: SqlDatabase): GalleryStore {
  async function findGallery(userId: string, galleryId: string): Promise<Gallery> {
    const [row] = await database.query({
      sql: "select * from galleries where user_id = $1 and id = $2",
      values: [userId, galleryId],
    });
    if (!row) throw galleryNotFound(galleryId);
    return galleryFromRow(row);
  }

  async function deleteRows(galleryKey: string): Promise<void> {
    const batches = [
      `delete from gallery_faces where gallery_key = $1 and (person_id, id) in
        (select person_id, id from gallery_faces where gallery_key = $1 limit ${DELETION_BATCH}) returning 1 as one`,
      `delete from gallery_people where gallery_key = $1 and id in
        (select id from gallery_people where gallery_key = $1 limit ${DELETION_BATCH}) returning 1 as one`,
      "delete from galleries where key = $1 and id is null returning 1 as one",
    ];
    for (const sql of batches)
      while ((await database.runTransaction(runOne(sql, [galleryKey]))).length === DELETION_BATCH);
  }

  async function listPeople(userId: string, galleryId: string, ids: Statement): Promise<Person[]> {
    const { key } = await findGallery(userId, galleryId);
    const rows = await database.query({
      sql: `select people.*, faces.id as face_id, faces.created_at as face_created_at
        from (${ids.sql}) people
        left join gallery_faces faces on faces.gallery_key = people.gallery_key and faces.person_id = people.id
        order by people.id, faces.id`,
      values: [key, ...ids.values],
    });
    return peopleFromRows(rows);
  }

  const onePerson = (personId: string): Statement => ({
    sql: "select * from gallery_people where gallery_key = $1 and id = $2",
    values: [personId],
  });

  async function getPerson(userId: string, galleryId: string, personId: string): Promise<Person> {
    const [person] = await listPeople(userId, galleryId, onePerson(personId));
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

    updateGallery: (userId, galleryId, changes) =>
      database.runTransaction(updateGallery(userId, galleryId, changes)),

    async deleteGallery(userId, galleryId) {
      const [row] = await database.runTransaction(
        runOne("update galleries set id = null where user_id = $1 and id = $2 returning key", [
          userId,
          galleryId,
        ]),
      );
      if (!row) throw galleryNotFound(galleryId);
      await deleteRows(String(row.key));
      await database.eraseDeleted();
    },

    async enrolFaces(userId, galleryId, model, faces, limits) {
      const enrolment = insertFaces(userId, galleryId, model, faces, limits);
      const { gallery, hasReplaced } = await database.runTransaction(enrolment);
      if (hasReplaced) await database.eraseDeleted();
      return gallery;
    },

    getPerson,

    listPeople: (userId, galleryId, { after = "", size }) =>
      listPeople(userId, galleryId, {
        sql: "select * from gallery_people where gallery_key = $1 and id > $2 order by id limit $3",
        values: [after, size],
      }),

    async renamePerson(userId, galleryId, personId, displayName) {
      await database.runTransaction(updatePerson(userId, galleryId, personId, displayName));
      return getPerson(userId, galleryId, personId);
    },

    async deletePerson(userId, galleryId, personId) {
      await database.runTransaction(removePerson(userId, galleryId, personId));
      await database.eraseDeleted();
    },

    async deleteFace(userId, galleryId, personId, faceId) {
      await database.runTransaction(removeFace(userId, galleryId, personId, faceId));
      await database.eraseDeleted();
    },

    async readFaces(galleryKey, { after = { personId: "", faceId: "" }, size }) {
      const rows = await database.query({
        sql: `select faces.*, display_name from gallery_faces faces
          join gallery_people people on people.gallery_key = faces.gallery_key and people.id = faces.person_id
          where faces.gallery_key = $1 and (faces.person_id, faces.id) > ($2, $3)
          order by faces.person_id, faces.id limit $4`,
        values: [galleryKey, after.personId, after.faceId, size],
      });
      return rows.map(exportedFaceFromRow);
    },

    async readChanges({ key, revision }, since) {
      if (since < revision - KEPT_REVISIONS) return undefined;
      const rows = await database.query({
        sql: `select person_id, id, template, revision from gallery_faces
          where gallery_key = $1 and revision > $2 order by revision limit $3`,
        values: [key, since, CHANGES_PAGE],
      });
      // The last enrolment of a full page may be incomplete.
      const isPartial = rows.length === CHANGES_PAGE;
      const until = isPartial ? Number(rows.at(-1)!.revision) - 1 : revision;
      const removed = await database.query({
        sql: `select person_id, face_id from gallery_removals
          where gallery_key = $1 and revision > $2 and revision <= $3 order by revision`,
        values: [key, since, until],
      });
      return {
        removed: removed.map((row) => ({
          personId: String(row.person_id),
          faceId: row.face_id === null ? undefined : String(row.face_id),
        })),
        added: rows.filter((row) => !isPartial || Number(row.revision) <= until).map(templateFromRow),
        until,
      };
    },

    async findNames(galleryKey, personIds) {
      // One JSON parameter, because a statement can have fewer parameters than there are people.
      const rows = await database.query({
        sql: `select id, display_name from gallery_people
          where gallery_key = $1 and id in (select value ->> 'id' from json_each($2))`,
        values: [galleryKey, JSON.stringify({ ...personIds.map((id) => ({ id })) })],
      });
      return new Map(rows.map((row) => [String(row.id), String(row.display_name)]));
    },

    async finishDeletions() {
      const rows = await database.query({ sql: "select key from galleries where id is null" });
      for (const { key } of rows) await deleteRows(String(key));
      if (rows.length > 0) await database.eraseDeleted();
    },
  };
}

/** A query with its parameters after the first one. */
interface Statement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

function* runOne(sql: string, values: readonly SqlValue[]): TransactionScript<readonly Row[]> {
  return yield { sql, values };
}

function* insertGallery(
  userId: string,
  { id, displayName, model, maxDistance }: NewGallery,
  { maxGalleries = Number.POSITIVE_INFINITY }: GalleryLimits,
  exclusiveRowLockClause: string,
): TransactionScript<Gallery> {
  // The lock keeps the user from creating several at the same time and so exceeding the limit.
  yield { sql: `select 1 as one from users where id_hash = $1 ${exclusiveRowLockClause}`, values: [userId] };
  const [count] = yield {
    sql: "select count(*) as count from galleries where user_id = $1 and id is not null",
    values: [userId],
  };
  const [row] = yield {
    sql: `insert into galleries
      (key, user_id, id, display_name, model, max_distance, people, faces, revision, created_at)
      values ($1, $2, $3, $4, $5, $6, 0, 0, 0, $7) on conflict (user_id, id) do nothing returning *`,
    values: [randomUUID(), userId, id, displayName, model, maxDistance ?? null, new Date().toISOString()],
  };
  if (!row) throw new GalleryError("galleryExists", `The gallery ${id} exists already.`);
  if (Number(count!.count) >= maxGalleries)
    throw new GalleryError("tooManyGalleries", `The plan allows ${maxGalleries} galleries.`);
  return galleryFromRow(row);
}

function* updateGallery(
  userId: string,
  galleryId: string,
  changes: GalleryUpdate,
): TransactionScript<Gallery> {
  const [row] = yield {
    sql: `update galleries set display_name = coalesce($3, display_name),
        max_distance = case when $4 = 1 then $5 else max_distance end
      where user_id = $1 and id = $2 returning *`,
    values: [
      userId,
      galleryId,
      changes.displayName ?? null,
      Number("maxDistance" in changes),
      changes.maxDistance ?? null,
    ],
  };
  if (!row) throw galleryNotFound(galleryId);
  return galleryFromRow(row);
}

/** Starts a change of people or faces: locks the gallery and increases its revision. */
function* startChange(userId: string, galleryId: string): TransactionScript<Gallery> {
  const [row] = yield {
    sql: "update galleries set revision = revision + 1 where user_id = $1 and id = $2 returning *",
    values: [userId, galleryId],
  };
  if (!row) throw galleryNotFound(galleryId);
  return galleryFromRow(row);
}

/** Ends a change: counts what was added or removed. */
function* endChange(gallery: Gallery, people: number, faces: number): TransactionScript<Gallery> {
  const [row] = yield {
    sql: "update galleries set people = people + $2, faces = faces + $3 where key = $1 returning *",
    values: [gallery.key, people, faces],
  };
  return galleryFromRow(row!);
}

function* insertFaces(
  userId: string,
  galleryId: string,
  model: string,
  faces: readonly NewFace[],
  { maxGalleryFaces = Number.POSITIVE_INFINITY }: GalleryLimits,
): TransactionScript<{ readonly gallery: Gallery; readonly hasReplaced: boolean }> {
  const gallery = yield* startChange(userId, galleryId);
  if (gallery.model !== model)
    throw new GalleryError(
      "modelMismatch",
      `The gallery ${galleryId} has templates of ${gallery.model} and this one was made by ${model}.`,
    );
  let addedPeople = 0;
  let addedFaces = 0;
  for (const face of faces) {
    addedPeople += yield* upsertPerson(gallery, face);
    addedFaces += yield* upsertFace(gallery, face);
  }
  if (gallery.faces + addedFaces > maxGalleryFaces)
    throw new GalleryError("tooManyFaces", `The plan allows ${maxGalleryFaces} faces in a gallery.`);
  const changed = yield* endChange(gallery, addedPeople, addedFaces);
  return { gallery: changed, hasReplaced: addedFaces < faces.length };
}

/** Returns the number of added people. */
function* upsertPerson({ key }: Gallery, { personId, displayName }: NewFace): TransactionScript<number> {
  const [added] = yield {
    sql: `insert into gallery_people (gallery_key, id, display_name, created_at)
      values ($1, $2, $3, $4) on conflict do nothing returning id`,
    values: [key, personId, displayName ?? "", new Date().toISOString()],
  };
  if (added) return 1;
  if (displayName !== undefined)
    yield {
      sql: "update gallery_people set display_name = $3 where gallery_key = $1 and id = $2",
      values: [key, personId, displayName],
    };
  return 0;
}

/** Returns the number of added faces. */
function* upsertFace({ key, revision }: Gallery, face: NewFace): TransactionScript<number> {
  const { personId, faceId, vector } = face;
  const template = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
  const [replaced] = yield {
    sql: `update gallery_faces set template = $4, revision = $5
      where gallery_key = $1 and person_id = $2 and id = $3 returning id`,
    values: [key, personId, faceId, template, revision],
  };
  if (replaced) return 0;
  yield {
    sql: `insert into gallery_faces (gallery_key, person_id, id, template, revision, created_at)
      values ($1, $2, $3, $4, $5, $6)`,
    values: [key, personId, faceId, template, revision, new Date().toISOString()],
  };
  const [row] = yield {
    sql: "select count(*) as count from gallery_faces where gallery_key = $1 and person_id = $2",
    values: [key, personId],
  };
  if (Number(row!.count) > MAX_FACES_PER_PERSON)
    throw new GalleryError(
      "tooManyFacesOfPerson",
      `The person ${personId} has ${MAX_FACES_PER_PERSON} faces already.`,
    );
  return 1;
}

function* updatePerson(
  userId: string,
  galleryId: string,
  personId: string,
  displayName: string,
): TransactionScript<void> {
  const { key } = yield* startChange(userId, galleryId);
  const [row] = yield {
    sql: "update gallery_people set display_name = $3 where gallery_key = $1 and id = $2 returning id",
    values: [key, personId, displayName],
  };
  if (!row) throw personNotFound(personId);
}

function* removePerson(userId: string, galleryId: string, personId: string): TransactionScript<void> {
  const gallery = yield* startChange(userId, galleryId);
  const faces = yield {
    sql: "delete from gallery_faces where gallery_key = $1 and person_id = $2 returning id",
    values: [gallery.key, personId],
  };
  const [person] = yield {
    sql: "delete from gallery_people where gallery_key = $1 and id = $2 returning id",
    values: [gallery.key, personId],
  };
  if (!person) throw personNotFound(personId);
  yield* logRemoval(gallery, personId, null);
  yield* endChange(gallery, -1, -faces.length);
}

function* removeFace(
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
  yield* logRemoval(gallery, personId, faceId);
  yield* endChange(gallery, 0, -1);
}

/** Records a removal for the indexes of all replicas. */
function* logRemoval(
  { key, revision }: Gallery,
  personId: string,
  faceId: string | null,
): TransactionScript<void> {
  yield {
    sql: "insert into gallery_removals (gallery_key, revision, person_id, face_id) values ($1, $2, $3, $4)",
    values: [key, revision, personId, faceId],
  };
  yield {
    sql: "delete from gallery_removals where gallery_key = $1 and revision <= $2",
    values: [key, revision - KEPT_REVISIONS],
  };
}

function galleryNotFound(galleryId: string): GalleryError {
  return new GalleryError("galleryNotFound", `There is no gallery ${galleryId}.`);
}

function personNotFound(personId: string): GalleryError {
  return new GalleryError("personNotFound", `There is no person ${personId} in the gallery.`);
}

function galleryFromRow(row: Row): Gallery {
  return {
    key: String(row.key),
    id: String(row.id),
    displayName: String(row.display_name),
    model: String(row.model),
    maxDistance: row.max_distance === null ? undefined : Number(row.max_distance),
    people: Number(row.people),
    faces: Number(row.faces),
    revision: Number(row.revision),
    createdAt: dateFromColumn(row.created_at),
  };
}

/** Groups the rows of people and their faces, which are ordered by person. */
function peopleFromRows(rows: readonly Row[]): Person[] {
  const people: (Person & { readonly faces: EnrolledFace[] })[] = [];
  for (const row of rows) {
    const id = String(row.id);
    if (people.at(-1)?.id !== id)
      people.push({
        id,
        displayName: String(row.display_name),
        createdAt: dateFromColumn(row.created_at),
        faces: [],
      });
    if (row.face_id !== null)
      people.at(-1)!.faces.push({ id: String(row.face_id), createdAt: dateFromColumn(row.face_created_at) });
  }
  return people;
}

function exportedFaceFromRow(row: Row): ExportedFace {
  return {
    ...templateFromRow(row),
    displayName: String(row.display_name),
    createdAt: dateFromColumn(row.created_at),
  };
}

function templateFromRow(row: Row): Template {
  const bytes = row.template as Uint8Array;
  // Copied, because the bytes of a driver need not be aligned for floats.
  const vector = new Float32Array(new Uint8Array(bytes).buffer);
  return { personId: String(row.person_id), faceId: String(row.id), vector };
}
