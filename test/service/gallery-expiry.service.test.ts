// How long people and galleries are kept, and what a person can have: over gRPC and plain HTTP.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { durationFromMs, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import { createSqlStore } from "../../src/accounts/sql-store.ts";
import { runOne } from "../../src/database/delete-in-batches.ts";
import { openDatabase } from "../../src/database/open-database.ts";
import type { RunningService } from "../../src/main.ts";
import { addTestUser } from "../support/accounts.ts";
import { readAudit } from "../support/audit.ts";
import {
  createGalleryClient,
  embeddingSource,
  enrol,
  type GalleryClient,
  identify,
  MODEL,
  testPeople,
} from "../support/galleries.ts";
import { photograph } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";
import { longestTurn } from "../support/turns.ts";

const DAY_MS = 86_400_000;
/** A user of a plan with the default of 30 days and the longest time of 60 days. */
const PLAN_USER = "a-user-with-a-retention";
const PAST = timestampFromDate(new Date("2026-01-01T00:00:00Z"));
const [ANN, BEN, EVE] = testPeople(3, 1) as [TestPerson, TestPerson, TestPerson];
type TestPerson = ReturnType<typeof testPeople>[number];

let dataDir: string;
let service: RunningService;
let auditPath: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "visage-expiry-"));
  const store = createSqlStore(await openDatabase({ databaseUrl: undefined, dataDir }));
  await addTestUser(store, PLAN_USER, { defaultRetentionDays: 30, maxRetentionDays: 60 });
  await store.close();
  auditPath = join(dataDir, "audit.jsonl");
  service = await startTestService({
    VISAGE_DATA_DIR: dataDir,
    VISAGE_TRIAL_USER: USER,
    VISAGE_AUDIT: auditPath,
  });
  galleries = createGalleryClient(service, USER);
});
afterAll(async () => {
  await service.close();
  await rm(dataDir, { recursive: true });
});

let galleries: GalleryClient;
let ids = 0;
let galleryId: string;
beforeEach(async () => {
  galleryId = `g${++ids}`;
  await galleries.createGallery({ galleryId });
});

const inDays = (days: number) => timestampFromDate(new Date(Date.now() + days * DAY_MS));
const ttl = (days: number) => ({ case: "ttl", value: durationFromMs(days * DAY_MS) }) as const;
const expireTime = (value: ReturnType<typeof inDays>) => ({ case: "expireTime", value }) as const;

async function importPeople(
  people: readonly (TestPerson & { expiration?: ReturnType<typeof expireTime> })[],
  id = galleryId,
) {
  return galleries.importFaces(
    (async function* () {
      for (const { values, ...person } of people)
        yield { galleryId: id, ...person, embedding: { values, model: MODEL } };
    })(),
  );
}

/** The code, the field and the text of the error with which a call fails. */
async function errorOf(call: Promise<unknown>) {
  const error = await call.then(
    () => expect.fail("The call succeeded."),
    (fault: unknown) => ConnectError.from(fault),
  );
  const { reason, metadata } = error.findDetails(ErrorInfoSchema)[0] ?? {};
  return [Code[error.code], reason, metadata?.field, error.rawMessage];
}

/** Sends a request of plain HTTP. */
async function send(path: string, { method = "GET", body, user = USER }: Record<string, string> = {}) {
  const response = await fetch(`http://127.0.0.1:${service.port}/v1/galleries${path}`, {
    method: method!,
    headers: { "x-api-key": user!, "content-type": "application/json" },
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  return { status: response.status, id: response.headers.get("x-request-id"), text };
}

describe("a person", () => {
  test("has the time that is given, in reads and exports, and an import keeps it", async () => {
    const time = inDays(7);
    await enrol(galleries, galleryId, BEN);
    await galleries.enrolFace({
      galleryId,
      personId: ANN.personId,
      source: embeddingSource(ANN.values),
      expiration: expireTime(time),
    });
    const read = async () => (await galleries.getPerson({ galleryId, personId: ANN.personId })).person!;
    expect(await read()).toMatchObject({ expireTime: time });
    const { people } = await galleries.listPeople({ galleryId });
    expect(people.map(({ expireTime }) => expireTime)).toEqual([time, undefined]);
    const exported = (await send(`/${galleryId}:export`)).text;
    const [line] = exported.split("\n").map((text) => text && JSON.parse(text));
    expect(Date.parse(line.expireTime)).toBe(timestampDate(time).getTime());

    await galleries.updatePerson({ galleryId, personId: ANN.personId, displayName: "Ann" });
    expect(await read()).toMatchObject({ expireTime: time, displayName: "Ann" });
    await galleries.updatePerson({ galleryId, personId: ANN.personId, expiration: ttl(0) });
    expect(await read()).toMatchObject({ displayName: "Ann" });
    expect((await read()).expireTime).toBeUndefined();
    await send(`/${galleryId}:import`, { method: "POST", body: exported });
    expect(await read()).toMatchObject({ expireTime: time });
    const body = JSON.stringify({ ttl: "86400s" });
    const path = `/${galleryId}/people/${ANN.personId}`;
    expect((await send(path, { method: "PATCH", body })).status).toBe(200);
    const inMs = timestampDate((await read()).expireTime!).getTime() - Date.now();
    expect(Math.round(inMs / DAY_MS)).toBe(1);
  });

  test.each(["ttl=86400s", "expireTime=2099-01-31T00:00:00Z"])(
    "can be enrolled by a form with %s",
    async (query) => {
      const form = new FormData();
      form.append("source", new Blob([new Uint8Array(photograph(3))]), "photo.jpg");
      const path = `/v1/galleries/${galleryId}/people/p/faces?${query}`;
      const response = await fetch(`http://127.0.0.1:${service.port}${path}`, {
        method: "POST",
        headers: { "x-api-key": USER },
        body: form,
      });
      expect([response.status, await response.text()]).toEqual([200, expect.anything()]);
      const { person } = await galleries.getPerson({ galleryId, personId: "p" });
      expect(person!.expireTime).toBeDefined();
    },
  );

  test("whose time is over is found by no request, and its removal is audited once", async () => {
    await importPeople([{ ...ANN, expiration: expireTime(PAST) }, BEN]);
    expect(await identify(galleries, galleryId, ANN)).toEqual([]);
    expect(await identify(galleries, galleryId, BEN)).toEqual([BEN.personId]);
    const call = galleries.getPerson({ galleryId, personId: ANN.personId });
    expect((await errorOf(call))[1]).toBe("PERSON_NOT_FOUND");
    const { gallery } = await galleries.getGallery({ galleryId });
    expect(gallery).toMatchObject({ peopleCount: 1, faceCount: 1, revision: 2n });
    const audited = () => readAudit(auditPath).filter(({ operation }) => operation === "ExpirePerson");
    const line = { source: "expiry", gallery: galleryId, people: [ANN.personId], faces: 1 };
    await expect.poll(audited).toMatchObject([
      { ...line, user: expect.any(String), phase: "start" },
      { ...line, phase: "end", outcome: "ok" },
    ]);
  });

  test("cannot get a time that is not allowed", async () => {
    const enrolUntil = (client: GalleryClient, expiration: ReturnType<typeof ttl | typeof expireTime>) =>
      client.enrolFace({ galleryId, personId: "p", source: embeddingSource(EVE.values), expiration });
    const limited = createGalleryClient(service, PLAN_USER);
    await limited.createGallery({ galleryId });
    const TOO_LATE = /must be at most 60 days from now, the longest time of the plan/;
    const cases = [
      [galleries, expireTime(PAST), "expire_time", /must be in the future/],
      [galleries, ttl(-1), "ttl", /cannot be negative/],
      [limited, ttl(61), "ttl", TOO_LATE],
      [limited, ttl(0), "ttl", TOO_LATE],
      [limited, expireTime(inDays(61)), "expire_time", TOO_LATE],
    ] as const;
    for (const [client, expiration, field, text] of cases) {
      const call = enrolUntil(client, expiration);
      expect(await errorOf(call)).toEqual([
        "InvalidArgument",
        "BAD_REQUEST",
        field,
        expect.stringMatching(text),
      ]);
    }
    const face = { personId: "p", embedding: { values: EVE.values, model: MODEL }, ttl: "8640000s" };
    const imported = await send(`/${galleryId}:import`, {
      method: "POST",
      body: JSON.stringify(face),
      user: PLAN_USER,
    });
    expect(imported.text).toMatch(/Line 1: The field ttl must be at most 60 days/);
    await enrolUntil(limited, ttl(60));
    await limited.enrolFace({ galleryId, personId: "q", source: embeddingSource(BEN.values) });
    const { person } = await limited.getPerson({ galleryId, personId: "q" });
    const inMs = timestampDate(person!.expireTime!).getTime() - Date.now();
    expect(Math.round(inMs / DAY_MS)).toBe(30);
  });

  test("can be one of thousands whose time is over, without long turns of the event loop", async () => {
    // The measurement has three runs.
    const galleryIds = ["x", "y", "z"].map((suffix) => `${galleryId}-${suffix}`);
    for (const id of galleryIds) {
      await galleries.createGallery({ galleryId: id });
      await importPeople(testPeople(5_000, 2), id);
    }
    const database = await openDatabase({ databaseUrl: undefined, dataDir });
    onTestFinished(() => database.close());
    await database.runTransaction(
      runOne("update gallery_people set expires_at = $1 where id like 'p1%'", ["2026-01-01T00:00:00.000Z"]),
    );
    const read = () => galleries.getGallery({ galleryId: galleryIds.pop()! });
    const { result, longestMs, totalMs } = await longestTurn(read);
    // 1,111 ids start with p1.
    expect(result.gallery).toMatchObject({ peopleCount: 3_889, faceCount: 3_889 });
    expect(longestMs).toBeLessThan(totalMs / 2);
  });
});

test("a gallery has a time, which can be changed and taken away", async () => {
  const time = inDays(7);
  const id = `${galleryId}-x`;
  const { gallery } = await galleries.createGallery({ galleryId: id, expiration: expireTime(time) });
  expect(gallery).toMatchObject({ expireTime: time });
  const changed = await galleries.updateGallery({ galleryId: id, expiration: ttl(0) });
  expect(changed.gallery!.expireTime).toBeUndefined();
  const call = galleries.updateGallery({ galleryId: id, expiration: expireTime(PAST) });
  expect((await errorOf(call)).slice(1, 3)).toEqual(["BAD_REQUEST", "expire_time"]);
});

test("no gallery can have the id or alias that stands for all galleries", async () => {
  const text = /^The field (gallery_id|alias) cannot be -, which stands for all galleries\.$/;
  for (const call of [
    () => galleries.createGallery({ galleryId: "-" }),
    () => galleries.updateGallery({ galleryId, alias: "-" }),
  ])
    expect((await errorOf(call()))[3]).toMatch(text);
  for (const call of [() => galleries.getGallery({ galleryId: "-" }), () => enrol(galleries, "-", ANN)])
    expect((await errorOf(call()))[1]).toBe("GALLERY_NOT_FOUND");
});

describe("a person in all galleries", () => {
  const personId = "the-person";
  let other: string;
  beforeEach(async () => {
    other = `${galleryId}-other`;
    await galleries.createGallery({ galleryId: other, displayName: "The others" });
    await enrol(galleries, galleryId, { ...ANN, personId, faceId: "1" });
    await enrol(galleries, galleryId, { ...BEN, personId, faceId: "2" });
    await enrol(galleries, galleryId, EVE);
    await enrol(galleries, other, { ...ANN, personId, faceId: "3" });
  });
  const deleteAll = () => galleries.deletePerson({ galleryId: "-", personId }).catch(() => {});

  test("is exported with all templates, over both protocols", async () => {
    await galleries.updatePerson({ galleryId, personId, displayName: "Ann", expiration: ttl(3) });
    const exported = [];
    for await (const message of galleries.exportPerson({ galleryId: "-", personId })) exported.push(message);
    expect(exported).toMatchObject([
      {
        galleryId,
        personId,
        displayName: "Ann",
        createTime: expect.anything(),
        expireTime: expect.anything(),
        faces: [{ faceId: "1" }, { faceId: "2", embedding: { model: MODEL, values: BEN.values } }],
      },
      { galleryId: other, galleryDisplayName: "The others", displayName: "", faces: [{ faceId: "3" }] },
    ]);
    const { text } = await send(`/-/people/${personId}:export`);
    const parsed = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(parsed.map(({ galleryId, faces }) => [galleryId, faces.length])).toEqual([
      [galleryId, 2],
      [other, 1],
    ]);
    const one = (await send(`/${other}/people/${personId}:export`)).text;
    expect(JSON.parse(one)).toMatchObject({ galleryId: other, faces: [{ embedding: { model: MODEL } }] });
    await deleteAll();
    for (const id of ["-", other])
      expect(await send(`/${id}/people/${personId}:export`)).toMatchObject({
        status: 404,
        text: expect.stringContaining("PERSON_NOT_FOUND"),
      });
    expect(await send("/missing/people/p:export")).toMatchObject({
      status: 404,
      text: expect.stringContaining("GALLERY_NOT_FOUND"),
    });
  });

  test("is deleted from all, with a receipt, and the audit trail names the galleries", async () => {
    const { status, text, id } = await send(`/-/people/${personId}`, { method: "DELETE" });
    expect(status).toBe(200);
    const receipt = JSON.parse(text);
    expect(receipt).toEqual({
      personId,
      deletions: [
        { galleryId, faceCount: 2 },
        { galleryId: other, faceCount: 1 },
      ],
      deleteTime: expect.any(String),
      requestId: id,
      erasureFinished: true,
    });
    expect(readAudit(auditPath, receipt.requestId)).toMatchObject([
      { operation: "DeletePerson", phase: "start", gallery: "-", people: [personId] },
      { operation: "DeletePerson", phase: "end", gallery: `${galleryId},${other}`, faces: 3 },
    ]);
    expect(await identify(galleries, other, ANN)).toEqual([]);
    expect(await identify(galleries, galleryId, EVE)).toEqual([EVE.personId]);
    const again = galleries.deletePerson({ galleryId: "-", personId });
    expect((await errorOf(again))[1]).toBe("PERSON_NOT_FOUND");
  });

  test("is deleted from one, and not by another user", async () => {
    const stranger = createGalleryClient(service, PLAN_USER);
    for (const id of ["-", galleryId])
      expect((await errorOf(stranger.deletePerson({ galleryId: id, personId })))[0]).toBe("NotFound");
    const { deletions } = await galleries.deletePerson({ galleryId: other, personId });
    expect(deletions).toMatchObject([{ galleryId: other, faceCount: 1 }]);
    expect(await galleries.getPerson({ galleryId, personId })).toMatchObject({ person: { personId } });
    await deleteAll();
  });
});
