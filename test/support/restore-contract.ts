import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Environment } from "../../src/config.ts";
import type { RunningService } from "../../src/main.ts";
import {
  createGalleryClient,
  embeddingSource,
  enrol,
  type GalleryClient,
  identify,
  type TestPerson,
  testPeople,
} from "./galleries.ts";
import { captureLog } from "./log.ts";
import { startTestService, USER } from "./service.ts";

/** A database that can be saved and restored while services use it. */
export interface RestorableDatabase {
  /** The settings of services that share the database. */
  readonly env: Environment;
  backUp(): Promise<void>;
  restore(): Promise<void>;
}

/** What services do when their database is restored, as tests. Each of `readers` of them reads the gallery again. */
export function describeRestoreContract(
  kind: string,
  open: () => Promise<RestorableDatabase>,
  readers = 2,
): void {
  describe(`two services whose database on ${kind} is restored`, () => {
    const [kept, deleted, lost, other, last] = testPeople(5, 1) as [TestPerson, ...TestPerson[]];
    const log = captureLog();
    let database: RestorableDatabase;
    let services: RunningService[] = [];
    let clients: GalleryClient[];

    beforeAll(async () => {
      database = await open();
      for (let i = 0; i < 2; i++) services.push(await startTestService(database.env, log.log));
      clients = services.map((service) => createGalleryClient(service, USER));
    });
    afterAll(async () => {
      for (const service of services) await service.close();
      services = [];
    });

    /** Expects that both services find these people, and nobody else. */
    async function expectPeople(galleryId: string, people: readonly (TestPerson | undefined)[]) {
      for (const client of clients)
        for (const person of [kept, deleted, lost, other, last]) {
          const response = await client.identifyFaces({
            galleryId,
            source: embeddingSource(person!.values),
          });
          expect(response.stale).toBe(false);
          expect(await identify(client, galleryId, person!)).toEqual(
            people.includes(person) ? [person!.personId] : [],
          );
        }
    }
    const reloads = () => log.events("gallery reloaded");

    test.each([
      ["a lower revision", 0],
      ["the same revision", 2],
      ["a higher revision", 3],
    ])("find the people of the database, at %s than before", async (_, changes) => {
      const galleryId = `g${changes}`;
      const [one] = clients as [GalleryClient];
      await one.createGallery({ galleryId });
      await enrol(one, galleryId, kept);
      await enrol(one, galleryId, deleted!);
      await expectPeople(galleryId, [kept, deleted]);
      await database.backUp();
      await one.deletePerson({ galleryId, personId: deleted!.personId });
      await enrol(one, galleryId, lost!);
      await expectPeople(galleryId, [kept, lost]);
      const before = reloads().length;
      await database.restore();
      // The changes after the restore have the revisions of those before it.
      const enrolled = [other, last].slice(0, Math.max(0, changes - 1));
      if (changes > 0) await one.deletePerson({ galleryId, personId: kept.personId });
      for (const person of enrolled) await enrol(one, galleryId, person!);
      await expectPeople(galleryId, changes > 0 ? [deleted, ...enrolled] : [kept, deleted]);
      expect(reloads().slice(before)).toEqual(
        Array(readers).fill(
          expect.objectContaining({ level: "warn", resource: `galleries/${galleryId}`, cause: "replaced" }),
        ),
      );
      const { gallery } = await one.getGallery({ galleryId });
      expect(gallery!.revision).toBe(BigInt(2 + changes));
    });
  });
}
