// What was stored or read is counted, however the request ends.
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { AccountService } from "../../gen/ts/visage/v1/account_pb.ts";
import { GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import { MAX_ENROLMENT_BATCH } from "../../src/galleries/gallery-store.ts";
import type { RunningService } from "../../src/main.ts";
import {
  createGalleryClient,
  embeddingSource,
  MODEL,
  type TestPerson,
  testPeople,
} from "../support/galleries.ts";
import { startTestService, USER } from "../support/service.ts";

const PEOPLE = testPeople(MAX_ENROLMENT_BATCH + 1, 1);
const WRONG: TestPerson = { personId: "no id", faceId: "f", values: PEOPLE[0]!.values };
const TRANSPORTS = { gRPC: createGrpcTransport, Connect: createConnectTransport } as const;

let service: RunningService;
let ids = 0;
let galleryId: string;
let before: Usage;

beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());
beforeEach(async () => {
  galleryId = `g${++ids}`;
  await createGalleryClient(service, USER).createGallery({ galleryId });
  before = await readUsage();
});

/** Numbers of requests by operation and outcome. */
type Usage = ReadonlyMap<string, number>;

function transportOf(protocol: keyof typeof TRANSPORTS) {
  return TRANSPORTS[protocol]({
    baseUrl: `http://127.0.0.1:${service.port}`,
    httpVersion: "2",
    interceptors: [
      (next) => (request) => {
        request.header.set("x-api-key", USER);
        return next(request);
      },
    ],
  });
}

async function readUsage(): Promise<Usage> {
  const { counts } = await createClient(AccountService, transportOf("gRPC")).getUsage({});
  return new Map(counts.map(({ operation, outcome, count }) => [`${operation} ${outcome}`, Number(count)]));
}

/** Waits until so many further requests of an operation are counted. */
async function expectCounted(counts: Readonly<Record<string, number>>): Promise<void> {
  const readCounts = async () => {
    const usage = await readUsage();
    return Object.fromEntries(
      Object.keys(counts).map((key) => [key, (usage.get(key) ?? 0) - (before.get(key) ?? 0)]),
    );
  };
  // At most five requests about accounts are served in a second.
  await expect.poll(readCounts, { timeout: 20_000, interval: 300 }).toEqual(counts);
}

function post(path: string, init: RequestInit): Promise<Response> {
  const url = `http://127.0.0.1:${service.port}/v1/galleries/${galleryId}${path}`;
  return fetch(url, { headers: { "x-api-key": USER }, ...init });
}

async function* requestsOf(people: readonly TestPerson[]) {
  for (const { values, ...names } of people)
    yield { galleryId, ...names, embedding: { values, model: MODEL } };
}

function linesOf(people: readonly TestPerson[]): string {
  return people
    .map(({ values, ...names }) => `${JSON.stringify({ ...names, embedding: { values, model: MODEL } })}\n`)
    .join("");
}

/** Imports people over each protocol. Throws if that fails. */
const IMPORTS: Readonly<
  Record<string, (people: readonly TestPerson[], signal?: AbortSignal) => Promise<void>>
> = {
  ...Object.fromEntries(
    (["gRPC", "Connect"] as const).map((protocol) => [
      protocol,
      async (people: readonly TestPerson[], signal?: AbortSignal) => {
        const client = createClient(GalleryService, transportOf(protocol));
        await client.importFaces(requestsOf(people), { ...(signal && { signal }) });
      },
    ]),
  ),
  "plain HTTP": async (people, signal) => {
    const { ok } = await post(":import", {
      method: "POST",
      body: linesOf(people),
      ...(signal && { signal }),
    });
    if (!ok) throw new Error("The import failed.");
  },
};

describe.each(Object.entries(IMPORTS))("over %s", (protocol, importPeople) => {
  test("an import that fails counts if it has stored faces", async () => {
    await expect(importPeople([WRONG, ...PEOPLE])).rejects.toThrow();
    await expect(importPeople([...PEOPLE, WRONG])).rejects.toThrow();
    await expectCounted({ "visage.v1.import_faces ok": 1, "visage.v1.import_faces BAD_REQUEST": 1 });
  });

  test("an export of which a part was read counts", async () => {
    await importPeople(PEOPLE);
    if (protocol === "plain HTTP") {
      const { body } = await post(":export", {});
      await body!.getReader().cancel();
    } else {
      const client = createClient(GalleryService, transportOf(protocol as keyof typeof TRANSPORTS));
      for await (const _ of client.exportGallery({ galleryId })) break;
    }
    await expectCounted({ "visage.v1.export_gallery ok": 1 });
  });
});

test("an enrolment that the check of the person refuses counts, because it was a search", async () => {
  const { enrolFace } = createGalleryClient(service, USER);
  const face = (i: number) => ({ galleryId, personId: "p", source: embeddingSource(PEOPLE[i]!.values) });
  await enrolFace(face(0));
  await expect(enrolFace({ ...face(1), checkPerson: true })).rejects.toThrow(/does not look like/);
  await expectCounted({ "visage.v1.enrol_face ok": 2 });
});

test("an import whose client leaves counts if it has stored faces", async () => {
  const client = createGalleryClient(service, USER);
  const leaving = new AbortController();
  const faces = async function* () {
    yield* requestsOf(PEOPLE.slice(0, MAX_ENROLMENT_BATCH));
    await expect
      .poll(async () => (await client.getGallery({ galleryId })).gallery!.faceCount, { timeout: 10_000 })
      .toBe(MAX_ENROLMENT_BATCH);
    leaving.abort();
  };
  await expect(client.importFaces(faces(), { signal: leaving.signal })).rejects.toThrow();
  await expectCounted({ "visage.v1.import_faces ok": 1 });
});

test("every face that is stored is counted, whenever its client leaves", async () => {
  const client = createGalleryClient(service, USER);
  for (const [i, { values, ...names }] of PEOPLE.entries())
    await client
      .enrolFace(
        { galleryId, ...names, source: embeddingSource(values) },
        { signal: AbortSignal.timeout(Math.floor(i / 10)) },
      )
      .catch(() => {});
  // A request that is not cancelled ends after the others.
  const last = { personId: "last", source: embeddingSource(PEOPLE[0]!.values) };
  await client.enrolFace({ galleryId, ...last });
  const { gallery } = await client.getGallery({ galleryId });
  await expectCounted({ "visage.v1.enrol_face ok": gallery!.faceCount });
});
