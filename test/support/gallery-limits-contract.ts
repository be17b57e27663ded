import { Code, ConnectError } from "@connectrpc/connect";
import { beforeEach, describe, expect, test } from "vitest";
import { ErrorInfoSchema, QuotaFailureSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import type { AccountStore } from "../../src/accounts/account-store.ts";
import { MAX_ENROLMENT_BATCH, MAX_FACES_PER_PERSON } from "../../src/galleries/gallery-store.ts";
import { addTestUser } from "./accounts.ts";
import { enrol, type GalleryClient, MODEL, type TestPerson, testPeople } from "./galleries.ts";

/** Users of the contract, with the limits of their plans. */
const GALLERIES_USER = "a-user-with-five-galleries";
const FACES_USER = "a-user-with-seven-faces";
const IMPORT_USER = "a-user-with-three-batches";
const PERSON_USER = "a-user-without-limits";
const MAX_GALLERIES = 5;
const MAX_FACES = 7;
const MAX_IMPORTED = 3 * MAX_ENROLMENT_BATCH + 30;

const CALLS = 30;
const PEOPLE = testPeople(CALLS, 1);

/** Adds the users whose limits the contract exceeds. */
export async function addLimitedUsers(store: AccountStore): Promise<void> {
  await addTestUser(store, GALLERIES_USER, { maxGalleries: MAX_GALLERIES });
  await addTestUser(store, FACES_USER, { maxGalleryFaces: MAX_FACES });
  await addTestUser(store, IMPORT_USER, { maxGalleryFaces: MAX_IMPORTED });
  await addTestUser(store, PERSON_USER);
}

/** What a call of many at the same time came to: its response, or code, reason and quota of its error. */
type Outcome<T> = { readonly response: T } | { readonly error: readonly (string | undefined)[] };

async function outcomeOf<T>(call: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { response: await call() };
  } catch (fault) {
    const error = ConnectError.from(fault);
    // On a busy machine a call may find no connection to the database in time. It has changed nothing.
    if (error.code === Code.Unavailable) return outcomeOf(call);
    const [info] = error.findDetails(ErrorInfoSchema);
    const [quota] = error.findDetails(QuotaFailureSchema);
    return { error: [Code[error.code], info?.reason ?? error.message, quota?.violations[0]?.subject] };
  }
}

/** Runs calls at the same time. Expects that so many succeed and the others exceed the quota. Returns who succeeded. */
async function expectSuccesses<T>(
  calls: readonly (() => Promise<T>)[],
  successes: number,
  reason: string,
  quota: string,
): Promise<number[]> {
  const outcomes = await Promise.all(calls.map(outcomeOf));
  const errors = outcomes.flatMap((outcome) => ("error" in outcome ? [outcome.error] : []));
  expect(errors).toEqual(
    Array.from({ length: calls.length - successes }, () => ["ResourceExhausted", reason, quota]),
  );
  return outcomes.flatMap((outcome, i) => ("response" in outcome ? [i] : []));
}

async function* facesOf(galleryId: string, people: readonly TestPerson[]) {
  for (const { values, ...ids } of people) yield { galleryId, ...ids, embedding: { values, model: MODEL } };
}

/** The limits of galleries when many calls reach them at the same time, as tests. Calls alternate between replicas. */
export function describeGalleryLimits(clientsOf: (user: string) => readonly GalleryClient[]): void {
  let ids = 0;
  let galleryId: string;
  beforeEach(() => {
    galleryId = `limited${++ids}`;
  });

  /** Prepares a call for each item, at the replicas in turn. */
  function callsFor<T, R>(
    user: string,
    items: readonly T[],
    call: (client: GalleryClient, item: T) => Promise<R>,
  ): (() => Promise<R>)[] {
    const clients = clientsOf(user);
    return items.map((item, i) => () => call(clients[i % clients.length]!, item));
  }

  /** Expects that every replica and every kind of call count the same people and faces. */
  async function expectFaces(user: string, expected: readonly string[]): Promise<void> {
    for (const client of clientsOf(user)) {
      const exported: string[] = [];
      for await (const { personId, faceId } of client.exportGallery({ galleryId }))
        exported.push(`${personId}/${faceId}`);
      const { people } = await client.listPeople({ galleryId, pageSize: 1_000 });
      const listed = people.flatMap(({ personId, faces }) =>
        faces.map(({ faceId }) => `${personId}/${faceId}`),
      );
      expect(exported.toSorted()).toEqual(expected.toSorted());
      expect(listed.toSorted()).toEqual(expected.toSorted());
      // A person without faces would be left by an enrolment that was rejected.
      expect((await client.getGallery({ galleryId })).gallery).toMatchObject({
        faceCount: expected.length,
        peopleCount: new Set(expected.map((name) => name.split("/")[0])).size,
      });
      expect(people.filter(({ faces }) => faces.length === 0)).toEqual([]);
    }
  }

  const nameOf = ({ personId, faceId }: TestPerson) => `${personId}/${faceId}`;

  describe("at the same time", () => {
    test("no more galleries are created than the plan allows", async () => {
      const [client] = clientsOf(GALLERIES_USER);
      const create = (prefix: string) =>
        callsFor(GALLERIES_USER, PEOPLE, (replica, { personId }) =>
          replica.createGallery({ galleryId: prefix + personId }),
        );
      const list = async () =>
        (await client!.listGalleries({})).galleries.map((gallery) => gallery.galleryId).toSorted();
      await client!.createGallery({ galleryId: "first" });
      const room = MAX_GALLERIES - 1;
      const created = await expectSuccesses(create("a-"), room, "TOO_MANY_GALLERIES", "galleries");
      const names = created.map((i) => `a-${PEOPLE[i]!.personId}`);
      expect(await list()).toEqual([...names, "first"].toSorted());
      await Promise.all(names.slice(0, 2).map((name) => client!.deleteGallery({ galleryId: name })));
      await expectSuccesses(create("b-"), 2, "TOO_MANY_GALLERIES", "galleries");
      expect(await list()).toHaveLength(MAX_GALLERIES);
    });

    test("no more faces are enrolled than the plan allows", async () => {
      const [client] = clientsOf(FACES_USER);
      await client!.createGallery({ galleryId });
      const earlier = testPeople(2, 2, "q");
      for (const person of earlier) await enrol(client!, galleryId, person);
      const calls = callsFor(FACES_USER, PEOPLE, (replica, person) => enrol(replica, galleryId, person));
      const enrolled = await expectSuccesses(calls, MAX_FACES - 2, "TOO_MANY_FACES", "faces in a gallery");
      const stored = [...earlier, ...enrolled.map((i) => PEOPLE[i]!)];
      await expectFaces(FACES_USER, stored.map(nameOf));

      // Replacing a face needs no room, and a deleted face leaves room for one.
      const repeated = callsFor(FACES_USER, [...stored, ...stored], (replica, person) =>
        enrol(replica, galleryId, person),
      );
      await expectSuccesses(repeated, repeated.length, "", "");
      await client!.deletePerson({ galleryId, personId: earlier[0]!.personId });
      const others = testPeople(CALLS, 3, "r");
      const again = callsFor(FACES_USER, others, (replica, person) => enrol(replica, galleryId, person));
      const [last] = await expectSuccesses(again, 1, "TOO_MANY_FACES", "faces in a gallery");
      await expectFaces(FACES_USER, [...stored.slice(1), others[last!]!].map(nameOf));
    });

    test("a new face that is enrolled many times takes the room of one", async () => {
      const [client] = clientsOf(FACES_USER);
      await client!.createGallery({ galleryId });
      const earlier = testPeople(MAX_FACES - 1, 2, "q");
      await client!.importFaces(facesOf(galleryId, earlier));
      const calls = callsFor(FACES_USER, PEOPLE, (replica) => enrol(replica, galleryId, PEOPLE[0]!));
      await expectSuccesses(calls, CALLS, "", "");
      await expectFaces(FACES_USER, [...earlier, PEOPLE[0]!].map(nameOf));
    });

    test("new faces that imports have many times take the room of one each", async () => {
      const [client] = clientsOf(FACES_USER);
      await client!.createGallery({ galleryId });
      const once = PEOPLE.slice(0, MAX_FACES);
      const imports = callsFor(FACES_USER, [once, once.toReversed()], (replica, people) =>
        replica.importFaces(facesOf(galleryId, [...people, ...people, ...people])),
      );
      await expectSuccesses(imports, imports.length, "", "");
      await expectFaces(FACES_USER, once.map(nameOf));
    });

    test(`no more than ${MAX_FACES_PER_PERSON} faces of a person are enrolled`, async () => {
      const [client] = clientsOf(PERSON_USER);
      await client!.createGallery({ galleryId });
      const faces = PEOPLE.map(({ values }, i) => ({ personId: "p", faceId: `f${i}`, values }));
      const earlier = faces.slice(0, MAX_FACES_PER_PERSON - 3);
      await client!.importFaces(facesOf(galleryId, earlier));
      const later = faces.slice(earlier.length);
      const calls = callsFor(PERSON_USER, later, (replica, face) => enrol(replica, galleryId, face));
      const enrolled = await expectSuccesses(calls, 3, "TOO_MANY_FACES_OF_PERSON", "faces of a person");
      await expectFaces(PERSON_USER, [...earlier, ...enrolled.map((i) => later[i]!)].map(nameOf));
    });

    test("imports take whole batches up to the limit of the plan", async () => {
      const [client] = clientsOf(IMPORT_USER);
      await client!.createGallery({ galleryId });
      const imports = Array.from({ length: 8 }, (_, i) => testPeople(MAX_ENROLMENT_BATCH, 10 + i, `i${i}-`));
      const calls = callsFor(IMPORT_USER, imports, (replica, people) =>
        replica.importFaces(facesOf(galleryId, people)),
      );
      const imported = await expectSuccesses(calls, 3, "TOO_MANY_FACES", "faces in a gallery");
      const stored = imported.flatMap((i) => imports[i]!);
      await expectFaces(IMPORT_USER, stored.map(nameOf));

      // What is left is less than a batch. Single faces and small imports share it.
      const small = Array.from({ length: 8 }, (_, i) => testPeople(10, 20 + i, `j${i}-`));
      const smallCalls = callsFor(IMPORT_USER, small, (replica, people) =>
        replica.importFaces(facesOf(galleryId, people)),
      );
      const added = await expectSuccesses(smallCalls, 3, "TOO_MANY_FACES", "faces in a gallery");
      await expectFaces(IMPORT_USER, [...stored, ...added.flatMap((i) => small[i]!)].map(nameOf));
    });

    test("an import of several batches that exceeds the limit keeps those before", async () => {
      const [client] = clientsOf(IMPORT_USER);
      await client!.createGallery({ galleryId });
      const imports = [0, 1, 2, 3].map((i) => testPeople(2 * MAX_ENROLMENT_BATCH, 30 + i, `i${i}-`));
      const calls = callsFor(IMPORT_USER, imports, (replica, people) =>
        replica.importFaces(facesOf(galleryId, people)),
      );
      const outcomes = await Promise.all(calls.map(outcomeOf));
      const exported: string[] = [];
      for await (const { personId } of client!.exportGallery({ galleryId })) exported.push(personId);
      expect(exported).toHaveLength(3 * MAX_ENROLMENT_BATCH);
      for (const [i, outcome] of outcomes.entries()) {
        const stored = exported.filter((personId) => personId.startsWith(`i${i}-`)).length;
        if ("response" in outcome) expect(stored).toBe(imports[i]!.length);
        else {
          expect(outcome.error).toEqual(["ResourceExhausted", "TOO_MANY_FACES", "faces in a gallery"]);
          expect([0, MAX_ENROLMENT_BATCH]).toContain(stored);
        }
      }
    });
  });
}
