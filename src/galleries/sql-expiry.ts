// The removal of people and galleries whose time is over.
import { randomUUID } from "node:crypto";
import type { SqlDatabase, TransactionScript } from "../database/sql-database.ts";
import { markRemovals, recordVersion } from "./sql-gallery-changes.ts";
import { galleryFromRow } from "./sql-gallery-rows.ts";

/** Rows of people and of faces that one transaction deletes. SQLite does that on the event loop: 1,000 take 15 ms. */
const BATCH = 500;

/** The expression for whether a gallery, or somebody in it, has expired by $3. */
export const IS_DUE = `case when expires_at <= $3 or exists (select 1 from gallery_people people
  where people.gallery_key = galleries.key and people.expires_at <= $3) then 1 else 0 end`;

/** What was removed because its time was over. */
export interface Expiry {
  readonly userId: string;
  readonly galleryId: string;
  /** Undefined if it was the whole gallery. */
  readonly personId: string | undefined;
  /** Number of removed faces. */
  readonly faces: number;
}

type ExpiredPerson = Expiry & { readonly personId: string };

/** Called about removals. */
export interface ExpiryObserver {
  /**
   * Called before a removal, which waits for it. Replicas that find the same at once all call it, and one of them removes
   * it. Must not reject.
   */
  readonly onDue: (due: readonly Expiry[]) => Promise<void>;
  /** Called when removals are stored; once for each person and gallery. */
  readonly onExpiry: (expired: readonly Expiry[]) => void;
}

/** Options of the removal. */
export interface ExpiryOptions extends Partial<ExpiryObserver> {
  /** The clock. */
  readonly now: () => Date;
}

/** Removes what has expired, in small transactions. */
export class ExpiryRemoval {
  readonly #database: SqlDatabase;
  readonly #options: ExpiryOptions;
  /** The running removals by the key of the gallery, so that requests do not take all connections to wait for a lock. */
  readonly #running = new Map<string, Promise<void>>();
  /**
   * What was announced and could not be removed yet, by the key of the gallery. Each request tries again while the
   * database cannot write, and must not announce the same again.
   */
  readonly #announced = new Map<string, ReadonlySet<Expiry["personId"]>>();

  constructor(database: SqlDatabase, options: ExpiryOptions) {
    this.#database = database;
    this.#options = options;
  }

  /** The current time, as a parameter of a statement. */
  now(): string {
    return this.#options.now().toISOString();
  }

  /** Removes what has expired in a gallery, or the gallery itself. Stops early if the signal is aborted. */
  removeFrom(galleryKey: string, signal?: AbortSignal): Promise<void> {
    const running =
      this.#running.get(galleryKey) ??
      this.#removeInBatches(galleryKey, signal).finally(() => this.#running.delete(galleryKey));
    this.#running.set(galleryKey, running);
    return running;
  }

  /** Removes what has expired in all galleries. Stops early if the signal is aborted. */
  async removeAll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const [row] = await this.#database.query({
        sql: `select key from galleries where id is not null and expires_at <= $1
          union all select key from gallery_people people join galleries on key = people.gallery_key
            where people.expires_at <= $1 and galleries.id is not null
          limit 1`,
        values: [this.now()],
      });
      if (!row) return;
      await this.removeFrom(String(row.key), signal);
    }
  }

  async #removeInBatches(galleryKey: string, signal: AbortSignal | undefined): Promise<void> {
    const database = this.#database;
    const { now, onExpiry } = this.#options;
    while (!signal?.aborted) {
      const time = now();
      const due = await database.runTransaction(findDue(galleryKey, time));
      if (due.length === 0) break;
      await this.#announce(galleryKey, due);
      const expired = await database.runTransaction(
        removeDue(galleryKey, time, due, database.exclusiveRowLockClause),
      );
      if (expired.length === 0) continue;
      onExpiry?.(expired);
      database.startErasure(expired[0]!.personId === undefined ? "galleries" : "rows");
    }
    this.#announced.delete(galleryKey);
  }

  async #announce(galleryKey: string, due: readonly Expiry[]): Promise<void> {
    const announced = this.#announced.get(galleryKey);
    const others = due.filter(({ personId }) => !announced?.has(personId));
    if (others.length > 0) await this.#options.onDue?.(others);
    this.#announced.set(galleryKey, new Set(due.map(({ personId }) => personId)));
  }
}

/** Finds whether a gallery has expired, or people of it, as many as one transaction removes. */
function* findDue(key: string, now: Date, lockClause = ""): TransactionScript<readonly Expiry[]> {
  const [row] = yield {
    sql: `select * from galleries where key = $1 and id is not null ${lockClause}`,
    values: [key],
  };
  if (!row) return [];
  const { id: galleryId, expiresAt, faces } = galleryFromRow(row);
  const of = { userId: String(row.user_id), galleryId };
  if (expiresAt && expiresAt <= now) return [{ ...of, personId: undefined, faces }];
  const people = yield {
    sql: `select id, (select count(*) from gallery_faces faces
        where faces.gallery_key = people.gallery_key and faces.person_id = people.id) as faces
      from gallery_people people where gallery_key = $1 and expires_at <= $2 order by expires_at limit ${BATCH}`,
    values: [key, now.toISOString()],
  };
  let faceCount = 0;
  return people
    .map((person) => ({ ...of, personId: String(person.id), faces: Number(person.faces) }))
    .filter((person) => {
      faceCount += person.faces;
      return faceCount <= BATCH;
    });
}

/**
 * Hides a gallery that has expired, to be deleted, or removes people who have. Replicas wait for the lock of the gallery,
 * so each person is removed by one of them. Returns what was removed of what had been found.
 */
function* removeDue(
  key: string,
  now: Date,
  found: readonly Expiry[],
  exclusiveRowLockClause: string,
): TransactionScript<readonly Expiry[]> {
  const ids = new Set(found.map(({ personId }) => personId));
  const due = (yield* findDue(key, now, exclusiveRowLockClause)).filter(({ personId }) => ids.has(personId));
  if (due.length === 0) return [];
  if (due[0]!.personId === undefined)
    yield { sql: "update galleries set id = null, alias = null where key = $1", values: [key] };
  else yield* removePeople(key, due as readonly ExpiredPerson[]);
  return due;
}

/** Removes people with all faces. */
function* removePeople(key: string, people: readonly ExpiredPerson[]): TransactionScript<void> {
  const ids = JSON.stringify({ ...people.map(({ personId }) => ({ personId })) });
  for (const [table, column] of [
    ["gallery_faces", "person_id"],
    ["gallery_people", "id"],
  ])
    yield {
      sql: `delete from ${table} where gallery_key = $1
        and ${column} in (select value ->> 'personId' from json_each($2))`,
      values: [key, ids],
    };
  const faces = people.reduce((sum, person) => sum + person.faces, 0);
  const [row] = yield {
    sql: `update galleries set revision = revision + $2, token = $3, people = people - $2, faces = faces - $4
      where key = $1 returning *`,
    values: [key, people.length, randomUUID(), faces],
  };
  const gallery = galleryFromRow(row!);
  yield* recordVersion(gallery, people.length);
  yield* markRemovals(gallery, people);
}
