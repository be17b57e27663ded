// The transaction that enrols faces. It has few statements, however many faces there are: over a network, a statement
// for each face would keep the gallery locked for seconds.
import type { SqlDatabase, Statement, TransactionScript } from "../database/sql-database.ts";
import { ensureDataKey } from "./data-keys.ts";
import {
  type Gallery,
  GalleryError,
  type GalleryLimits,
  MAX_FACES_PER_PERSON,
  type NewFace,
  readOnlyError,
} from "./gallery-store.ts";
import type { MasterKeys } from "./master-keys.ts";
import { endChange, galleryNotFound, startChange } from "./sql-gallery-changes.ts";
import { TemplateCipher } from "./template-cipher.ts";

/** Faces to enrol in a gallery. */
export interface Enrolment {
  readonly userId: string;
  readonly galleryId: string;
  /** Undefined for the gallery that has the id now. */
  readonly galleryKey: string | undefined;
  readonly model: string;
  readonly faces: readonly NewFace[];
  readonly limits: GalleryLimits;
  /** When people expire who are new and for whom no time is given; undefined for never. */
  readonly defaultExpiry: Date | undefined;
}

/**
 * Enrols faces and the people who are new, all or none. A face with the ids of an earlier one replaces it. `hasReplaced`
 * says whether templates or names were replaced, which are then to be erased. The functions of the database make
 * expressions.
 */
export function* insertFaces(
  { userId, galleryId, galleryKey, model, faces, limits, defaultExpiry }: Enrolment,
  {
    decodeHex,
    parseTimestamp,
    rowLockClause,
  }: Pick<SqlDatabase, "decodeHex" | "parseTimestamp" | "rowLockClause">,
  keys: MasterKeys,
): TransactionScript<{ readonly gallery: Gallery; readonly hasReplaced: boolean }> {
  const { maxGalleryFaces = Number.POSITIVE_INFINITY } = limits;
  // Before the gallery is locked, as in the removal of a user. The other order could deadlock.
  const dataKey = yield* ensureDataKey(userId, keys, rowLockClause);
  const gallery = yield* startChange(userId, galleryId);
  if (galleryKey !== undefined && gallery.key !== galleryKey) throw galleryNotFound(galleryId);
  if (gallery.model !== model) throw readOnlyError(gallery, model);
  const people = peopleOf(faces, defaultExpiry);
  const { addedPeople, renamedPeople } = yield* upsertPeople(gallery, people, parseTimestamp);
  const distinct = [...new Map(faces.map((face) => [`${face.personId}/${face.faceId}`, face])).values()];
  const addedFaces = distinct.length - (yield* countExisting(gallery, distinct));
  if (gallery.faces + addedFaces > maxGalleryFaces)
    throw new GalleryError("tooManyFaces", `The plan allows ${maxGalleryFaces} faces in a gallery.`);
  const cipher = dataKey && new TemplateCipher(dataKey, gallery.key);
  yield* upsertFaces(gallery, distinct, cipher, decodeHex);
  yield* requireFewFaces(gallery, distinct);
  const changed = yield* endChange(gallery, addedPeople, addedFaces);
  return { gallery: changed, hasReplaced: addedFaces < faces.length || renamedPeople > 0 };
}

/** Returns the people who have the faces. */
function peopleOf(faces: readonly NewFace[], defaultExpiry: Date | undefined): NewPerson[] {
  const people = new Map<string, NewPerson>();
  for (const { personId: id, displayName, expiresAt } of faces) {
    const earlier = people.get(id) ?? { id, name: undefined, expiresAt: defaultExpiry, hasExpiry: false };
    people.set(id, {
      ...earlier,
      ...(displayName !== undefined && { name: displayName }),
      ...(expiresAt !== undefined && { expiresAt, hasExpiry: true }),
    });
  }
  return [...people.values()];
}

/** Adds the people who are new, and changes the others as given. */
function* upsertPeople(
  { key }: Gallery,
  people: readonly NewPerson[],
  parseTimestamp: SqlDatabase["parseTimestamp"],
): TransactionScript<{ readonly addedPeople: number; readonly renamedPeople: number }> {
  const insert = (some: readonly NewPerson[], onConflict: string): Statement => ({
    // SQLite cannot parse `on conflict` after a table without a condition.
    sql: `insert into gallery_people (gallery_key, id, display_name, created_at, expires_at)
      select $1, value ->> 'id', coalesce(value ->> 'name', ''), $3, ${parseTimestamp("value ->> 'expiresAt'")}
        from json_each($2) where true
      on conflict ${onConflict}`,
    values: [key, jsonFrom(some), new Date().toISOString()],
  });
  const [row] = yield {
    // The order of a cross join is kept by SQLite, which would otherwise parse the JSON again for every person.
    sql: `select count(*) as existing, count(case when display_name <> value ->> 'name' then 1 end) as renamed
      from json_each($2) cross join gallery_people people
      where gallery_key = $1 and people.id = value ->> 'id'`,
    values: [key, jsonFrom(people)],
  };
  const [named, unnamed] = [people.filter(hasName), people.filter((person) => !hasName(person))];
  if (named.length > 0)
    yield insert(
      named,
      `(gallery_key, id) do update set display_name = excluded.display_name
        where gallery_people.display_name <> excluded.display_name`,
    );
  if (unnamed.length > 0) yield insert(unnamed, "do nothing");
  const dated = people.filter(({ hasExpiry }) => hasExpiry);
  if (dated.length > 0)
    yield insert(dated, "(gallery_key, id) do update set expires_at = excluded.expires_at");
  return { addedPeople: people.length - Number(row!.existing), renamedPeople: Number(row!.renamed) };
}

interface NewPerson {
  readonly id: string;
  readonly name: string | undefined;
  readonly expiresAt: Date | null | undefined;
  /** Whether the time also applies to a person who is not new. */
  readonly hasExpiry: boolean;
}

function hasName({ name }: NewPerson): boolean {
  return name !== undefined;
}

function* countExisting({ key }: Gallery, faces: readonly NewFace[]): TransactionScript<number> {
  const ids = faces.map(({ personId, faceId }) => ({ personId, faceId }));
  const [row] = yield {
    sql: `select count(*) as count from json_each($2) cross join gallery_faces faces
      where gallery_key = $1 and person_id = value ->> 'personId' and faces.id = value ->> 'faceId'`,
    values: [key, jsonFrom(ids)],
  };
  return Number(row!.count);
}

function* upsertFaces(
  { key, revision }: Gallery,
  faces: readonly NewFace[],
  cipher: TemplateCipher | undefined,
  decodeHex: SqlDatabase["decodeHex"],
): TransactionScript<void> {
  const rows = faces.map((face) => {
    const { personId, faceId, embedding } = face;
    const plain = Buffer.from(embedding.buffer, embedding.byteOffset, embedding.byteLength);
    return { personId, faceId, template: (cipher?.encrypt(face, plain) ?? plain).toString("hex") };
  });
  yield {
    sql: `insert into gallery_faces (gallery_key, person_id, id, template, revision, created_at)
      select $1, value ->> 'personId', value ->> 'faceId', ${decodeHex("value ->> 'template'")}, $3, $4
      from json_each($2) where true
      on conflict (gallery_key, person_id, id)
      do update set template = excluded.template, revision = excluded.revision`,
    values: [key, jsonFrom(rows), revision, new Date().toISOString()],
  };
}

function* requireFewFaces({ key }: Gallery, faces: readonly NewFace[]): TransactionScript<void> {
  const people = [...new Set(faces.map(({ personId }) => personId))].map((id) => ({ id }));
  const [row] = yield {
    sql: `select person_id from json_each($2) cross join gallery_faces
      where gallery_key = $1 and person_id = value ->> 'id' group by person_id having count(*) > $3`,
    values: [key, jsonFrom(people), MAX_FACES_PER_PERSON],
  };
  if (row)
    throw new GalleryError(
      "tooManyFacesOfPerson",
      `The person ${row.person_id} can have ${MAX_FACES_PER_PERSON} faces.`,
    );
}

/** Makes a table for `json_each`, which both databases have for objects. A statement can have few parameters. */
export function jsonFrom(rows: readonly object[]): string {
  return JSON.stringify({ ...rows });
}
