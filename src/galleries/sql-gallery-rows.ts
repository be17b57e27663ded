// Conversion of database rows to galleries, people and templates.
import { dateFromColumn, optionalDateFromColumn, type Row } from "../database/sql-database.ts";
import type { EnrolledFace, ExportedFace, Gallery, Person, StoredFace, Template } from "./gallery-store.ts";

/** Converts the row of a gallery. */
export function galleryFromRow(row: Row): Gallery {
  return {
    key: String(row.key),
    id: String(row.id),
    alias: (row.alias as string | null) ?? undefined,
    displayName: String(row.display_name),
    model: String(row.model),
    maxDistance: row.max_distance === null ? undefined : Number(row.max_distance),
    people: Number(row.people),
    faces: Number(row.faces),
    revision: Number(row.revision),
    token: String(row.token),
    createdAt: dateFromColumn(row.created_at),
    expiresAt: optionalDateFromColumn(row.expires_at),
    lastSearchedAt: optionalDateFromColumn(row.last_searched_at),
  };
}

/** Groups the rows of people and their faces, which are ordered by person. */
export function peopleFromRows(rows: readonly Row[]): Person[] {
  const people: (Person & { readonly faces: EnrolledFace[] })[] = [];
  for (const row of rows) {
    const id = String(row.id);
    if (people.at(-1)?.id !== id)
      people.push({
        id,
        displayName: String(row.display_name),
        createdAt: dateFromColumn(row.created_at),
        expiresAt: optionalDateFromColumn(row.expires_at),
        faces: [],
      });
    if (row.face_id !== null)
      people.at(-1)!.faces.push({ id: String(row.face_id), createdAt: dateFromColumn(row.face_created_at) });
  }
  return people;
}

/** Converts the row of a face with the name of its person. */
export function exportedFaceFromRow(row: Row): ExportedFace {
  return {
    ...templateFromRow(row),
    displayName: String(row.display_name),
    createdAt: dateFromColumn(row.created_at),
    expiresAt: optionalDateFromColumn(row.expires_at),
  };
}

/** Converts the row of a face with the name of its person and its revision. */
export function storedFaceFromRow(row: Row): StoredFace {
  return {
    ...templateFromRow(row),
    displayName: String(row.display_name),
    revision: Number(row.revision),
  };
}

function templateFromRow(row: Row): Template {
  const bytes = row.template as Uint8Array;
  // Copied, because the bytes of a driver need not be aligned for floats.
  const embedding = new Float32Array(new Uint8Array(bytes).buffer);
  return { personId: String(row.person_id), faceId: String(row.id), embedding };
}
