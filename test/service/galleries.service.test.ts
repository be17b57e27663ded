import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import sharp, { type Sharp } from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ErrorInfoSchema } from "../../gen/ts/google/rpc/error_details_pb.ts";
import type { FaceSourceSchema } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { FaceAnalysisService, Feature } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { GalleryService } from "../../gen/ts/visage/v1/gallery_pb.ts";
import { createSqlStore } from "../../src/accounts/sql-store.ts";
import { openDatabase } from "../../src/database/open-database.ts";
import type { RunningService } from "../../src/main.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { addTestUser } from "../support/accounts.ts";
import { createGalleryClient, MODEL, testPeople } from "../support/galleries.ts";
import { photograph, plainImage } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";

type Source = MessageInitShape<typeof FaceSourceSchema>;

const WOMAN_IN_1 = { x1: 1487, y1: 263, x2: 1642, y2: 419 };
const WOMAN_IN_3 = { x1: 1064, y1: 254, x2: 1309, y2: 499 };
const OTHER_USER = "another-user-of-tests";
const SMALL_USER = "a-user-with-small-limits";
const fromImage = (number: 1 | 2 | 3 | 4, box?: Source["box"]): Source => ({
  source: { case: "image", value: { source: { case: "content", value: photograph(number) } } },
  ...(box && { box }),
});

let dataDir: string;
let service: RunningService;
const lines: string[] = [];

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "visage-galleries-"));
  const store = createSqlStore(await openDatabase({ databaseUrl: undefined, dataDir }));
  await addTestUser(store, OTHER_USER);
  await addTestUser(store, SMALL_USER, { maxGalleries: 1, maxGalleryFaces: 2 });
  await store.close();
  const log = createLog("info", {
    write: (line) => void lines.push(line),
    dropped: 0,
    flush: async () => {},
  });
  service = await startTestService({ VISAGE_DATA_DIR: dataDir, VISAGE_TRIAL_USER: USER }, log);
});
afterAll(async () => {
  await service.close();
  await rm(dataDir, { recursive: true });
});

function clientOf(user: string) {
  const transport = createGrpcTransport({
    baseUrl: `http://127.0.0.1:${service.port}`,
    interceptors: [
      (next) => (request) => {
        request.header.set("x-api-key", user);
        return next(request);
      },
    ],
  });
  return {
    galleries: createClient(GalleryService, transport),
    faces: createClient(FaceAnalysisService, transport),
  };
}

/** The code and reason of the error with which a call fails. */
async function errorOf(call: Promise<unknown>): Promise<[string, string | undefined]> {
  const error = await call.then(
    () => expect.fail("The call succeeded."),
    (fault: unknown) => ConnectError.from(fault),
  );
  return [Code[error.code]!, error.findDetails(ErrorInfoSchema)[0]?.reason];
}

let ids = 0;
let galleryId: string;
beforeEach(() => {
  galleryId = `g${++ids}`;
});

describe("a gallery", () => {
  test("identifies an enrolled person in another photo, and nobody else", async () => {
    const { galleries } = clientOf(USER);
    const { gallery } = await galleries.createGallery({ galleryId, displayName: "Friends" });
    expect(gallery).toMatchObject({ galleryId, displayName: "Friends", peopleCount: 0, revision: 0n });
    const enrolled = await galleries.enrolFace({
      galleryId,
      personId: "woman",
      displayName: "The woman",
      source: fromImage(1, WOMAN_IN_1),
    });
    expect(enrolled).toMatchObject({ faceId: expect.stringMatching(/^[\da-f]{16}$/), revision: 1n });
    const found = await galleries.identifyFaces({ galleryId, source: fromImage(3), maxResults: 5 });
    expect(found).toMatchObject({ candidatesOnly: false, stale: false, revision: 1n });
    expect(found.threshold).toBeLessThan(0.47);
    expect(found.falsePositiveRate).toBeLessThan(0.003);
    const named = found.faces.filter(({ matches }) => matches.length > 0);
    expect(found.faces.length).toBeGreaterThan(1);
    expect(named).toHaveLength(1);
    expect(Math.round(named[0]!.box!.x1 / 50)).toBe(Math.round(WOMAN_IN_3.x1 / 50));
    expect(named[0]!.matches).toMatchObject([
      { personId: "woman", displayName: "The woman", faceId: enrolled.faceId },
    ]);
    expect(enrolled.quality).toMatchObject({ usable: true });
    expect(named[0]!.quality).toBeUndefined();
    const measured = await galleries.identifyFaces({ galleryId, source: fromImage(3), quality: true });
    for (const { quality, pose } of measured.faces)
      expect([quality?.components.length, typeof pose?.roll]).toEqual([12, "number"]);
  });

  test("takes and finds embeddings, and enrols the same photo once", async () => {
    const { galleries, faces } = clientOf(USER);
    await galleries.createGallery({ galleryId });
    const analysis = await faces.analyzeImage({
      image: { source: { case: "content", value: photograph(1) } },
      features: [Feature.EMBEDDING],
    });
    for (const [i, { embedding }] of analysis.faces.entries())
      for (let repeat = 0; repeat < 2; repeat++)
        await galleries.enrolFace({
          galleryId,
          personId: `p${i}`,
          source: { source: { case: "embedding", value: embedding! } },
        });
    const { gallery } = await galleries.getGallery({ galleryId });
    expect(gallery).toMatchObject({ peopleCount: analysis.faces.length, faceCount: analysis.faces.length });
    for (const [i, { embedding }] of analysis.faces.entries()) {
      const { faces: found } = await galleries.identifyFaces({
        galleryId,
        source: { source: { case: "embedding", value: embedding! } },
      });
      expect(found).toMatchObject([{ matches: [{ personId: `p${i}`, distance: 0 }] }]);
    }
  });

  test("is changed, listed and deleted, with its people", async () => {
    const { galleries } = clientOf(USER);
    await galleries.createGallery({ galleryId, maxDistance: 0.4 });
    for (const personId of ["b", "a", "c"])
      await galleries.enrolFace({ galleryId, personId, faceId: "f", source: fromImage(3, WOMAN_IN_3) });
    const longName = "😀".repeat(256);
    expect((await galleries.updateGallery({ galleryId, displayName: longName })).gallery!.displayName).toBe(
      longName,
    );
    expect((await galleries.updateGallery({ galleryId, displayName: "X" })).gallery).toMatchObject({
      displayName: "X",
      maxDistance: Math.fround(0.4),
    });
    const { gallery } = await galleries.updateGallery({ galleryId, maxDistance: 0 });
    expect(gallery).toMatchObject({ displayName: "X", peopleCount: 3 });
    expect(gallery!.maxDistance).toBeUndefined();
    const listed = await galleries.listPeople({ galleryId, pageSize: 2 });
    expect(listed.people.map(({ personId }) => personId)).toEqual(["a", "b"]);
    const rest = await galleries.listPeople({ galleryId, pageSize: 2, pageToken: listed.nextPageToken });
    expect(rest).toMatchObject({ people: [{ personId: "c", faces: [{ faceId: "f" }] }], nextPageToken: "" });
    await galleries.updatePerson({ galleryId, personId: "a", displayName: "Ann" });
    expect((await galleries.getPerson({ galleryId, personId: "a" })).person!.displayName).toBe("Ann");
    await galleries.deletePerson({ galleryId, personId: "a" });
    await galleries.deleteFace({ galleryId, personId: "b", faceId: "f" });
    const { faces } = await galleries.identifyFaces({
      galleryId,
      source: fromImage(3, WOMAN_IN_3),
      maxResults: 5,
    });
    expect(faces[0]!.matches.map(({ personId }) => personId)).toEqual(["c"]);
    const { galleries: all } = await galleries.listGalleries({});
    expect(all.map((one) => one.galleryId)).toContain(galleryId);
    await galleries.deleteGallery({ galleryId });
    expect(await errorOf(galleries.getGallery({ galleryId }))).toEqual(["NotFound", "GALLERY_NOT_FOUND"]);
    expect(await errorOf(galleries.identifyFaces({ galleryId, source: fromImage(3) }))).toEqual([
      "NotFound",
      "GALLERY_NOT_FOUND",
    ]);
  });

  test("is out of reach for other users", async () => {
    const { galleries } = clientOf(USER);
    await galleries.createGallery({ galleryId });
    await galleries.enrolFace({ galleryId, personId: "p", source: fromImage(3, WOMAN_IN_3) });
    const { galleries: others } = clientOf(OTHER_USER);
    const source = fromImage(3, WOMAN_IN_3);
    for (const attempt of [
      () => others.getGallery({ galleryId }),
      () => others.updateGallery({ galleryId, displayName: "mine" }),
      () => others.deleteGallery({ galleryId }),
      () => others.enrolFace({ galleryId, personId: "p", source }),
      () => others.getPerson({ galleryId, personId: "p" }),
      () => others.listPeople({ galleryId }),
      () => others.updatePerson({ galleryId, personId: "p", displayName: "x" }),
      () => others.deletePerson({ galleryId, personId: "p" }),
      () => others.deleteFace({ galleryId, personId: "p", faceId: "1" }),
      () => others.identifyFaces({ galleryId, source }),
    ])
      expect(await errorOf(attempt())).toEqual(["NotFound", "GALLERY_NOT_FOUND"]);
    expect((await others.listGalleries({})).galleries).toEqual([]);
  });
});

describe("errors", () => {
  test("of ids, names and numbers name the field", async () => {
    const { galleries } = clientOf(USER);
    await galleries.createGallery({ galleryId });
    const source = fromImage(3, WOMAN_IN_3);
    for (const [field, attempt] of [
      ["gallery_id", () => galleries.createGallery({})],
      ["gallery_id", () => galleries.createGallery({ galleryId: "a/b" })],
      ["gallery_id", () => galleries.createGallery({ galleryId: ".." })],
      ["display_name", () => galleries.createGallery({ galleryId: "x", displayName: "é".repeat(257) })],
      ["display_name", () => galleries.createGallery({ galleryId: "x", displayName: "😀".repeat(257) })],
      ["display_name", () => galleries.createGallery({ galleryId: "x", displayName: "a\0" })],
      ["max_distance", () => galleries.createGallery({ galleryId: "x", maxDistance: 1 })],
      ["person_id", () => galleries.enrolFace({ galleryId, personId: "a b", source })],
      ["face_id", () => galleries.enrolFace({ galleryId, personId: "a", faceId: "é", source })],
      ["source", () => galleries.enrolFace({ galleryId, personId: "a" })],
      ["page_size", () => galleries.listPeople({ galleryId, pageSize: 1001 })],
      ["page_token", () => galleries.listPeople({ galleryId, pageToken: "*" })],
      ["max_results", () => galleries.identifyFaces({ galleryId, source, maxResults: 101 })],
      ["max_distance", () => galleries.identifyFaces({ galleryId, source, maxDistance: 0 })],
    ] as const)
      await expect(attempt(), field).rejects.toThrow(`The field ${field}`);
  });

  test("of the plan's limits", async () => {
    const { galleries } = clientOf(SMALL_USER);
    await galleries.createGallery({ galleryId });
    expect(await errorOf(galleries.createGallery({ galleryId }))).toEqual([
      "AlreadyExists",
      "GALLERY_EXISTS",
    ]);
    expect(await errorOf(galleries.createGallery({ galleryId: "another" }))).toEqual([
      "ResourceExhausted",
      "TOO_MANY_GALLERIES",
    ]);
    const enrol = (personId: string) =>
      galleries.enrolFace({ galleryId, personId, source: fromImage(3, WOMAN_IN_3) });
    await enrol("a");
    await enrol("b");
    expect(await errorOf(enrol("c"))).toEqual(["ResourceExhausted", "TOO_MANY_FACES"]);
  });

  test("of faces: none, or unsuited for recognition", async () => {
    const { galleries } = clientOf(USER);
    await galleries.createGallery({ galleryId });
    const blank: Source = {
      source: {
        case: "image",
        value: { source: { case: "content", value: await plainImage(300, 300, "grey") } },
      },
    };
    expect(await errorOf(galleries.enrolFace({ galleryId, personId: "a", source: blank }))).toEqual([
      "FailedPrecondition",
      "NO_FACE",
    ]);
    expect((await galleries.identifyFaces({ galleryId, source: blank })).faces).toEqual([]);
    const { faces } = await clientOf(USER).faces.analyzeImage({
      image: { source: { case: "content", value: photograph(2) } },
    });
    const unsuited = faces.find(({ quality }) => !quality!.usable);
    if (!unsuited) return;
    const request = { galleryId, personId: "a", source: fromImage(2, unsuited.box) };
    expect((await errorOf(galleries.enrolFace(request)))[0]).toBe("FailedPrecondition");
    await galleries.enrolFace({ ...request, skipQualityCheck: true });
  });

  test("of a blurred photo name the component, its value and the remedy; a dark photo is enrolled", async () => {
    const { galleries } = clientOf(USER);
    await galleries.createGallery({ galleryId });
    const changed = async (photo: Sharp): Promise<Source> => ({
      source: {
        case: "image",
        value: { source: { case: "content", value: await photo.jpeg().toBuffer() } },
      },
      box: WOMAN_IN_3,
    });
    const blurred = await changed(sharp(photograph(3)).blur(20));
    const request = { galleryId, personId: "a", source: blurred };
    const error = await galleries.enrolFace(request).then(
      () => expect.fail("The call succeeded."),
      (fault: unknown) => ConnectError.from(fault),
    );
    expect(error.rawMessage).toMatch(
      /^The sharpness is \d\d? of 100\. Hold the camera still and focus on the face\.$/,
    );
    expect(error.findDetails(ErrorInfoSchema)[0]).toMatchObject({
      reason: "LOW_QUALITY",
      metadata: { reasons: expect.stringMatching(/^LOW_QUALITY/), stage: "quality", field: "source" },
    });
    expect(error.findDetails(ErrorInfoSchema)[0]!.metadata.components).toMatch(/^SHARPNESS=\d+(,|$)/);
    await galleries.enrolFace({ ...request, skipQualityCheck: true });
    const dark = await changed(sharp(photograph(3)).linear(0.25, 0));
    await galleries.enrolFace({ galleryId, personId: "b", source: dark });
  });
});

// biome-ignore lint/suspicious/noExplicitAny: the expectations check what a response has
type Json = any;

describe("over REST", () => {
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`http://127.0.0.1:${service.port}${path}`, {
      method,
      headers: { "x-api-key": USER },
      ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
    });
    return {
      status: response.status,
      allow: response.headers.get("allow"),
      body: (await response.json()) as Json,
    };
  };

  test("a gallery has a path, and so have its people and faces", async () => {
    const gallery = `/v1/galleries/${galleryId}`;
    expect(await call("POST", "/v1/galleries", { gallery_id: galleryId })).toMatchObject({ status: 200 });
    const form = new FormData();
    form.append("source", new Blob([photograph(3).slice()]), "photo.jpg");
    form.append("display_name", "Ann");
    const enrolled = await call("POST", `${gallery}/people/ann/faces`, form);
    expect(enrolled).toMatchObject({ status: 200, body: { revision: "1", faceId: expect.any(String) } });
    const found = await call("POST", `${gallery}:identify`, {
      source: photograph(3).toString("base64"),
      maxResults: 2,
    });
    expect(found.body.faces[0].matches).toMatchObject([{ personId: "ann", displayName: "Ann", distance: 0 }]);
    expect((await call("GET", gallery)).body.gallery).toMatchObject({
      galleryId,
      peopleCount: 1,
      faceCount: 1,
      createTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    expect((await call("GET", `${gallery}/people?page_size=5`)).body.people).toMatchObject([
      { personId: "ann", displayName: "Ann" },
    ]);
    expect(await call("PATCH", `${gallery}/people/ann`, { displayName: "Anna" })).toMatchObject({
      body: { person: { displayName: "Anna" } },
    });
    expect(await call("DELETE", `${gallery}/people/ann/faces/${enrolled.body.faceId}`)).toMatchObject({
      status: 200,
      body: {},
    });
    expect(await call("DELETE", gallery)).toMatchObject({ status: 200 });
    expect(await call("GET", gallery)).toMatchObject({
      status: 404,
      body: { code: 5, reason: "GALLERY_NOT_FOUND", retryable: false },
    });
  });

  test("the path decides the ids, and an unknown method is answered with the known ones", async () => {
    await call("POST", "/v1/galleries", { gallery_id: galleryId });
    const patched = await call("PATCH", `/v1/galleries/${galleryId}?gallery_id=other&galleryId=fourth`, {
      galleryId: "third",
      displayName: "Name",
    });
    expect(patched.body.gallery).toMatchObject({ galleryId, displayName: "Name" });
    const refused = await call("PUT", `/v1/galleries/${galleryId}`, {});
    expect(refused).toMatchObject({ status: 405, allow: "GET, PATCH, DELETE, OPTIONS" });
    expect(await call("GET", "/v1/galleries/a/b/c")).toMatchObject({ status: 404 });
  });
});

describe("export and import", () => {
  /** Creates a gallery with three people from the faces of a photo. Returns their embeddings. */
  async function createPeople() {
    const { galleries, faces } = clientOf(USER);
    await galleries.createGallery({ galleryId });
    const analysis = await faces.analyzeImage({
      image: { source: { case: "content", value: photograph(1) } },
      features: [Feature.EMBEDDING],
      maxFaces: 3,
    });
    for (const [i, { embedding }] of analysis.faces.entries())
      await galleries.enrolFace({
        galleryId,
        personId: `p${i}`,
        faceId: "f",
        displayName: `Person ${i}`,
        source: { source: { case: "embedding", value: embedding! } },
      });
    return analysis.faces.map(({ embedding }) => embedding!);
  }

  async function exportAll() {
    const exported = [];
    for await (const face of clientOf(USER).galleries.exportGallery({ galleryId })) exported.push(face);
    return exported;
  }

  test("of a gallery restore the same people", async () => {
    const embeddings = await createPeople();
    const { galleries } = clientOf(USER);
    const exported = await exportAll();
    expect(exported).toMatchObject([0, 1, 2].map((i) => ({ personId: `p${i}`, displayName: `Person ${i}` })));
    // All digits of a template are exported.
    expect(exported.map(({ embedding }) => embedding)).toEqual(embeddings);
    await galleries.deleteGallery({ galleryId });
    await galleries.createGallery({ galleryId });
    const faces = async function* () {
      for (const { personId, faceId, displayName, embedding } of exported)
        yield { galleryId, personId, faceId, displayName, embedding: embedding! };
    };
    for (let repeat = 1; repeat <= 2; repeat++)
      expect(await galleries.importFaces(faces())).toMatchObject({ faceCount: 3, revision: BigInt(repeat) });
    const withoutTimes = (all: typeof exported) => all.map(({ createTime, ...face }) => face);
    expect(withoutTimes(await exportAll())).toEqual(withoutTimes(exported));
  });

  test("over REST are lines of JSON", async () => {
    const embeddings = await createPeople();
    const url = `http://127.0.0.1:${service.port}/v1/galleries/${galleryId}`;
    const headers = { "x-api-key": USER };
    const response = await fetch(`${url}:export`, { headers });
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    const lines = await response.text();
    const exported = lines
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Json);
    expect(exported.map(({ embedding }) => embedding.values.map(Math.fround))).toEqual(
      embeddings.map(({ values }) => values),
    );
    const post = async (body: string) =>
      (await fetch(`${url}:import`, { method: "POST", headers, body })).json() as Promise<Json>;
    expect(await post(lines)).toMatchObject({ faceCount: 3, revision: "4" });
    expect(await post(`${lines}{"person_id":"x y"}\n`)).toMatchObject({
      reason: "BAD_REQUEST",
      message: expect.stringContaining("person_id"),
    });
    expect(await post(`${lines}no JSON\n`)).toMatchObject({ message: expect.stringMatching(/^Line 4: /) });
    const missing = await fetch(`${url}x:export`, { headers });
    expect(missing.status).toBe(404);
    expect(await missing.json()).toMatchObject({ reason: "GALLERY_NOT_FOUND" });
  });

  test("over REST are logged with their outcome", async () => {
    await createPeople();
    const url = `http://127.0.0.1:${service.port}/v1/galleries/${galleryId}`;
    const headers = { "x-api-key": USER };
    const body = await (await fetch(`${url}:export`, { headers })).text();
    lines.length = 0;
    await (await fetch(`${url}:import`, { method: "POST", headers, body })).text();
    await (await fetch(`${url}:import`, { method: "POST", headers, body: "no JSON" })).text();
    await (await fetch(`${url}:export`, { headers })).text();
    const outcomes = () =>
      lines
        .map((line) => JSON.parse(line) as Json)
        .filter(({ outcome }) => outcome !== undefined)
        .map(({ operation, outcome }) => [operation, outcome]);
    await expect.poll(outcomes).toEqual([
      ["visage.v1.import_faces", "ok"],
      ["visage.v1.import_faces", "BAD_REQUEST"],
      ["visage.v1.export_gallery", "ok"],
    ]);
  });

  test("of another model are rejected", async () => {
    await createPeople();
    const [face] = await exportAll();
    const other = (async function* () {
      const embedding = { values: face!.embedding!.values, model: "sface-000000000000" };
      yield { galleryId, personId: "p", embedding };
    })();
    expect(await errorOf(clientOf(USER).galleries.importFaces(other))).toEqual([
      "FailedPrecondition",
      "MODEL_MISMATCH",
    ]);
  });

  test("of a gallery that is deleted meanwhile fails", async () => {
    const client = createGalleryClient(service, USER);
    await client.createGallery({ galleryId });
    await client.importFaces(
      (async function* () {
        for (const { values, ...ids } of testPeople(3_000, 1))
          yield { galleryId, ...ids, embedding: { values, model: MODEL } };
      })(),
    );
    const exported = client.exportGallery({ galleryId })[Symbol.asyncIterator]();
    expect(await exported.next()).toMatchObject({ value: { personId: "p0" } });
    await client.deleteGallery({ galleryId });
    const readAll = async () => {
      while (!(await exported.next()).done);
    };
    expect(await errorOf(readAll())).toEqual(["NotFound", "GALLERY_NOT_FOUND"]);
  });

  test("of another user's gallery find nothing", async () => {
    await createPeople();
    const { galleries } = clientOf(OTHER_USER);
    const read = async () => {
      for await (const _ of galleries.exportGallery({ galleryId }));
    };
    expect(await errorOf(read())).toEqual(["NotFound", "GALLERY_NOT_FOUND"]);
  });
});
