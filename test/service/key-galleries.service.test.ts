// Keys that can be used for some galleries only.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import type { AccountStore } from "../../src/accounts/account-store.ts";
import { hashKey } from "../../src/accounts/key.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import type { RunningService } from "../../src/main.ts";
import { addTestUser, newKey } from "../support/accounts.ts";
import {
  createGalleryClient,
  embeddingSource,
  enrol,
  type GalleryClient,
  MODEL,
  type TestPerson,
  testPeople,
} from "../support/galleries.ts";
import { startTestService } from "../support/service.ts";

const [PERSON] = testPeople(1, 5) as [TestPerson];

let service: RunningService;
let store: AccountStore;
const dataDir = mkdtempSync(join(tmpdir(), "visage-key-galleries-"));
beforeAll(async () => {
  service = await startTestService({ VISAGE_DATA_DIR: dataDir });
  store = await openAccountStore({ databaseUrl: undefined, dataDir });
});
afterAll(async () => {
  await store.close();
  await service.close();
  rmSync(dataDir, { recursive: true });
});

let users = 0;
/** Of a key for everything. */
let owner: GalleryClient;
/** Of a key for the gallery `staff`, which has the alias `people`. */
let limited: GalleryClient;
/** Of a key for what is named `people`. */
let byAlias: GalleryClient;
beforeEach(async () => {
  const key = `gallery-user-${++users}`;
  const { id } = await addTestUser(store, key);
  const addFor = async (name: string) => {
    await store.addKey(id, newKey(hashKey(`${key}-${name}`), { galleryIds: [name] }));
    return createGalleryClient(service, `${key}-${name}`);
  };
  owner = createGalleryClient(service, key);
  for (const galleryId of ["guests", "staff"]) {
    await owner.createGallery({ galleryId });
    await enrol(owner, galleryId, { ...PERSON, personId: `in-${galleryId}` });
  }
  await owner.updateGallery({ galleryId: "staff", alias: "people" });
  await owner.updateGallery({ galleryId: "guests", alias: "visitors" });
  [limited, byAlias] = [await addFor("staff"), await addFor("people")];
});

const source = embeddingSource(PERSON.values);

/** The outcome of a call: what it returns, or the reason of its error. */
async function outcomeOf<T>(call: Promise<T>): Promise<T | string | undefined> {
  return call.catch((fault: unknown) => ConnectError.from(fault).findDetails(ErrorInfoSchema)[0]?.reason);
}

async function exported(client: GalleryClient, galleryId: string): Promise<string[]> {
  const people: string[] = [];
  for await (const { personId } of client.exportGallery({ galleryId })) people.push(personId);
  return people;
}

async function imported(client: GalleryClient, galleryId: string): Promise<number> {
  const face = { personId: "new", faceId: "f", embedding: { values: PERSON.values, model: MODEL } };
  async function* faces() {
    yield { galleryId, ...face };
    yield { galleryId: "", ...face, faceId: "g" };
  }
  return (await client.importFaces(faces())).faceCount;
}

test.each(["staff", "people"])("the gallery of a key can be used under its name %s", async (galleryId) => {
  for (const client of [limited, byAlias]) {
    const { faces } = await client.identifyFaces({ galleryId, source });
    expect(faces[0]!.matches).toMatchObject([{ personId: "in-staff" }]);
    expect(await exported(client, galleryId)).toContain("in-staff");
    expect(await imported(client, galleryId)).toBe(2);
    await enrol(client, galleryId, { ...PERSON, personId: "one" });
    await client.deletePerson({ galleryId, personId: "one" });
    expect((await client.listGalleries({})).galleries).toMatchObject([{ galleryId: "staff" }]);
  }
});

test.each(["guests", "visitors", "none"])("no other gallery exists for it, such as %s", async (galleryId) => {
  const person = { galleryId, personId: "in-guests" };
  const calls = (client: GalleryClient) => [
    client.getGallery({ galleryId }),
    client.updateGallery({ galleryId, displayName: "mine" }),
    client.deleteGallery({ galleryId }),
    client.replaceGallery({ galleryId, successorId: "staff" }),
    client.replaceGallery({ galleryId: "staff", successorId: galleryId }),
    client.getPerson(person),
    client.listPeople({ galleryId }),
    client.updatePerson({ ...person, displayName: "mine" }),
    client.deletePerson(person),
    client.deleteFace({ ...person, faceId: "f" }),
    enrol(client, galleryId, PERSON),
    client.identifyFaces({ galleryId, source }),
    exported(client, galleryId),
    imported(client, galleryId),
  ];
  for (const client of [limited, byAlias]) {
    const outcomes = await Promise.all(calls(client).map((call) => outcomeOf<unknown>(call)));
    expect(new Set(outcomes)).toEqual(new Set(["GALLERY_NOT_FOUND"]));
  }
  expect(await exported(owner, "guests")).toEqual(["in-guests"]);
  expect(await exported(owner, "staff")).toEqual(["in-staff"]);
});

describe("a key for a gallery", () => {
  test("gives no gallery a name beyond its own", async () => {
    for (const alias of ["visitors", "free"])
      expect(await outcomeOf(limited.updateGallery({ galleryId: "staff", alias }))).toBe("SCOPE_MISSING");
    for (const galleryId of ["guests", "free"])
      expect(await outcomeOf(limited.createGallery({ galleryId }))).toBe("SCOPE_MISSING");
    await limited.deleteGallery({ galleryId: "people" });
    await limited.createGallery({ galleryId: "staff" });
    expect((await owner.getGallery({ galleryId: "visitors" })).gallery!.galleryId).toBe("guests");
  });

  test("can be used for the gallery that takes the name of its own", async () => {
    await owner.updateGallery({ galleryId: "guests", alias: "people" });
    expect(await exported(byAlias, "people")).toEqual(["in-guests"]);
    expect(await outcomeOf(exported(byAlias, "staff"))).toBe("GALLERY_NOT_FOUND");
    expect(await outcomeOf(exported(limited, "people"))).toBe("GALLERY_NOT_FOUND");
    await owner.replaceGallery({ galleryId: "staff", successorId: "guests" });
    for (const client of [limited, byAlias]) expect(await exported(client, "staff")).toEqual(["in-guests"]);
  });

  test("lists pages of its own galleries", async () => {
    const page = await limited.listGalleries({ pageSize: 1 });
    expect(page.galleries).toMatchObject([{ galleryId: "staff" }]);
    const next = await limited.listGalleries({ pageSize: 1, pageToken: page.nextPageToken });
    expect(next).toMatchObject({ galleries: [], nextPageToken: "" });
  });
});
