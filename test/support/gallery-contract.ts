import { randomBytes } from "node:crypto";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { openDatabase } from "../../src/database/open-database.ts";
import {
  GalleryError,
  type GalleryErrorKind,
  type GalleryLimits,
  type GalleryProgress,
  type GalleryStore,
  type GalleryVersion,
  MAX_FACES_PER_PERSON,
  type NewFace,
} from "../../src/galleries/gallery-store.ts";
import type { MasterKeys } from "../../src/galleries/master-keys.ts";
import { markOf } from "../../src/galleries/removal-mark.ts";
import { createSqlGalleryStore } from "../../src/galleries/sql-gallery-store.ts";
import { addUser, createUser, type StoreKind } from "./store-contract.ts";

export const MODEL = "sface-000000000000";
export const NO_LIMITS: GalleryLimits = {};
const [ANN, BOB] = [createUser("ann"), createUser("bob")];

/** A random template. */
export function randomVector(): Float32Array {
  const bytes = new Uint8Array(randomBytes(512));
  // Small exponents, so that every number is finite.
  for (let i = 3; i < bytes.length; i += 4) bytes[i] = 0x3d;
  return new Float32Array(bytes.buffer);
}

export function newFace(personId: string, faceId = "1", changes: Partial<NewFace> = {}): NewFace {
  return { personId, faceId, embedding: randomVector(), ...changes };
}

/** As many faces as a person can have. */
function facesOfPerson(personId: string): NewFace[] {
  return Array.from({ length: MAX_FACES_PER_PERSON }, (_, i) =>
    newFace(personId, `${i}`, { embedding: ZERO }),
  );
}

/** Expects that a promise rejects with a GalleryError of this kind. */
async function expectError(promise: Promise<unknown>, kind: GalleryErrorKind): Promise<void> {
  const error = await promise.then(() => undefined).catch((fault: unknown) => fault);
  expect(error).toBeInstanceOf(GalleryError);
  expect((error as GalleryError).kind).toBe(kind);
}

/** The behaviour that every gallery store shares, as tests. */
export function describeGalleryContract(
  kind: string,
  { createLocation, executeAt }: StoreKind,
  keys?: MasterKeys,
): void {
  describe(`the gallery store on ${kind}`, () => {
    let location: Awaited<ReturnType<typeof createLocation>>;
    let store: GalleryStore;

    beforeEach(async () => {
      location = await createLocation();
      const accounts = await openAccountStore(location);
      await addUser(accounts, ANN);
      await addUser(accounts, BOB);
      await accounts.close();
      store = await openStore();
    });

    async function openStore(): Promise<GalleryStore> {
      const database = await openDatabase(location);
      onTestFinished(() => database.close());
      return createSqlGalleryStore(database, { keys });
    }

    const createGallery = (id: string, userId = ANN.id) =>
      store.createGallery(userId, { id, displayName: "", model: MODEL, maxDistance: undefined }, NO_LIMITS);
    const enrol = (faces: readonly NewFace[], galleryId = "g", limits = NO_LIMITS) =>
      store.enrolFaces(ANN.id, galleryId, MODEL, faces, limits);
    const readAll = async (galleryId = "g") => {
      const { key } = await store.getGallery(ANN.id, galleryId);
      return store.readFaces(key, { size: 1000 });
    };

    describe("galleries", () => {
      test("are created, changed, listed and deleted", async () => {
        const created = await store.createGallery(
          ANN.id,
          { id: "staff", displayName: "The staff", model: MODEL, maxDistance: 0.4 },
          NO_LIMITS,
        );
        expect(created).toMatchObject({
          id: "staff",
          displayName: "The staff",
          model: MODEL,
          maxDistance: 0.4,
          people: 0,
          faces: 0,
          revision: 0,
        });
        expect(Math.abs(created.createdAt.getTime() - Date.now())).toBeLessThan(60_000);
        expect(await store.getGallery(ANN.id, "staff")).toEqual(created);
        expect(await store.updateGallery(ANN.id, "staff", { displayName: "Staff" })).toMatchObject({
          displayName: "Staff",
          maxDistance: 0.4,
        });
        expect(await store.updateGallery(ANN.id, "staff", { maxDistance: undefined })).toMatchObject({
          displayName: "Staff",
          maxDistance: undefined,
        });
        for (const id of ["c", "a", "b"]) await createGallery(id);
        const list = async (after?: string) =>
          (await store.listGalleries(ANN.id, { after, size: 2 })).map(({ id }) => id);
        expect([await list(), await list("b"), await list("staff")]).toEqual([
          ["a", "b"],
          ["c", "staff"],
          [],
        ]);
        await store.deleteGallery(ANN.id, "a");
        await expectError(store.getGallery(ANN.id, "a"), "galleryNotFound");
        await expectError(store.deleteGallery(ANN.id, "a"), "galleryNotFound");
        expect(await list()).toEqual(["b", "c"]);
      });

      test("have unique ids for each user, and another key when they are created again", async () => {
        const { key } = await createGallery("g");
        await expectError(createGallery("g"), "galleryExists");
        expect((await createGallery("g", BOB.id)).key).not.toBe(key);
        await store.deleteGallery(ANN.id, "g");
        expect((await createGallery("g")).key).not.toBe(key);
      });

      test("are limited in number", async () => {
        const create = (id: string) =>
          store.createGallery(
            ANN.id,
            { id, displayName: "", model: MODEL, maxDistance: undefined },
            { maxGalleries: 2 },
          );
        await create("a");
        await create("b");
        await expectError(create("c"), "tooManyGalleries");
        await store.deleteGallery(ANN.id, "b");
        const results = await Promise.allSettled(["d", "e", "f"].map(create));
        expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      });
    });

    describe("an alias", () => {
      const setAlias = (id: string, alias: string | undefined) => store.updateGallery(ANN.id, id, { alias });

      test("names a gallery in every operation, and moves to another one", async () => {
        await createGallery("one");
        await createGallery("two");
        expect(await setAlias("one", "staff")).toMatchObject({ id: "one", alias: "staff" });
        await enrol([newFace("a", "1"), newFace("a", "2")], "staff");
        expect(await store.getGallery(ANN.id, "staff")).toMatchObject({ id: "one", faces: 2 });
        expect(await store.getPerson(ANN.id, "staff", "a")).toMatchObject({ faces: [{}, {}] });
        await store.updatePerson(ANN.id, "staff", "a", { displayName: "Ann" });
        await store.deleteFace(ANN.id, "staff", "a", "1");
        await store.updateGallery(ANN.id, "staff", { displayName: "One" });
        expect(await store.getGallery(ANN.id, "one")).toMatchObject({ faces: 1, displayName: "One" });
        expect(await setAlias("two", "staff")).toMatchObject({ id: "two", alias: "staff" });
        expect(await store.getGallery(ANN.id, "staff")).toMatchObject({ id: "two" });
        expect(await store.getGallery(ANN.id, "one")).toMatchObject({ alias: undefined });
        expect(await setAlias("staff", "staff")).toMatchObject({ id: "two", alias: "staff" });
        await expectError(store.getGallery(BOB.id, "staff"), "galleryNotFound");
      });

      test("is not the id of a gallery, and ends with its gallery", async () => {
        await createGallery("one");
        await createGallery("two");
        await expectError(setAlias("one", "two"), "galleryExists");
        await setAlias("one", "staff");
        await expectError(createGallery("staff"), "galleryExists");
        await setAlias("one", undefined);
        await createGallery("staff");
        await store.deleteGallery(ANN.id, "staff");
        await setAlias("two", "staff");
        await store.deleteGallery(ANN.id, "staff");
        await createGallery("staff");
        await createGallery("staff", BOB.id);
      });

      test("and an id that are taken at the same time are not the same", async () => {
        const others = await Promise.all(Array.from({ length: 2 }, openStore));
        await createGallery("g");
        for (let i = 0; i < 10; i++) {
          const gallery = { id: `name${i}`, displayName: "", model: MODEL, maxDistance: undefined };
          const results = await Promise.allSettled([
            others[0]!.createGallery(ANN.id, gallery, NO_LIMITS),
            others[1]!.updateGallery(ANN.id, "g", { alias: gallery.id }),
          ]);
          expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
        }
      });
    });

    describe("a successor", () => {
      const NEXT_MODEL = "sface-111111111111";
      const createSuccessor = (limits = NO_LIMITS) =>
        store.createGallery(
          ANN.id,
          { id: "next", displayName: "", model: NEXT_MODEL, maxDistance: undefined },
          limits,
        );
      const enrolNext = (faces: readonly NewFace[]) =>
        store.enrolFaces(ANN.id, "next", NEXT_MODEL, faces, NO_LIMITS);

      test("takes the place of a gallery, whose faces are deleted", async () => {
        await createGallery("g");
        const changes = { displayName: "Staff", maxDistance: 0.4, alias: "staff" };
        await store.updateGallery(ANN.id, "g", changes);
        for (const id of ["a", "b", "c"]) await enrol([newFace(id)]);
        await createSuccessor();
        const face = newFace("a");
        const { key } = await enrolNext([face]);
        const { gallery, removedFaces } = await store.replaceGallery(ANN.id, "staff", "next", 3);
        expect(gallery).toMatchObject({ ...changes, id: "g", key, model: NEXT_MODEL, faces: 1, revision: 4 });
        expect(removedFaces).toBe(3);
        for (const id of ["g", "staff"]) expect(await store.getGallery(ANN.id, id)).toEqual(gallery);
        await expectError(store.getGallery(ANN.id, "next"), "galleryNotFound");
        expect(await store.waitForErasure(Number.POSITIVE_INFINITY)).toBe(true);
        expect(await executeAt(location, "select person_id from gallery_faces")).toEqual([
          { person_id: "a" },
        ]);
        // A replica that had read the successor follows.
        const { token } = gallery;
        const since = { until: -1, version: undefined };
        expect(await store.readChanges(key, since)).toMatchObject({
          until: 4,
          version: { revision: 4, token },
        });
        const enrolled = await store.enrolFaces(ANN.id, "g", NEXT_MODEL, [newFace("b")], NO_LIMITS);
        expect(enrolled).toMatchObject({ key, revision: 5 });
      });

      test("does not take the place of a gallery that has changed, of itself, or of another user's", async () => {
        await createGallery("g");
        await enrol([newFace("a")]);
        await createSuccessor();
        await store.deletePerson(ANN.id, "g", "a");
        const replace = (id: string, successorId: string, revision?: number) =>
          store.replaceGallery(ANN.id, id, successorId, revision);
        await expectError(replace("g", "next", 1), "galleryChanged");
        await expectError(replace("g", "g"), "galleryNotFound");
        await expectError(replace("none", "next"), "galleryNotFound");
        await expectError(replace("g", "none"), "galleryNotFound");
        await expectError(store.replaceGallery(BOB.id, "g", "next", undefined), "galleryNotFound");
        expect(await store.getGallery(ANN.id, "g")).toMatchObject({ model: MODEL, revision: 2 });
        expect(await replace("g", "next")).toMatchObject({ gallery: { model: NEXT_MODEL, revision: 3 } });
      });

      test("can be created beyond the limit of the plan", async () => {
        await createGallery("g");
        const limits = { maxGalleries: 1 };
        await createSuccessor(limits);
        const another = { id: "h", displayName: "", model: NEXT_MODEL, maxDistance: undefined };
        await expectError(store.createGallery(ANN.id, another, limits), "tooManyGalleries");
      });
    });

    test("no method reaches the gallery of another user", async () => {
      await createGallery("g");
      await enrol([newFace("p")]);
      const page = { size: 10 };
      expect(await store.listGalleries(BOB.id, page)).toEqual([]);
      for (const attempt of [
        () => store.getGallery(BOB.id, "g"),
        () => store.updateGallery(BOB.id, "g", { displayName: "x" }),
        () => store.deleteGallery(BOB.id, "g"),
        () => store.enrolFaces(BOB.id, "g", MODEL, [newFace("p")], NO_LIMITS),
        () => store.getPerson(BOB.id, "g", "p"),
        () => store.listPeople(BOB.id, "g", page),
        () => store.updatePerson(BOB.id, "g", "p", { displayName: "x" }),
        () => store.deletePerson(BOB.id, "g", "p"),
        () => store.deleteFace(BOB.id, "g", "p", "1"),
      ])
        await expectError(attempt(), "galleryNotFound");
      expect(await store.getGallery(ANN.id, "g")).toMatchObject({ people: 1, faces: 1, revision: 1 });
    });

    describe("faces", () => {
      beforeEach(() => createGallery("g"));

      test("are enrolled and read with their people", async () => {
        const faces = [newFace("ann", "1", { displayName: "Ann" }), newFace("ann", "2"), newFace("bob")];
        expect(await enrol(faces)).toMatchObject({ people: 2, faces: 3, revision: 1 });
        expect(await readAll()).toMatchObject([
          { personId: "ann", faceId: "1", displayName: "Ann", embedding: faces[0]!.embedding },
          { personId: "ann", faceId: "2", displayName: "Ann", embedding: faces[1]!.embedding },
          { personId: "bob", faceId: "1", displayName: "", embedding: faces[2]!.embedding },
        ]);
        expect(await store.getPerson(ANN.id, "g", "ann")).toMatchObject({
          id: "ann",
          displayName: "Ann",
          faces: [{ id: "1" }, { id: "2" }],
        });
        const page = await store.listPeople(ANN.id, "g", { after: "ann", size: 5 });
        expect(page).toMatchObject({ people: [{ id: "bob", faces: [{ id: "1" }] }], isLast: true });
        expect(await store.updatePerson(ANN.id, "g", "bob", { displayName: "Bob" })).toMatchObject({
          displayName: "Bob",
        });
      });

      test("with the same ids are one face, and the last template counts", async () => {
        const [first, second] = [newFace("p", "f", { displayName: "P" }), newFace("p", "f")];
        await enrol([first]);
        expect(await enrol([second, second])).toMatchObject({ people: 1, faces: 1 });
        expect(await readAll()).toMatchObject([{ displayName: "P", embedding: second.embedding }]);
      });

      test("are read in pages", async () => {
        const ids = Array.from({ length: 7 }, (_, i) => `p${i % 3}/${i}`);
        await enrol(ids.map((id) => newFace(...(id.split("/") as [string, string]))));
        const { key } = await store.getGallery(ANN.id, "g");
        const read: string[] = [];
        for (let page = await store.readFaces(key, { size: 2 }); page.length > 0; ) {
          read.push(...page.map(({ personId, faceId }) => `${personId}/${faceId}`));
          page = await store.readFaces(key, { after: page.at(-1), size: 2 });
        }
        expect(read).toEqual(ids.toSorted());
      });

      test("are listed with their people, in pages that end after about a thousand faces", async () => {
        const people = Array.from({ length: 120 }, (_, i) => `p${String(i).padStart(3, "0")}`);
        for (let i = 0; i < people.length; i += 5)
          await enrol(people.slice(i, i + 5).flatMap((person) => facesOfPerson(person)));
        const listed: (readonly [string, number])[] = [];
        for (let after: string | undefined, isLast = false; !isLast; after = listed.at(-1)![0]) {
          const page = await store.listPeople(ANN.id, "g", { after, size: 1_000 });
          const found = page.people.map(({ id, faces }) => [id, faces.length] as const);
          expect(found.reduce((sum, [, faces]) => sum + faces, 0)).toBeLessThanOrEqual(1_020);
          listed.push(...found);
          isLast = page.isLast;
        }
        expect(listed).toEqual(people.map((person) => [person, MAX_FACES_PER_PERSON]));
        const one = await store.listPeople(ANN.id, "g", { size: 1 });
        expect(one).toMatchObject({ people: [{ id: "p000" }], isLast: false });
      });

      test("are limited in number, all or none", async () => {
        const limits = { maxGalleryFaces: 3 };
        await enrol([newFace("a"), newFace("b")], "g", limits);
        await expectError(enrol([newFace("c"), newFace("d")], "g", limits), "tooManyFaces");
        expect(await store.getGallery(ANN.id, "g")).toMatchObject({ people: 2, faces: 2, revision: 1 });
        expect(await enrol([newFace("a"), newFace("c")], "g", limits)).toMatchObject({ faces: 3 });
      });

      test("of one person are limited in number", async () => {
        const many = Array.from({ length: MAX_FACES_PER_PERSON }, (_, i) => newFace("p", `${i}`));
        await enrol(many);
        await expectError(enrol([newFace("p", "more")]), "tooManyFacesOfPerson");
        await enrol([newFace("p", "0")]);
      });

      test("of another model are rejected", async () => {
        const other = store.enrolFaces(ANN.id, "g", "sface-111111111111", [newFace("p")], NO_LIMITS);
        await expectError(other, "modelMismatch");
        await expect(other).rejects.toThrow(/sface-000000000000.*sface-111111111111/);
      });

      test("are deleted one by one and with their person", async () => {
        await enrol([newFace("a", "1"), newFace("a", "2"), newFace("b")]);
        await store.deleteFace(ANN.id, "g", "a", "1");
        await expectError(store.deleteFace(ANN.id, "g", "a", "1"), "faceNotFound");
        expect(await store.getGallery(ANN.id, "g")).toMatchObject({ people: 2, faces: 2, revision: 2 });
        await store.deletePerson(ANN.id, "g", "a");
        await expectError(store.deletePerson(ANN.id, "g", "a"), "personNotFound");
        await expectError(store.getPerson(ANN.id, "g", "a"), "personNotFound");
        expect(await store.getGallery(ANN.id, "g")).toMatchObject({ people: 1, faces: 1, revision: 3 });
        expect(await readAll()).toMatchObject([{ personId: "b" }]);
      });

      test("enrolled at the same time are all counted", async () => {
        const others = await Promise.all(Array.from({ length: 3 }, openStore));
        const enrolments = Array.from({ length: 30 }, (_, i) =>
          others[i % 3]!.enrolFaces(ANN.id, "g", MODEL, [newFace(`p${i % 10}`, `${i}`)], NO_LIMITS),
        );
        await Promise.all(enrolments);
        expect(await store.getGallery(ANN.id, "g")).toMatchObject({ people: 10, faces: 30, revision: 30 });
      });
    });

    describe("changes", () => {
      beforeEach(() => createGallery("g"));
      const keyOfGallery = async () => (await store.getGallery(ANN.id, "g")).key;
      const changesSince = async (progress: GalleryProgress) => {
        const changes = await store.readChanges(await keyOfGallery(), progress);
        if (typeof changes === "string") return changes;
        const { ids, embeddings } = changes.added;
        return { ...changes, added: Buffer.from(ids).toString().split(",").filter(Boolean), embeddings };
      };
      /** The progress of an index that has everything up to now. */
      const progress = async (): Promise<GalleryProgress> => {
        const { revision, token } = await store.getGallery(ANN.id, "g");
        return { until: revision, version: { revision, token } };
      };

      test("are the added and removed faces since a revision", async () => {
        await enrol([newFace("a", "1"), newFace("a", "2"), newFace("b", "1")]);
        const first = await progress();
        await store.deleteFace(ANN.id, "g", "a", "1");
        await store.deletePerson(ANN.id, "g", "b");
        const face = newFace("a", "1");
        await enrol([face]);
        const last = await progress();
        const key = await keyOfGallery();
        expect(await changesSince(first)).toMatchObject({
          removed: [markOf(key, "a", "1"), markOf(key, "b")],
          added: ["a/1"],
          embeddings: face.embedding,
          ...last,
        });
        expect(await changesSince(last)).toMatchObject({ removed: [], added: [], ...last });
        expect(await changesSince(NOTHING)).toMatchObject({ removed: [], added: ["a/2", "a/1"], ...last });
      });

      test("come in pages that end between two enrolments", async () => {
        for (let i = 0; i < 13; i++)
          await enrol(Array.from({ length: 450 }, (_, k) => newFace(`p${i}-${k}`, "1", { embedding: ZERO })));
        const pages: number[] = [];
        let since = NOTHING;
        do {
          const changes = await changesSince(since);
          if (typeof changes === "string") throw new Error(changes);
          pages.push(changes.added.length);
          since = changes;
        } while (since.until < 13);
        expect(pages).toEqual([5 * 450, 5 * 450, 3 * 450]);
      });

      test("of long ago are unknown", async () => {
        const first = await progress();
        await executeAt(location, "update galleries set revision = 99998 where id = 'g'");
        await enrol([newFace("a")]);
        expect(await changesSince(first)).toMatchObject({ added: ["a/1"] });
        await enrol([newFace("b")]);
        expect(await changesSince(first)).toMatchObject({ added: ["a/1", "b/1"] });
        await executeAt(location, "update galleries set revision = 100099 where id = 'g'");
        await enrol([newFace("c")]);
        expect(await changesSince(first)).toBe("outdated");
      });

      test("of a state that the gallery does not have are unknown", async () => {
        await enrol([newFace("a")]);
        const { version } = await progress();
        const other = { ...version!, token: "of-another-history" };
        const since = (state: GalleryVersion) => changesSince({ until: state.revision, version: state });
        expect(await since(other)).toBe("replaced");
        expect(await since({ ...version!, revision: 2 })).toBe("replaced");
        await enrol([newFace("b")]);
        expect(await since(other)).toBe("replaced");
        expect(await since(version!)).toMatchObject({ added: ["b/1"] });
      });

      test("of a gallery that has been deleted are not found", async () => {
        const key = await keyOfGallery();
        await store.deleteGallery(ANN.id, "g");
        await expectError(store.readChanges(key, NOTHING), "galleryNotFound");
      });
    });

    test("an interrupted deletion is finished", async () => {
      await createGallery("g");
      await enrol([newFace("a"), newFace("b")]);
      await executeAt(location, "update galleries set id = null");
      await createGallery("g");
      store.finishDeletions();
      expect(await store.waitForErasure(Number.POSITIVE_INFINITY)).toBe(true);
      const tables = ["gallery_faces", "gallery_people"];
      for (const table of tables) expect(await executeAt(location, `select * from ${table}`)).toEqual([]);
      expect(await executeAt(location, "select id from galleries")).toEqual([{ id: "g" }]);
    });

    test("the removal of a user takes its galleries", async () => {
      await createGallery("g");
      await enrol([newFace("a")]);
      await store.deleteFace(ANN.id, "g", "a", "1");
      // More than one transaction removes.
      for (let batch = 0; batch < 3; batch++)
        await enrol(
          Array.from({ length: 450 }, (_, i) => newFace(`p${batch}-${i}`, "1", { embedding: ZERO })),
        );
      await createGallery("kept", BOB.id);
      const accounts = await openAccountStore(location);
      await accounts.removeUser(ANN.id);
      expect(await store.getGallery(BOB.id, "kept")).toMatchObject({ id: "kept" });
      await accounts.removeUser(BOB.id);
      await accounts.close();
      for (const table of [
        "galleries",
        "gallery_people",
        "gallery_faces",
        "gallery_removals",
        "gallery_revisions",
        "data_keys",
      ])
        expect(await executeAt(location, `select * from ${table}`)).toEqual([]);
    });
  });
}

const ZERO = new Float32Array(128);
const NOTHING: GalleryProgress = { until: -1, version: undefined };
