import { randomBytes } from "node:crypto";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import { openDatabase } from "../../src/database/open-database.ts";
import type { SqlDatabase } from "../../src/database/sql-database.ts";
import { requireMasterKeys } from "../../src/galleries/data-keys.ts";
import type { GalleryChanges, GalleryStore, NewFace } from "../../src/galleries/gallery-store.ts";
import { NO_MASTER_KEYS, parseMasterKeys } from "../../src/galleries/master-keys.ts";
import { createSqlGalleryStore } from "../../src/galleries/sql-gallery-store.ts";
import {
  convertTemplates,
  deleteUnusedDataKeys,
  readTemplateStatus,
  rewrapDataKeys,
} from "../../src/galleries/template-encryption.ts";
import { MODEL, NO_LIMITS, newFace } from "./gallery-contract.ts";
import { addUser, createUser, type StoreKind } from "./store-contract.ts";

const createKey = () => randomBytes(32).toString("base64");
const [OLD_TEXT, NEW_TEXT] = [createKey(), createKey()];
export const [OLD, NEW] = [parseMasterKeys(OLD_TEXT), parseMasterKeys(NEW_TEXT)];
const [ANN, BOB] = [createUser("ann"), createUser("bob")];
const NOTHING = { until: -1, version: undefined };
const ALL = { size: 1_000 };

/** How templates are encrypted in a database, as tests. */
export function describeEncryptionContract(kind: string, { createLocation, executeAt }: StoreKind): void {
  describe(`encrypted templates on ${kind}`, () => {
    let location: Awaited<ReturnType<typeof createLocation>>;
    let database: SqlDatabase;
    let [plain, encrypted] = [] as unknown as [GalleryStore, GalleryStore];

    beforeEach(async () => {
      location = await createLocation();
      const accounts = await openAccountStore(location);
      for (const user of [ANN, BOB]) await addUser(accounts, user);
      await accounts.close();
      database = await openDatabase(location);
      onTestFinished(() => database.close());
      [plain, encrypted] = [createSqlGalleryStore(database), createSqlGalleryStore(database, { keys: OLD })];
      for (const user of [ANN, BOB])
        for (const id of ["g", "h"])
          await plain.createGallery(
            user.id,
            { id, displayName: "", model: MODEL, maxDistance: undefined },
            NO_LIMITS,
          );
    });

    const enrol = (store: GalleryStore, faces: readonly NewFace[], galleryId = "g", user = ANN) =>
      store.enrolFaces(user.id, galleryId, MODEL, faces, NO_LIMITS);
    const execute = (sql: string) => executeAt(location, sql);
    const keyOf = async (galleryId: string, user = ANN) => (await plain.getGallery(user.id, galleryId)).key;
    const lengths = async () =>
      (await execute("select length(template) as length from gallery_faces order by length")).map((row) =>
        Number(row.length),
      );
    /** The templates of a gallery by the ids of their faces, by each way to read them, which must agree. */
    async function read(store: GalleryStore, galleryId = "g", user = ANN) {
      const key = await keyOf(galleryId, user);
      const faces = await store.readFaces(key, ALL);
      const found = await store.findFaces(key, faces);
      const changes = await store.readChanges(key, NOTHING);
      if (typeof changes === "string") throw new Error(changes);
      const ids = Buffer.from(changes.added.ids).toString().split(",").filter(Boolean);
      const { embeddings } = changes.added;
      const templates = (list: typeof faces | typeof found) =>
        Object.fromEntries(list.map((face) => [`${face.personId}/${face.faceId}`, face.embedding]));
      expect(templates(found)).toEqual(templates(faces));
      expect(Object.fromEntries(ids.map((id, i) => [id, embeddings.slice(128 * i, 128 * (i + 1))]))).toEqual(
        templates(faces),
      );
      return templates(faces);
    }
    const expected = (faces: readonly NewFace[]) =>
      Object.fromEntries(faces.map((face) => [`${face.personId}/${face.faceId}`, face.embedding]));
    /** Expects that every way to read the gallery of a user fails. */
    async function expectFailure(store: GalleryStore, message: RegExp, galleryId = "g", user = ANN) {
      const key = await keyOf(galleryId, user);
      const ids = [{ personId: "a", faceId: "1" }];
      for (const attempt of [
        () => store.readFaces(key, ALL),
        () => store.findFaces(key, ids),
        () => store.readChanges(key, NOTHING),
      ])
        await expect(attempt()).rejects.toMatchObject({
          name: "TemplateError",
          message: expect.stringMatching(message),
        });
    }
    const convertAll = async (keys = OLD, isEncryption = true) => {
      let changed = 0;
      for await (const page of convertTemplates(database, keys, isEncryption)) changed += page.changed;
      return changed;
    };

    test("are read as they were enrolled, among others that are not encrypted", async () => {
      const faces = Array.from({ length: 30 }, (_, i) => newFace(`p${i}`, i % 2 ? "1" : "a.b_c~d-e"));
      for (const [i, face] of faces.entries()) await enrol(i % 3 ? encrypted : plain, [face]);
      expect(await lengths()).toEqual([...Array(10).fill(512), ...Array(20).fill(540)]);
      expect(await read(encrypted)).toEqual(expected(faces));
      const replaced = faces.map(({ personId, faceId }) => newFace(personId, faceId));
      await enrol(encrypted, replaced);
      expect(await lengths()).toEqual(Array(30).fill(540));
      expect(await read(encrypted)).toEqual(expected(replaced));
    });

    test("stay readable when their gallery replaces another one", async () => {
      const face = newFace("a");
      await enrol(encrypted, [face], "h");
      await encrypted.replaceGallery(ANN.id, "g", "h", undefined);
      expect(await read(encrypted, "g")).toEqual(expected([face]));
    });

    test("cannot be read with another master key or none, and then nothing is enrolled", async () => {
      const face = newFace("a");
      await enrol(encrypted, [face]);
      const rows = () =>
        execute("select person_id, template, master, wrapped from gallery_faces cross join data_keys");
      const before = await rows();
      for (const keys of [NEW, NO_MASTER_KEYS]) {
        await expectFailure(
          createSqlGalleryStore(database, { keys }),
          /master key .* VISAGE_TEMPLATE_KEY lacks/,
        );
        await expect(requireMasterKeys(database, keys)).rejects.toThrow(
          `VISAGE_TEMPLATE_KEY lacks the master key ${OLD.first!.fingerprint}, with which templates are encrypted; it has ${keys.first?.fingerprint ?? "none"}`,
        );
      }
      await expect(enrol(createSqlGalleryStore(database, { keys: NEW }), [newFace("b")])).rejects.toThrow(
        /lacks/,
      );
      expect(await rows()).toEqual(before);
      expect(await read(encrypted)).toEqual(expected([face]));
    });

    test.each([
      ["a flipped bit", "update gallery_faces set template = FLIPPED where person_id = 'a' and id = '1'"],
      [
        "the template of another face",
        `update gallery_faces set template = (select template from gallery_faces
        where person_id = 'b') where person_id = 'a' and id = '1'`,
      ],
      [
        "another gallery",
        `update gallery_faces set gallery_key = (select key from galleries where id = 'h'
        and user_id = '${ANN.id}') where person_id = 'a' and id = '1'`,
      ],
      ["another person", "update gallery_faces set person_id = 'c' where person_id = 'a' and id = '1'"],
      [
        "a truncated template",
        "update gallery_faces set template = substr(template, 1, 539) where person_id = 'a'",
      ],
      [
        "a template of a few bytes",
        "update gallery_faces set template = substr(template, 1, 5) where person_id = 'a'",
      ],
    ])("that are moved or damaged are not read, and others are: %s", async (_, sql) => {
      const [kept, other] = [newFace("k"), newFace("z")];
      await enrol(encrypted, [newFace("a"), newFace("b"), newFace("c", "2")]);
      await enrol(encrypted, [newFace("a", "2")], "h");
      await enrol(encrypted, [kept], "h", BOB);
      await enrol(encrypted, [other], "g", BOB);
      const [row] = await execute("select template from gallery_faces where person_id = 'a' and id = '1'");
      const bytes = Buffer.from(row!.template as Uint8Array);
      bytes[100]! ^= 1;
      const literal =
        location.databaseUrl === undefined ? `x'${bytes.toString("hex")}'` : `'\\x${bytes.toString("hex")}'`;
      await execute(sql.replace("FLIPPED", literal));
      const galleryId = sql.includes("set gallery_key") ? "h" : "g";
      const key = await keyOf(galleryId);
      for (const attempt of [() => encrypted.readFaces(key, ALL), () => encrypted.readChanges(key, NOTHING)])
        await expect(attempt()).rejects.toMatchObject({
          name: "TemplateError",
          message: expect.stringMatching(/^The template [0-9a-f-]{36}\/[ac]\/1 cannot be decrypted/),
        });
      expect(await read(encrypted, "h", BOB)).toEqual(expected([kept]));
      expect(await read(encrypted, "g", BOB)).toEqual(expected([other]));
    });

    test("with the data key of another user, a damaged one or none are not read", async () => {
      await enrol(encrypted, [newFace("a")]);
      await enrol(encrypted, [newFace("a")], "g", BOB);
      await execute(
        `update data_keys set wrapped = (select wrapped from data_keys where user_id = '${BOB.id}')`,
      );
      await expectFailure(encrypted, /^The data key of the user .* cannot be decrypted/);
      expect(Object.keys(await read(encrypted, "g", BOB))).toEqual(["a/1"]);
      await expect(enrol(encrypted, [newFace("b")])).rejects.toThrow(/^The data key of the user/);
      await execute("update data_keys set wrapped = substr(wrapped, 1, 20)");
      await expectFailure(encrypted, /^The data key of the user/, "g", BOB);
      await execute("delete from data_keys");
      await expectFailure(encrypted, /data key of the user is missing$/);
    });

    test("have one data key for each user, whoever enrols first", async () => {
      const stores = await Promise.all(
        Array.from({ length: 4 }, async () => {
          const another = await openDatabase(location);
          onTestFinished(() => another.close());
          return createSqlGalleryStore(another, { keys: OLD });
        }),
      );
      const faces = Array.from({ length: 8 }, (_, i) => newFace(`p${i}`));
      const enrolments = faces.map((face, i) => enrol(stores[i % 4]!, [face], i % 2 ? "g" : "h"));
      await Promise.all(enrolments);
      expect(await execute("select count(*) as count from data_keys")).toEqual([
        { count: location.databaseUrl === undefined ? 1 : "1" },
      ]);
      expect({ ...(await read(encrypted, "g")), ...(await read(encrypted, "h")) }).toEqual(expected(faces));
    });

    test("are made of stored ones while others are enrolled, searched and deleted, also after an interruption", async () => {
      const faces = Array.from({ length: 900 }, (_, i) => newFace(`p${i}`));
      for (let i = 0; i < faces.length; i += 100) await enrol(plain, faces.slice(i, i + 100));
      await enrol(plain, [newFace("b")], "h", BOB);
      for await (const { seen } of convertTemplates(database, OLD, true)) if (seen === 200) break;
      const { plain: left, encrypted: done } = await readTemplateStatus(database);
      expect([left + done, done]).toEqual([901, expect.toBeOneOf([200, 201])]);

      const another = await openDatabase(location);
      onTestFinished(() => another.close());
      const service = createSqlGalleryStore(another, { keys: OLD });
      const current = new Map(faces.map((face) => [face.personId, face]));
      let isConverting = true;
      const use = async () => {
        for (let i = 0; isConverting && i < 300; i++) {
          const [replaced, removed] = [newFace(`p${(i * 7) % 600}`), `p${600 + i}`];
          await enrol(service, [replaced]);
          await service.deletePerson(ANN.id, "g", removed);
          current.set(replaced.personId, replaced);
          current.delete(removed);
          if (i % 10 === 0) expect(await read(service)).toBeDefined();
        }
      };
      const using = use();
      expect(await convertAll()).toBeGreaterThan(0);
      isConverting = false;
      await using;
      // Whatever the service has replaced, it has encrypted.
      expect(await readTemplateStatus(database)).toMatchObject({ plain: 0, encrypted: current.size + 1 });
      const all = await service.readFaces(await keyOf("g"), { size: 2_000 });
      expect(Object.fromEntries(all.map((face) => [`${face.personId}/1`, face.embedding]))).toEqual(
        expected([...current.values()]),
      );
      expect(await convertAll()).toBe(0);
    }, 60_000);

    test("keep their revision when they are encrypted, so that indexes stay valid", async () => {
      await enrol(plain, [newFace("a")]);
      const since = (await plain.readChanges(await keyOf("g"), NOTHING)) as GalleryChanges;
      await convertAll();
      expect(await encrypted.readChanges(await keyOf("g"), since)).toMatchObject({
        until: since.until,
        added: { ids: new Uint8Array() },
      });
    });

    test("get another master key without being changed", async () => {
      const faces = [newFace("a"), newFace("b")];
      await enrol(encrypted, [faces[0]!]);
      await enrol(encrypted, [newFace("a")], "g", BOB);
      const templates = await execute("select template from gallery_faces order by gallery_key");
      // The replicas know the new key before one uses it.
      const [reading, writing] = [`${OLD_TEXT} ${NEW_TEXT}`, `${NEW_TEXT}\n${OLD_TEXT}`].map((text) =>
        createSqlGalleryStore(database, { keys: parseMasterKeys(text) }),
      );
      const keys = parseMasterKeys(`${NEW_TEXT} ${OLD_TEXT}`);
      expect(await rewrapDataKeys(database, NEW.first!, keys)).toBe(2);
      expect(await rewrapDataKeys(database, NEW.first!, keys)).toBe(0);
      expect(await execute("select template from gallery_faces order by gallery_key")).toEqual(templates);
      await enrol(reading!, [faces[1]!]);
      for (const store of [reading!, writing!, createSqlGalleryStore(database, { keys: NEW })])
        expect(await read(store)).toEqual(expected(faces));
      await expectFailure(encrypted, /lacks/);
      expect((await readTemplateStatus(database)).dataKeys).toEqual(new Map([[NEW.first!.fingerprint, 2]]));
    });

    test("are decrypted, and data keys deleted that are not used", async () => {
      const faces = [newFace("a"), newFace("b")];
      await enrol(encrypted, faces);
      await enrol(encrypted, [newFace("a")], "g", BOB);
      const keys = parseMasterKeys(`plain ${OLD_TEXT}`);
      const service = createSqlGalleryStore(database, { keys });
      expect(await convertAll(keys, false)).toBe(3);
      await enrol(encrypted, [newFace("z")], "g", BOB);
      expect(await deleteUnusedDataKeys(database)).toBe(1);
      await enrol(service, [faces[0]!]);
      expect(await lengths()).toEqual([512, 512, 512, 540]);
      expect(await read(plain)).toEqual(expected(faces));
      expect(Object.keys(await read(service, "g", BOB)).toSorted()).toEqual(["a/1", "z/1"]);
    });
  });
}
