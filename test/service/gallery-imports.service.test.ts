// Imports and exports that collide with deletions and with each other, and what hostile clients send to them.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { MAX_ENROLMENT_BATCH } from "../../src/galleries/gallery-store.ts";
import type { RunningService } from "../../src/main.ts";
import {
  createGalleryClient,
  errorOf,
  type GalleryClient,
  identify,
  MODEL,
  type TestPerson,
  testPeople,
} from "../support/galleries.ts";
import { startTestService, USER } from "../support/service.ts";

const PEOPLE = testPeople(5 * MAX_ENROLMENT_BATCH, 1);
const GALLERY_NOT_FOUND = ["NotFound", "GALLERY_NOT_FOUND"];
const MIB = 1024 * 1024;

let service: RunningService;
let client: GalleryClient;
let ids = 0;
let galleryId: string;

beforeAll(async () => {
  service = await startTestService();
  client = createGalleryClient(service, USER);
});
afterAll(() => service.close());
beforeEach(() => {
  galleryId = `g${++ids}`;
});

/** The requests of an import. Waits for `pause` before a face. */
async function* facesOf(people: readonly TestPerson[], pauseAt = -1, pause?: () => Promise<unknown>) {
  for (const [i, { values, ...names }] of people.entries()) {
    if (i === pauseAt) await pause!();
    yield { galleryId, ...names, embedding: { values, model: MODEL } };
  }
}

async function waitForFaces(count: number): Promise<void> {
  await expect
    .poll(async () => (await client.getGallery({ galleryId })).gallery!.faceCount, { timeout: 30_000 })
    .toBe(count);
}

function lineOf({ values, ...names }: TestPerson): string {
  return `${JSON.stringify({ ...names, embedding: { values, model: MODEL } })}\n`;
}

async function call(method: string, path: string, body?: string) {
  const response = await fetch(`http://127.0.0.1:${service.port}/v1/galleries${path}`, {
    method,
    headers: { "x-api-key": USER },
    ...(body !== undefined && { body }),
  });
  const { reason } = (await response.json()) as { readonly reason?: string };
  return { status: response.status, reason };
}

describe("an import", () => {
  test("into a gallery that is deleted meanwhile fails", async () => {
    await client.createGallery({ galleryId });
    const remove = async () => {
      await waitForFaces(2 * MAX_ENROLMENT_BATCH);
      await client.deleteGallery({ galleryId });
    };
    const importing = client.importFaces(facesOf(PEOPLE, 2 * MAX_ENROLMENT_BATCH, remove));
    expect(await errorOf(importing)).toEqual(GALLERY_NOT_FOUND);
  });

  test("does not go on in a gallery that was created anew with the same id", async () => {
    await client.createGallery({ galleryId });
    const replace = async () => {
      await waitForFaces(2 * MAX_ENROLMENT_BATCH);
      await client.deleteGallery({ galleryId });
      await client.createGallery({ galleryId });
    };
    const importing = client.importFaces(facesOf(PEOPLE, 2 * MAX_ENROLMENT_BATCH, replace));
    expect(await errorOf(importing)).toEqual(GALLERY_NOT_FOUND);
    expect((await client.getGallery({ galleryId })).gallery).toMatchObject({ faceCount: 0, peopleCount: 0 });
  });

  test("of the same faces as others at the same time has each once", async () => {
    await client.createGallery({ galleryId });
    const responses = await Promise.all(
      [PEOPLE, PEOPLE, PEOPLE.toReversed()].map((people) => client.importFaces(facesOf(people))),
    );
    for (const { faceCount } of responses) expect(faceCount).toBe(PEOPLE.length);
    expect((await client.getGallery({ galleryId })).gallery).toMatchObject({
      faceCount: PEOPLE.length,
      peopleCount: PEOPLE.length,
      revision: BigInt((responses.length * PEOPLE.length) / MAX_ENROLMENT_BATCH),
    });
    for (const person of [PEOPLE[0]!, PEOPLE.at(-1)!])
      expect(await identify(client, galleryId, person)).toEqual([person.personId]);
  });

  test.each([
    ["a name of 10 MB", () => JSON.stringify({ personId: "p", displayName: "x".repeat(10 * MIB) })],
    ["an id of 10 MB", () => JSON.stringify({ personId: "x".repeat(10 * MIB) })],
    ["an embedding of 10 MB", () => `{"personId":"p","embedding":{"values":[${"0.5,".repeat(2.5 * MIB)}1]}}`],
    ["10 MB of brackets", () => "[".repeat(10 * MIB)],
    ["10 MB that are no JSON", () => "x".repeat(10 * MIB)],
  ])("with a line of %s is rejected, and keeps whole batches before it", async (_, createLine) => {
    await client.createGallery({ galleryId });
    const before = PEOPLE.slice(0, MAX_ENROLMENT_BATCH + 1).map(lineOf);
    const imported = await call("POST", `/${galleryId}:import`, `${before.join("")}${createLine()}\n`);
    expect(imported).toEqual({ status: 400, reason: expect.any(String) });
    expect((await client.getGallery({ galleryId })).gallery).toMatchObject({
      faceCount: MAX_ENROLMENT_BATCH,
    });
  });
});

test("an export as lines of a gallery that is deleted meanwhile ends with an error", async () => {
  await client.createGallery({ galleryId });
  // More than the buffers of the connection hold.
  const many = testPeople(6_000, 2);
  await client.importFaces(facesOf(many));
  const response = await fetch(`http://127.0.0.1:${service.port}/v1/galleries/${galleryId}:export`, {
    headers: { "x-api-key": USER },
  });
  await client.deleteGallery({ galleryId });
  const lines = (await response.text()).trim().split("\n");
  expect(lines.length).toBeLessThan(many.length);
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({ error: { reason: "GALLERY_NOT_FOUND" } });
});

describe("the id of a gallery", () => {
  const CHARACTERS = Array.from({ length: 0x80 }, (_, code) => String.fromCodePoint(code));
  const ALLOWED = /^[A-Za-z0-9._~-]$/;

  test("takes the documented characters and no others, in the body and in the path", async () => {
    const others = [
      "é",
      "ß",
      "İ",
      "ſ",
      "\u212a",
      "ａ",
      "\u0661",
      "名",
      "\u{1f600}",
      "\u202e",
      "\ufeff",
      "\u2028",
    ];
    for (const character of [...CHARACTERS, ...others]) {
      const id = `${galleryId}${character}x`;
      const path = `/${encodeURIComponent(id)}`;
      const isAllowed = ALLOWED.test(character);
      const created = await call("POST", "", JSON.stringify({ galleryId: id }));
      expect(created.status, JSON.stringify(id)).toBe(isAllowed ? 200 : 400);
      const found = await call("GET", path);
      if (isAllowed) expect(found.status, JSON.stringify(id)).toBe(200);
      else expect([400, 404], JSON.stringify(id)).toContain(found.status);
      if (isAllowed) expect(await call("DELETE", path)).toMatchObject({ status: 200 });
    }
    const { galleries } = await client.listGalleries({ pageSize: 1_000 });
    expect(galleries.filter((gallery) => gallery.galleryId.startsWith(galleryId))).toEqual([]);
  });

  test.each([
    "",
    ".",
    "..",
    "x".repeat(129),
    "a b",
    "a/b",
    "a\n",
    "a:export",
    "%2e%2e",
    "a'; drop table galleries",
  ])("is rejected if it is %j", async (id) => {
    expect(await call("POST", "", JSON.stringify({ galleryId: id }))).toMatchObject({ status: 400 });
    expect(await errorOf(client.getGallery({ galleryId: id }))).toEqual(["InvalidArgument", "BAD_REQUEST"]);
  });

  test.each(["x".repeat(128), "--", "~", "...", "_", "__proto__", "constructor", "null", "0"])(
    "may be %s",
    async (id) => {
      galleryId = id;
      await client.createGallery({ galleryId });
      await client.importFaces(facesOf(PEOPLE.slice(0, 2)));
      expect(await identify(client, galleryId, PEOPLE[1]!)).toEqual(["p1"]);
      expect(await call("GET", `/${id}/people/p1`)).toMatchObject({ status: 200 });
      expect(await call("DELETE", `/${id}`)).toMatchObject({ status: 200 });
    },
  );
});
