import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { AccountStore } from "../../src/accounts/account-store.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import {
  createVisageClient,
  type Galleries,
  type GalleryFace,
  type NewGalleryFace,
  type VisageClient,
  type VisageClientOptions,
  VisageError,
} from "../../src/client/visage-client.ts";
import type { RunningService } from "../../src/main.ts";
import { addTestUser } from "../support/accounts.ts";
import { photograph } from "../support/images.ts";
import { FRAME, startLossyProxy } from "../support/lossy-proxy.ts";
import { startTestService, USER } from "../support/service.ts";
import { randomVectors } from "../support/vectors.ts";

const WOMAN_IN_1 = { x1: 1487, y1: 263, x2: 1642, y2: 419 };
const MANY = 1_010;

let service: RunningService;
/** The accounts of the service, opened a second time. */
let store: AccountStore;
let model: string;
const dataDir = mkdtempSync(join(tmpdir(), "visage-client-galleries-"));
beforeAll(async () => {
  service = await startTestService({ VISAGE_DATA_DIR: dataDir });
  store = await openAccountStore({ databaseUrl: undefined, dataDir });
});
afterAll(async () => {
  await store.close();
  await service.close();
  rmSync(dataDir, { recursive: true });
});

function openClient(options: Partial<VisageClientOptions> = {}): VisageClient {
  const address = `http://127.0.0.1:${service.port}`;
  const client = createVisageClient({ address, apiKey: USER, ...options });
  onTestFinished(() => client.close());
  return client;
}

let ids = 0;
let galleryId: string;
let galleries: Galleries;
beforeEach(async () => {
  galleryId = `g${++ids}`;
  ({ galleries } = openClient());
  ({ model } = await galleries.create(galleryId));
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/** Faces of invented people, ordered by id. */
function inventedFaces(count: number): NewGalleryFace[] {
  return randomVectors(count, 1).map((embedding, i) => ({
    personId: `p${String(i).padStart(6, "0")}`,
    faceId: "f",
    displayName: `Person ${i}`,
    template: { embedding, model },
  }));
}

function withoutTime({ createTime: _, ...face }: GalleryFace): NewGalleryFace {
  return face;
}

/** Opens a client whose first response of a call is lost: the service has processed the call. */
async function openLossyClient(
  isLost: (frameType: number) => boolean,
  options: Partial<VisageClientOptions> = {},
): Promise<Galleries> {
  const port = await startLossyProxy(service.port, (type) => (isLost(type) ? "cut" : "pass"));
  return openClient({ address: `http://127.0.0.1:${port}`, ...options }).galleries;
}

/** Matches the first response only. */
function firstResponse(): (frameType: number) => boolean {
  let responses = 0;
  return (type) => type === FRAME.headers && ++responses === 1;
}

test("a person is enrolled, identified in another photo, renamed and deleted", async () => {
  const enrolled = await galleries.enrolFace(galleryId, "woman", photograph(1), {
    box: WOMAN_IN_1,
    displayName: "The woman",
  });
  expect(enrolled).toMatchObject({
    faceId: expect.stringMatching(/^[\da-f]{16}$/),
    box: expect.objectContaining({ x1: expect.closeTo(WOMAN_IN_1.x1, -2) }),
    revision: 1,
    quality: { usable: true },
    pose: { roll: expect.any(Number) },
  });
  const found = await galleries.identify(galleryId, photograph(3), { maxResults: 5, quality: true });
  expect(found).toMatchObject({ candidatesOnly: false, stale: false, revision: 1, model });
  expect(found.threshold).toBeLessThan(0.47);
  expect(found.falsePositiveRate).toBeLessThan(0.003);
  expect(found.faces.map(({ quality }) => quality?.components.length)).toEqual([12, 12, 12]);
  expect(found.faces.flatMap(({ matches }) => matches)).toEqual([
    {
      personId: "woman",
      displayName: "The woman",
      faceId: enrolled.faceId,
      distance: expect.toSatisfy((distance: number) => distance > 0 && distance < found.threshold),
    },
  ]);
  const strict = await galleries.identify(galleryId, photograph(3), { maxDistance: 0.01 });
  expect(strict.faces.flatMap(({ matches }) => matches)).toEqual([]);

  const renamed = await galleries.updatePerson(galleryId, "woman", { displayName: "Ann" });
  expect(renamed).toEqual({
    personId: "woman",
    displayName: "Ann",
    faces: [{ faceId: enrolled.faceId, createTime: expect.any(Date) }],
    createTime: expect.any(Date),
  });
  expect(await galleries.getPerson(galleryId, "woman")).toEqual(renamed);
  await galleries.deleteFace(galleryId, "woman", enrolled.faceId);
  expect((await galleries.getPerson(galleryId, "woman")).faces).toEqual([]);
  await galleries.deletePerson(galleryId, "woman");
  await expect(galleries.getPerson(galleryId, "woman")).rejects.toMatchObject({
    reason: "PERSON_NOT_FOUND",
    retryable: false,
  });
});

test("templates are enrolled with the caller's face id, and identified", async () => {
  const [face] = inventedFaces(1);
  const enrolled = await galleries.enrolFace(galleryId, "p", face!.template, { faceId: "mine" });
  expect(enrolled).toEqual({ faceId: "mine", box: undefined, revision: 1 });
  const { faces } = await galleries.identify(galleryId, face!.template);
  expect(faces).toMatchObject([
    { box: undefined, matches: [{ personId: "p", displayName: "", faceId: "mine", distance: 0 }] },
  ]);
});

test("a face that is unsuited is rejected with its reason, unless the check is skipped", async () => {
  const blurred = await sharp(photograph(1)).blur(20).toBuffer();
  await expect(galleries.enrolFace(galleryId, "p", blurred)).rejects.toMatchObject({
    reason: "LOW_QUALITY",
    field: "source",
    stage: "quality",
  });
  await galleries.enrolFace(galleryId, "p", new Blob([blurred]), { skipQualityCheck: true });
  expect(await galleries.get(galleryId)).toMatchObject({ peopleCount: 1 });
});

test("a gallery is named, given a threshold, listed and deleted", async () => {
  const id = `${galleryId}-named`;
  const created = await galleries.create(id, { displayName: "Staff", maxDistance: 0.25 });
  expect(created).toEqual({
    galleryId: id,
    displayName: "Staff",
    model,
    maxDistance: 0.25,
    peopleCount: 0,
    faceCount: 0,
    revision: 0,
    createTime: expect.any(Date),
    alias: "",
    readOnly: false,
  });
  await expect(galleries.create(id)).rejects.toMatchObject({ reason: "GALLERY_EXISTS" });
  expect(await galleries.update(id, { displayName: "" })).toMatchObject({
    displayName: "",
    maxDistance: 0.25,
  });
  expect(await galleries.update(id, { maxDistance: 0 })).toMatchObject({ maxDistance: undefined });
  expect((await collect(galleries.list())).map((gallery) => gallery.galleryId)).toContain(id);
  await galleries.delete(id);
  await expect(galleries.get(id)).rejects.toMatchObject({ reason: "GALLERY_NOT_FOUND" });
  await expect(galleries.delete(id)).rejects.toThrow(VisageError);
});

test("a gallery is found by its alias and replaced by another one", async () => {
  const [successorId, alias] = [`${galleryId}-next`, `${galleryId}-alias`];
  await galleries.create(successorId);
  expect(await galleries.update(galleryId, { alias })).toMatchObject({ alias });
  const stale = galleries.replace(galleryId, successorId, { revision: 1_000 });
  await expect(stale).rejects.toMatchObject({ reason: "GALLERY_CHANGED" });
  expect(await galleries.replace(galleryId, successorId)).toMatchObject({ galleryId, alias });
  expect(await galleries.get(alias)).toMatchObject({ galleryId });
  await expect(galleries.get(successorId)).rejects.toMatchObject({ reason: "GALLERY_NOT_FOUND" });
});

describe("with more faces than fit in a page", () => {
  const full = "full";
  let faces: NewGalleryFace[];
  beforeAll(async () => {
    const { galleries, close } = createVisageClient({
      address: `http://127.0.0.1:${service.port}`,
      apiKey: USER,
    });
    ({ model } = await galleries.create(full));
    faces = inventedFaces(MANY);
    // The service enrols faces in batches of 100.
    expect(await galleries.importFaces(full, faces)).toMatchObject({ faceCount: MANY, revision: 11 });
    close();
  });

  test("lists have every person once, by iteration or page by page", async () => {
    const all = await collect(galleries.listPeople(full));
    expect(all.map(({ personId }) => personId)).toEqual(faces.map(({ personId }) => personId));
    const first = await galleries.listPeoplePage(full, { pageSize: 700 });
    const { nextPageToken: pageToken } = first;
    const second = await galleries.listPeoplePage(full, { pageSize: 700, pageToken });
    expect([...first.items, ...second.items]).toEqual(all);
    expect(second.nextPageToken).toBeUndefined();
    const page = await galleries.listPage({ pageSize: 1 });
    expect(page).toEqual({ items: [expect.anything()], nextPageToken: expect.any(String) });
  });

  test("an export has every face, and an import of it into another gallery makes the same", async () => {
    const exported = await collect(galleries.exportFaces(full));
    expect(exported.map(withoutTime)).toEqual(faces);
    const imported = await galleries.importFaces(galleryId, galleries.exportFaces(full));
    expect(imported).toMatchObject({ faceCount: MANY });
    expect((await collect(galleries.exportFaces(galleryId))).map(withoutTime)).toEqual(faces);
    expect(await galleries.get(galleryId)).toMatchObject({ peopleCount: MANY, faceCount: MANY });
  });

  test("an export goes on after the connection is lost", async () => {
    let frames = 0;
    let cuts = 0;
    const lossy = await openLossyClient((type) => {
      if (type !== FRAME.data || ++frames % 20 !== 0 || cuts === 3) return false;
      cuts++;
      return true;
    });
    expect((await collect(lossy.exportFaces(full))).map(withoutTime)).toEqual(faces);
    expect(cuts).toBe(3);
  });

  test("an export fails if the connection is lost more often than it may be retried", async () => {
    const lossy = await openLossyClient((type) => type === FRAME.data, { retries: 1 });
    await expect(collect(lossy.exportFaces(full))).rejects.toMatchObject({
      reason: "UNREACHABLE",
      retryable: true,
    });
  });

  test("an export ends when it is cancelled, left or the client is closed", async () => {
    const controller = new AbortController();
    const read = async (client: VisageClient, stop: () => void) => {
      let count = 0;
      const { signal } = controller;
      for await (const _ of client.galleries.exportFaces(full, { signal })) if (++count === 10) stop();
    };
    const cancelled = { reason: "CANCELLED" };
    const other = openClient();
    await expect(read(other, () => other.close())).rejects.toMatchObject(cancelled);
    await expect(read(openClient(), () => controller.abort())).rejects.toMatchObject(cancelled);
    for await (const _ of galleries.exportFaces(full)) break;
    expect(await galleries.get(full)).toMatchObject({ faceCount: MANY });
  });
});

describe("an import", () => {
  test("is retried if the connection is lost, and can be repeated", async () => {
    const faces = inventedFaces(10);
    const lossy = await openLossyClient(firstResponse());
    for (let repeat = 0; repeat < 2; repeat++)
      expect(await lossy.importFaces(galleryId, faces)).toMatchObject({ faceCount: 10 });
    expect((await collect(galleries.exportFaces(galleryId))).map(withoutTime)).toEqual(faces);
  });

  test("keeps the batches before one that fails", async () => {
    const faces = inventedFaces(5_002);
    const foreign = { ...faces[5_001]!, template: { ...faces[5_001]!.template, model: "another" } };
    const counts: number[] = [];
    const onProgress = (count: number) => void counts.push(count);
    const call = galleries.importFaces(galleryId, [...faces.slice(0, -1), foreign], { onProgress });
    await expect(call).rejects.toMatchObject({
      reason: "MODEL_MISMATCH",
      position: 5_002,
      message: expect.stringMatching(/^Face 5002: The embedding .* The first 5000 faces are stored\.$/),
    });
    expect(counts).toEqual([5_000]);
    expect(await galleries.get(galleryId)).toMatchObject({ faceCount: 5_000 });
  });

  test("counts what is stored of the batch that fails", async () => {
    const faces = inventedFaces(5_202);
    const unnamed = { ...faces[5_201]!, personId: "" };
    await expect(galleries.importFaces(galleryId, [...faces.slice(0, -1), unnamed])).rejects.toMatchObject({
      position: 5_202,
      message: "Face 5202: The field person_id is missing. The first 5200 faces are stored.",
    });
    expect(await galleries.get(galleryId)).toMatchObject({ faceCount: 5_200 });
    await expect(galleries.importFaces("none", faces)).rejects.toMatchObject({
      position: undefined,
      message: "There is no gallery none.",
    });
  });

  test("rejects with the error of its source", async () => {
    async function* source() {
      yield* inventedFaces(1);
      throw new RangeError("no more");
    }
    await expect(galleries.importFaces(galleryId, source())).rejects.toThrow(RangeError);
  });

  test("ends when it is cancelled while its source waits, and closes the source", async () => {
    const controller = new AbortController();
    let isClosed = false;
    const source: AsyncIterable<NewGalleryFace> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => controller.abort()),
        return: async () => {
          isClosed = true;
          return { done: true, value: undefined };
        },
      }),
    };
    const { signal } = controller;
    await expect(galleries.importFaces(galleryId, source, { signal })).rejects.toMatchObject({
      reason: "CANCELLED",
    });
    await expect.poll(() => isClosed).toBe(true);
  });

  test("without faces still fails if the gallery does not exist", async () => {
    expect(await galleries.importFaces(galleryId, [])).toEqual({ faceCount: 0, revision: 0 });
    await expect(galleries.importFaces("none", [])).rejects.toMatchObject({ reason: "GALLERY_NOT_FOUND" });
  });
});

test("people and galleries have times, which can be changed, and an import keeps them", async () => {
  const expireTime = new Date(Date.now() + 86_400_000);
  const [face] = inventedFaces(1);
  await galleries.enrolFace(galleryId, "p", face!.template, { expireTime, displayName: "Ann" });
  const faces = await collect(galleries.exportFaces(galleryId));
  expect(faces).toMatchObject([{ personId: "p", expireTime }]);
  expect(await galleries.updatePerson(galleryId, "p", { ttlSeconds: 0 })).toMatchObject({
    displayName: "Ann",
    expireTime: undefined,
  });
  await galleries.importFaces(galleryId, faces);
  expect(await galleries.getPerson(galleryId, "p")).toMatchObject({ expireTime });
  const { expireTime: end } = await galleries.create(`${galleryId}-x`, { ttlSeconds: 3_600 });
  expect(Math.round((end!.getTime() - Date.now()) / 60_000)).toBe(60);
  expect(await galleries.update(`${galleryId}-x`, { expireTime })).toMatchObject({ expireTime });
});

test("a person in all galleries is exported, and deleted with a receipt", async () => {
  const [other, personId] = [`${galleryId}-x`, `of-${galleryId}`];
  await galleries.create(other, { displayName: "Others" });
  const [one, two] = inventedFaces(2).map(({ template }) => template);
  await galleries.enrolFace(galleryId, personId, one!, { faceId: "1", displayName: "Ann" });
  await galleries.enrolFace(other, personId, two!, { faceId: "2" });
  const exported = await galleries.exportPerson("-", personId);
  expect(exported).toMatchObject([
    { galleryId, personId, displayName: "Ann", faces: [{ faceId: "1", template: one! }] },
    { galleryId: other, galleryDisplayName: "Others", faces: [{ faceId: "2", template: two! }] },
  ]);
  expect(await galleries.exportPerson(other, personId)).toEqual(exported.slice(1));
  expect(await galleries.deletePerson("-", personId)).toEqual({
    personId,
    deletions: [
      { galleryId, faceCount: 1 },
      { galleryId: other, faceCount: 1 },
    ],
    deleteTime: expect.any(Date),
    requestId: expect.stringMatching(/./),
    erasureFinished: true,
  });
  for (const call of [galleries.exportPerson, galleries.deletePerson])
    await expect(call("-", personId)).rejects.toMatchObject({ reason: "PERSON_NOT_FOUND" });
});

describe("when the response is lost", () => {
  test("a deletion that was processed succeeds", async () => {
    await galleries.importFaces(galleryId, inventedFaces(2));
    await (await openLossyClient(firstResponse())).deletePerson(galleryId, "p000000");
    await (await openLossyClient(firstResponse())).deleteFace(galleryId, "p000001", "f");
    expect(await galleries.get(galleryId)).toMatchObject({ peopleCount: 1, faceCount: 0 });
    await (await openLossyClient(firstResponse())).delete(galleryId);
    await expect(galleries.get(galleryId)).rejects.toMatchObject({ reason: "GALLERY_NOT_FOUND" });
  });

  test("a deletion that finds nothing fails at once", async () => {
    await expect(galleries.deletePerson(galleryId, "nobody")).rejects.toMatchObject({
      reason: "PERSON_NOT_FOUND",
    });
  });

  test("a creation is not repeated", async () => {
    const lossy = await openLossyClient(firstResponse());
    await expect(lossy.create(`${galleryId}-new`)).rejects.toMatchObject({ reason: "UNREACHABLE" });
    expect(await galleries.get(`${galleryId}-new`)).toMatchObject({ faceCount: 0 });
  });

  test("an enrolment is repeated", async () => {
    const lossy = await openLossyClient(firstResponse());
    await lossy.enrolFace(galleryId, "p", photograph(3));
    expect(await galleries.get(galleryId)).toMatchObject({ faceCount: 1 });
  });
});

test("a creation that the rate limit rejects is retried", async () => {
  await addTestUser(store, "slow-creator", { requestsPerSecond: 2 });
  const slow = openClient({ apiKey: "slow-creator" }).galleries;
  const created = await Promise.all(["a", "b", "c", "d"].map((id) => slow.create(id)));
  expect(created).toHaveLength(4);
});

test("calls reject after their deadline and when they are cancelled", async () => {
  const { galleries: late } = openClient({ timeoutMs: 1 });
  await expect(late.enrolFace(galleryId, "p", photograph(3))).rejects.toMatchObject({
    reason: "DEADLINE_PASSED",
  });
  const signal = AbortSignal.abort();
  for (const call of [
    () => galleries.get(galleryId, { signal }),
    () => galleries.identify(galleryId, photograph(3), { signal }),
    () => collect(galleries.listPeople(galleryId, { signal })),
    () => collect(galleries.exportFaces(galleryId, { signal })),
    () => galleries.importFaces(galleryId, inventedFaces(1), { signal }),
  ])
    await expect(call()).rejects.toMatchObject({ reason: "CANCELLED", retryable: false });
});
