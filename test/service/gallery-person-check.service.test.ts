// EnrolFace with `check_person`: compares a face with its person before it is stored.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import { GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import type { AccountStore } from "../../src/accounts/account-store.ts";
import { hashKey } from "../../src/accounts/key.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import type { RunningService } from "../../src/main.ts";
import type { Permission } from "../../src/permissions.ts";
import { addTestUser, newKey } from "../support/accounts.ts";
import { readAudit } from "../support/audit.ts";
import { createGalleryClient, embeddingSource, type GalleryClient } from "../support/galleries.ts";
import { photograph } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";
import { createUnaryClients } from "../support/unary-clients.ts";
import { randomVectors } from "../support/vectors.ts";

const NORM = 0.45;
const [ANN, BOB, SIDE, STRANGER] = randomVectors(4, 11) as Float32Array[] as [
  Float32Array,
  Float32Array,
  Float32Array,
  Float32Array,
];

/** A template at a distance from another one, in the direction of `SIDE`. */
function near(vector: Float32Array, distance: number): number[] {
  const dot = vector.reduce((sum, value, i) => sum + value * SIDE[i]!, 0) / NORM ** 2;
  const side = SIDE.map((value, i) => value - dot * vector[i]!);
  const angle = 2 * Math.asin(distance / (2 * NORM));
  const scale = (Math.sin(angle) * NORM) / Math.hypot(...side);
  return [...vector.map((value, i) => Math.cos(angle) * value + scale * side[i]!)];
}

let service: RunningService;
let store: AccountStore;
const dataDir = mkdtempSync(join(tmpdir(), "visage-person-check-"));
const auditPath = join(dataDir, "audit.jsonl");
beforeAll(async () => {
  service = await startTestService({ VISAGE_DATA_DIR: dataDir, VISAGE_AUDIT: auditPath });
  store = await openAccountStore({ databaseUrl: undefined, dataDir });
});
afterAll(async () => {
  await store.close();
  await service.close();
  rmSync(dataDir, { recursive: true });
});

let galleries = 0;
let galleryId: string;
let client: GalleryClient;
beforeEach(async () => {
  galleryId = `g${++galleries}`;
  client = createGalleryClient(service, USER);
  await client.createGallery({ galleryId });
});

const enrolment = (personId: string, values: number[], faceId = "") => ({
  galleryId,
  personId,
  faceId,
  source: embeddingSource(values),
});
const enrol = (...face: Parameters<typeof enrolment>) => client.enrolFace(enrolment(...face));
const check = (...face: Parameters<typeof enrolment>) =>
  client.enrolFace({ ...enrolment(...face), checkPerson: true });

/** The reason and the metadata of an error, without its code. */
async function refusalOf(call: Promise<unknown>) {
  const error = ConnectError.from(await call.catch((fault: unknown) => fault));
  const { reason, metadata } = error.findDetails(ErrorInfoSchema)[0]!;
  const { person_distance: own, other_person_id: id, other_distance: other } = metadata;
  return { code: error.code, reason, own, id, other };
}

const UNLIKE = { code: Code.FailedPrecondition, reason: "FACE_UNLIKE_PERSON" };
const OF_ANOTHER = { code: Code.FailedPrecondition, reason: "FACE_OF_ANOTHER_PERSON" };

describe("an enrolment that checks the person", () => {
  beforeEach(async () => {
    await enrol("ann", [...ANN], "1");
    await enrol("bob", [...BOB], "1");
  });

  test("stores a face that looks like the person and returns both distances", async () => {
    expect(await check("ann", near(ANN, 0.3))).toMatchObject({ personDistance: Math.fround(0.3) });
    expect(await check("eve", [...STRANGER])).toEqual(
      expect.not.objectContaining({ personDistance: expect.anything(), nearestOther: expect.anything() }),
    );
    await enrol("twin", near(ANN, 0.2));
    expect(await check("ann", near(ANN, 0.05), "3")).toMatchObject({
      personDistance: Math.fround(0.05),
      nearestOther: { personId: "twin", distance: Math.fround(0.15) },
    });
    expect(await enrol("ann", [...BOB])).not.toHaveProperty("personDistance");
  });

  test("refuses a face that is far from all faces of the person, and stores nothing", async () => {
    await enrol("ann", near(ANN, 0.1));
    const { revision } = (await client.getGallery({ galleryId })).gallery!;
    expect(await refusalOf(check("ann", [...STRANGER]))).toMatchObject({
      ...UNLIKE,
      own: expect.stringMatching(/^0\.6\d$/),
      id: undefined,
    });
    expect(await refusalOf(check("ann", near(ANN, 0.61)))).toMatchObject(UNLIKE);
    expect((await client.getGallery({ galleryId })).gallery).toMatchObject({ faceCount: 3, revision });
    expect(await check("ann", near(ANN, 0.55))).toMatchObject({ personDistance: Math.fround(0.47) });
  });

  test("refuses a face that is nearer to another person, also for a new person", async () => {
    const ofBob = { ...OF_ANOTHER, id: "bob", other: "0.20" };
    expect(await refusalOf(check("ann", near(BOB, 0.2)))).toMatchObject({
      ...ofBob,
      own: expect.stringMatching(/^0\.\d\d$/),
    });
    expect(await refusalOf(check("new", near(BOB, 0.2)))).toMatchObject({ ...ofBob, own: undefined });
    await expect(client.getPerson({ galleryId, personId: "new" })).rejects.toThrow();
  });

  test("does not compare a face with the one that it replaces", async () => {
    expect(await check("ann", [...STRANGER], "1")).not.toHaveProperty("personDistance");
    expect(await refusalOf(check("ann", [...ANN], "2"))).toMatchObject(UNLIKE);
  });

  test("follows the threshold of the gallery", async () => {
    await client.updateGallery({ galleryId, maxDistance: 0.7 });
    // Everybody is within the threshold; the person is nearer.
    expect(await check("ann", near(ANN, 0.55))).toMatchObject({ personDistance: Math.fround(0.55) });
    await client.updateGallery({ galleryId, maxDistance: 0.3 });
    expect(await check("new", near(BOB, 0.35))).not.toHaveProperty("nearestOther");
  });

  test("is audited with the people whom it found, also if it is refused", async () => {
    const enrolAs = async (requestId: string, personId: string, values: number[]) => {
      const headers = { "x-request-id": requestId };
      await client
        .enrolFace({ ...enrolment(personId, values), checkPerson: true }, { headers })
        .catch(() => {});
      return readAudit(auditPath, requestId);
    };
    const line = { operation: "EnrolFace", people: ["new", "bob"], people_count: 2 };
    expect(await enrolAs("audited-1", "new", near(BOB, 0.2))).toMatchObject([
      { ...line, phase: "start" },
      { ...line, phase: "end", outcome: "FACE_OF_ANOTHER_PERSON" },
    ]);
    expect(await enrolAs("audited-2", "ann", near(ANN, 0.1))).toMatchObject([
      { phase: "start", people: ["ann"] },
      { phase: "end", people: ["ann"], outcome: "ok" },
    ]);
  });

  test("has the same outcome over every protocol", async () => {
    for (const { name, call } of createUnaryClients(service.port, { authorization: `Bearer ${USER}` })) {
      const send = (personId: string, values: number[]) =>
        call(GalleryService.method.enrolFace, { ...enrolment(personId, values, "f"), checkPerson: true });
      await expect(send("ann", [...STRANGER]), name).rejects.toThrow(/^FACE_UNLIKE_PERSON$/);
      await expect(send("ann", [...BOB]), name).rejects.toThrow(/^FACE_OF_ANOTHER_PERSON$/);
      expect(await send("ann", near(ANN, 0.4)), name).toMatchObject({ personDistance: Math.fround(0.4) });
    }
  });
});

test("a photo is compared with the thresholds of its population", async () => {
  const box = { x1: 1487, y1: 263, x2: 1642, y2: 419 };
  const source = (number: 1 | 3, box?: object) => ({
    source: { case: "image", value: { source: { case: "content", value: photograph(number) } } } as const,
    ...(box && { box: box as typeof WOMAN_IN_3 }),
  });
  const WOMAN_IN_3 = { x1: 1064, y1: 254, x2: 1309, y2: 499 };
  const MAN_IN_3 = { x1: 593, y1: 353, x2: 802, y2: 598 };
  const enrol = (personId: string, from: ReturnType<typeof source>) =>
    client.enrolFace({ galleryId, personId, source: from, checkPerson: true, skipQualityCheck: true });
  await enrol("woman", source(1, box));
  expect((await enrol("woman", source(3, WOMAN_IN_3))).personDistance).toBeLessThan(0.45);
  expect(await refusalOf(enrol("woman", source(3, MAN_IN_3)))).toMatchObject(UNLIKE);
  expect(await refusalOf(enrol("man", source(3, WOMAN_IN_3)))).toMatchObject({ ...OF_ANOTHER, id: "woman" });
});

test("a key without the scope wide-distance learns no distance beyond the threshold", async () => {
  const { id } = await addTestUser(store, "checking-user");
  const clientWith = async (...scopes: Permission[]) => {
    const key = `checking-${scopes.join("-")}`;
    await store.addKey(id, newKey(hashKey(key), { scopes }));
    return createGalleryClient(service, key);
  };
  const owner = createGalleryClient(service, "checking-user");
  await owner.createGallery({ galleryId });
  await owner.enrolFace(enrolment("ann", [...ANN]));
  const limited = await clientWith("enrol", "identify", "identify-embedding");
  const checked = { ...enrolment("ann", [...STRANGER]), checkPerson: true };
  expect(await refusalOf(limited.enrolFace(checked))).toMatchObject({ ...UNLIKE, own: undefined });
  expect(await refusalOf(owner.enrolFace(checked))).toMatchObject({ ...UNLIKE, own: expect.any(String) });
  const enrolling = await clientWith("enrol");
  expect(await refusalOf(enrolling.enrolFace(checked))).toMatchObject({ reason: "SCOPE_MISSING" });
});
