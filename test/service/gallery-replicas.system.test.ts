import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { AccountStore } from "../../src/accounts/account-store.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import type { RunningService } from "../../src/main.ts";
import { addTestUser } from "../support/accounts.ts";
import {
  createGalleryClient,
  embeddingSource,
  enrol,
  errorOf,
  type GalleryClient,
  identify,
  testPeople,
} from "../support/galleries.ts";
import { hasMilvus, startMilvus, type TestMilvus } from "../support/milvus.ts";
import { hasPostgres, startPostgres, type TestPostgres } from "../support/postgres.ts";
import { startTestService, USER } from "../support/service.ts";

const ROUNDS = 24;
const GALLERY_NOT_FOUND = ["NotFound", "GALLERY_NOT_FOUND"];
const PEOPLE = testPeople(ROUNDS, 1);

const engines = ["memory", ...(hasMilvus ? ["milvus"] : [])];
describe.skipIf(!hasPostgres).each(engines)("two replicas with one PostgreSQL, galleries in %s", (engine) => {
  let postgres: TestPostgres;
  let milvus: TestMilvus | undefined;
  let accounts: AccountStore;
  let services: RunningService[];
  let one: GalleryClient;
  let other: GalleryClient;
  let ids = 0;
  let galleryId: string;

  beforeAll(async () => {
    postgres = await startPostgres();
    milvus = engine === "milvus" ? await startMilvus() : undefined;
    const env = { VISAGE_DATABASE_URL: postgres.url, ...milvus?.env };
    services = [await startTestService(env), await startTestService(env)];
    accounts = await openAccountStore({ databaseUrl: postgres.url, dataDir: "" });
    [one, other] = services.map((service) => createGalleryClient(service, USER)) as [
      GalleryClient,
      GalleryClient,
    ];
  });
  afterAll(async () => {
    await accounts?.close();
    for (const service of services ?? []) await service.close();
    await postgres?.remove();
    await milvus?.remove();
  });
  beforeEach(() => {
    galleryId = `g${++ids}`;
  });

  /** Searches at the other replica without a pause while work runs. Returns the number of searches. */
  async function whileSearching(work: () => Promise<void>): Promise<number> {
    let isDone = false;
    let searches = 0;
    const search = async (start: number) => {
      for (let i = start; !isDone; i++, searches++)
        await identify(other, galleryId, PEOPLE[i % ROUNDS]!).catch((error: unknown) => {
          if (!String(error).includes("no gallery")) throw error;
        });
    };
    const searching = Promise.all([0, 8, 16].map(search));
    searching.catch(() => {});
    await work().finally(() => {
      isDone = true;
    });
    await searching;
    return searches;
  }

  test("agree about people, threshold and revision", async () => {
    await one.createGallery({ galleryId, displayName: "Staff" });
    for (const person of PEOPLE.slice(0, 5)) await enrol(one, galleryId, person);
    const request = { galleryId, source: embeddingSource(PEOPLE[2]!.values), maxResults: 5 };
    const [first, second] = [await one.identifyFaces(request), await other.identifyFaces(request)];
    expect(first).toEqual(second);
    expect(first).toMatchObject({ revision: 5n, stale: false, faces: [{ matches: [{ personId: "p2" }] }] });
    await other.updateGallery({ galleryId, maxDistance: 0.3 });
    await other.updatePerson({ galleryId, personId: "p2", displayName: "Ann" });
    expect(await one.identifyFaces(request)).toMatchObject({
      threshold: Math.fround(0.3),
      revision: 6n,
      faces: [{ matches: [{ personId: "p2", displayName: "Ann" }] }],
    });
    expect(await one.getGallery({ galleryId })).toEqual(await other.getGallery({ galleryId }));
  });

  test("find nobody any more whose deletion the other one has answered", async () => {
    await one.createGallery({ galleryId });
    const searches = await whileSearching(async () => {
      for (const person of PEOPLE) {
        await enrol(one, galleryId, person);
        expect(await identify(other, galleryId, person)).toEqual([person.personId]);
        await one.deletePerson({ galleryId, personId: person.personId });
        expect(await identify(other, galleryId, person)).toEqual([]);
      }
    });
    expect(searches).toBeGreaterThan(ROUNDS);
    expect((await other.getGallery({ galleryId })).gallery).toMatchObject({
      faceCount: 0,
      revision: BigInt(2 * ROUNDS),
    });
  });

  test("find no face any more whose deletion or replacement the other one has answered", async () => {
    await one.createGallery({ galleryId });
    await whileSearching(async () => {
      for (const [i, person] of PEOPLE.entries()) {
        const [next] = testPeople(1, 1000 + i);
        await enrol(one, galleryId, { ...person, personId: "p", faceId: "first" });
        await enrol(one, galleryId, { ...next!, personId: "p", faceId: "second" });
        expect(await identify(other, galleryId, person)).toEqual(["p"]);
        await one.deleteFace({ galleryId, personId: "p", faceId: "first" });
        expect(await identify(other, galleryId, person)).toEqual([]);
        expect(await identify(other, galleryId, next!)).toEqual(["p"]);
      }
      // The face `second` was replaced in every round.
      expect(await identify(other, galleryId, testPeople(1, 1000)[0]!)).toEqual([]);
    });
  });

  test("do not mistake a gallery for an earlier one with the same id", async () => {
    await whileSearching(async () => {
      for (const [i, person] of PEOPLE.entries()) {
        await one.createGallery({ galleryId });
        await enrol(one, galleryId, person);
        expect(await identify(other, galleryId, person)).toEqual([person.personId]);
        await one.deleteGallery({ galleryId });
        if (i % 2 === 0) expect(await errorOf(identify(other, galleryId, person))).toEqual(GALLERY_NOT_FOUND);
        await one.createGallery({ galleryId });
        expect(await identify(other, galleryId, person)).toEqual([]);
        await one.deleteGallery({ galleryId });
      }
    });
  });

  test("find nobody of a user who has been removed", async () => {
    const [person] = PEOPLE;
    const user = await addTestUser(accounts, "leaver");
    const [atOne, atOther] = services.map((service) => createGalleryClient(service, "leaver"));
    await atOne!.createGallery({ galleryId });
    await enrol(atOne!, galleryId, person!);
    expect(await identify(atOther!, galleryId, person!)).toEqual([person!.personId]);
    await accounts.removeUser(user.id);
    // The account itself may be known for a few seconds more.
    const [, reason] = await errorOf(identify(atOther!, galleryId, person!));
    expect(["GALLERY_NOT_FOUND", "UNKNOWN_USER"]).toContain(reason);
  });
});
