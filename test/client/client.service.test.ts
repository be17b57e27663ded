import { createReadStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { AccountStore } from "../../src/accounts/account-store.ts";
import { openAccountStore } from "../../src/accounts/open-account-store.ts";
import {
  createVisageClient,
  type ImageInput,
  type VisageClient,
  type VisageClientOptions,
  VisageError,
} from "../../src/client/visage-client.ts";
import type { RunningService } from "../../src/main.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { freePort } from "../../tools/support/free-port.ts";
import { addTestUser } from "../support/accounts.ts";
import { FACES } from "../support/faces.ts";
import { startImageServer } from "../support/image-server.ts";
import { photograph, smallPortrait } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";

const PATH = join(PACKAGE_ROOT, "node_modules/@vladmandic/face-api/demo/sample3.jpg");
const PHOTO = photograph(3);
/** For tests to which the result does not matter. */
const PORTRAIT = await smallPortrait();

let service: RunningService;
/** The accounts of the service, opened a second time. */
let store: AccountStore;
const dataDir = mkdtempSync(join(tmpdir(), "visage-client-"));
beforeAll(async () => {
  service = await startTestService({ VISAGE_DATA_DIR: dataDir, VISAGE_FETCH_ALLOW: "127.0.0.1" });
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

/** Waits until a call fails and returns its error. */
async function rejectionOf(call: Promise<unknown>): Promise<VisageError> {
  const fault = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(fault).toBeInstanceOf(VisageError);
  return fault as VisageError;
}

describe("an image input", () => {
  test.each<[string, () => ImageInput | Promise<ImageInput>]>([
    ["a path", () => ({ path: PATH })],
    ["bytes", () => new Uint8Array(PHOTO)],
    ["an ArrayBuffer", () => new Uint8Array(PHOTO).buffer],
    ["a Blob", () => new Blob([new Uint8Array(PHOTO)])],
    ["a Node stream", () => createReadStream(PATH)],
    ["a web stream", () => new Blob([new Uint8Array(PHOTO)]).stream()],
    [
      "a URL",
      async () => {
        const { port } = await startImageServer((_, response) => response.end(PHOTO));
        return { url: new URL(`http://127.0.0.1:${port}/photo.jpg`) };
      },
    ],
  ])("can be %s", async (_, input) => {
    const client = openClient();
    const { embedding, model } = await client.getFaceVec(await input(), { quality: true });
    const { data } = await client.raw.getFaceVec({ img: { source: { case: "content", value: PHOTO } } });
    expect([...embedding]).toEqual(data!.vector);
    expect(model).not.toBe("");
  });

  test("cannot be a plain string, which could be a path or a URL", async () => {
    // @ts-expect-error The types reject it too.
    await expect(openClient().getFaceVec(PATH)).rejects.toThrow(TypeError);
  });

  test("of another shape is rejected before a request", async () => {
    // @ts-expect-error The types reject it too.
    await expect(openClient().getFaceVec({ file: PATH })).rejects.toThrow("An image must be bytes");
  });

  test.each<[string, () => ImageInput]>([
    ["a missing file", () => ({ path: "no-such.jpg" })],
    ["a folder", () => ({ path: tmpdir() })],
    ["a stream that fails", () => createReadStream("no-such.jpg")],
  ])("that cannot be read, %s, is an error that no retry helps against", async (_, input) => {
    expect(await rejectionOf(openClient().analyzeImage(input()))).toMatchObject({
      reason: "UNREADABLE_IMAGE",
      code: undefined,
      retryable: false,
      cause: { code: expect.stringMatching(/^ENOENT|EISDIR$/) },
    });
  });
});

test("matchFaces compares the faces that the boxes select", async () => {
  const client = openClient();
  const [left, middle] = FACES[3] as [(typeof FACES)[3][0], (typeof FACES)[3][0]];
  const same = await client.matchFaces(PHOTO, { path: PATH }, { box1: left, box2: left });
  expect(same).toEqual({ distance: 0, matched: true });
  const others = await client.matchFaces(PHOTO, PHOTO, { box1: left, box2: middle });
  expect(others).toMatchObject({ matched: false });
  expect(others.distance).toBeGreaterThan(0.5);
});

test("getImageAttr returns every face, the most prominent first", async () => {
  const { width, height, faces } = await openClient().getImageAttr(PHOTO);
  expect({ width, height, count: faces.length }).toEqual({ width: 1920, height: 1350, count: 3 });
  expect(Object.keys(faces[0]!.landmarks)).toHaveLength(68);
  const [again] = (await openClient().getImageAttr(PHOTO, { boxes: [faces[0]!.box], detect: false })).faces;
  expect(again!.gender).toBe(faces[0]!.gender);
});

test("analyzeImage returns the chosen features of every face", async () => {
  const client = openClient();
  const { width, height, faces, facesFound } = await client.analyzeImage({ path: PATH });
  expect({ width, height, facesFound }).toEqual({ width: 1920, height: 1350, facesFound: 3 });
  const old = await client.getImageAttr(PHOTO);
  for (const [i, face] of faces.entries()) {
    const { age, gender, box, landmarks } = old.faces[i]!;
    expect(face.age!.range).toBe(age);
    expect(face.gender).toEqual({
      value: gender,
      confidence: expect.toSatisfy(
        (value: number) => Math.abs(value - old.faces[i]!.genderConfidence) < 0.001,
      ),
    });
    expect(Math.abs(face.box.x1 - box.x1)).toBeLessThan(1);
    expect(face.landmarks).toHaveLength(Object.keys(landmarks).length);
    expect(face.quality).toMatchObject({ issues: [], usable: true });
    expect(face.detectionScore).toBeGreaterThan(0.5);
    expect(face.template).toBeUndefined();
  }
  const features = ["embedding"] as const;
  const [embedded] = (await client.analyzeImage(PHOTO, { features, maxFaces: 1 })).faces;
  expect(embedded).toMatchObject({
    landmarks: [],
    pose: undefined,
    quality: undefined,
    age: undefined,
    gender: undefined,
  });
  expect(embedded!.template).toEqual(await client.getFaceVec(PHOTO));
  const [small] = (await client.analyzeImage(PHOTO, { boxes: [FACES[3][0]!] })).faces;
  expect(small).toMatchObject({ detectionScore: undefined, prominence: undefined });
});

test("analyzeImage rejects a feature that does not exist", async () => {
  // @ts-expect-error The types reject it too.
  await expect(openClient().analyzeImage(PHOTO, { features: ["age"] })).rejects.toThrow(TypeError);
});

test("compareFaces compares images and templates", async () => {
  const client = openClient();
  const [left, middle] = FACES[3] as [(typeof FACES)[3][0], (typeof FACES)[3][0]];
  const all = await client.compareFaces(PHOTO, { path: PATH }, { sourceBox: left, quality: true });
  expect(all.matches.map(({ matched }) => matched)).toEqual([true, false, false]);
  expect(all.matches[0]).toMatchObject({ confidence: expect.closeTo(1, 2), box: { x1: expect.any(Number) } });
  expect(all).toMatchObject({ threshold: 0.5, extrapolated: false, sourceBox: { x1: expect.any(Number) } });
  expect([all.sourceQuality, all.matches[0]!.quality]).toMatchObject([{ usable: true }, { usable: true }]);

  const template = await client.getFaceVec(PHOTO, { box: left });
  const one = await client.compareFaces(template, PHOTO, { targetBox: middle, maxFalseMatchRate: 0.001 });
  expect(one.matches).toHaveLength(1);
  expect(one.falseMatchRate).toBeLessThanOrEqual(Math.fround(0.001));
  expect(one).toMatchObject({ sourceBox: undefined, model: template.model });
  const { matches } = await client.compareFaces(template, template);
  expect(matches).toMatchObject([{ box: undefined, distance: 0, confidence: 1, matched: true }]);
  expect(matches[0]).toMatchObject({ population: "age_10_and_older", threshold: 0.5, candidatesOnly: false });
  const adults = await client.compareFaces(template, template, {
    maxFalseMatchRate: 1e-6,
    assumeAdults: true,
  });
  expect(adults.matches).toMatchObject([{ matched: true, population: "adults" }]);
  const candidates = await client.compareFaces(template, template, { maxFalseMatchRate: 1e-6 });
  expect(candidates.matches).toMatchObject([{ matched: false, candidatesOnly: true }]);
  const foreign = { ...template, model: "another" };
  expect(await rejectionOf(client.compareFaces(foreign, PHOTO))).toMatchObject({ reason: "MODEL_MISMATCH" });
});

describe("an error", () => {
  test("about an image names the image and the stage", async () => {
    const error = await rejectionOf(openClient().matchFaces(PHOTO, Buffer.from("no image")));
    expect(error).toMatchObject({
      reason: "UNSUPPORTED_FORMAT",
      code: "2004",
      field: "img_2",
      stage: "decode",
      retryable: false,
      message: expect.stringContaining("neither a JPEG nor a PNG"),
    });
  });

  test("about the user names the reason", async () => {
    const error = await rejectionOf(openClient({ apiKey: "unknown-user-of-tests" }).getFaceVec(PHOTO));
    expect(error).toMatchObject({ reason: "UNKNOWN_USER", code: "4002", retryable: false });
  });

  test("is reported when the deadline passes", async () => {
    expect(await rejectionOf(openClient({ timeoutMs: 1 }).getFaceVec(PHOTO))).toMatchObject({
      reason: "DEADLINE_PASSED",
    });
  });

  test("after an abort is not retryable", async () => {
    const call = openClient().getFaceVec(PHOTO, { signal: AbortSignal.abort() });
    expect(await rejectionOf(call)).toMatchObject({ reason: "CANCELLED", retryable: false });
  });
});

describe("a call that fails for a temporary reason", () => {
  test("is retried after the delay that the service asks for", async () => {
    await addTestUser(store, "one-a-second", { requestsPerSecond: 1 });
    const client = openClient({ apiKey: "one-a-second" });
    await client.getFaceVec(PORTRAIT);
    const startMs = performance.now();
    await Promise.all([1, 2].map(() => client.getFaceVec(PORTRAIT)));
    expect(performance.now() - startMs).toBeGreaterThan(1000);
  });

  test("is not retried if the delay would pass the deadline", async () => {
    await addTestUser(store, "patient", { requestsPerSecond: 0.01 });
    const client = openClient({ apiKey: "patient" });
    await client.getFaceVec(PORTRAIT);
    const error = await rejectionOf(client.getFaceVec(PORTRAIT));
    expect(error).toMatchObject({ reason: "TOO_MANY_REQUESTS", code: "4005", retryable: true });
    expect(error.retryAfterMs).toBeGreaterThan(30_000);
  });

  test("is not retried if the quota of the month is spent", async () => {
    await addTestUser(store, "nothing-left", { requestsPerMonth: 0 });
    const error = await rejectionOf(openClient({ apiKey: "nothing-left" }).getFaceVec(PORTRAIT));
    expect(error).toMatchObject({ reason: "QUOTA_SPENT", code: "4004", retryable: false, retryAfterMs: 0 });
  });

  test("is not retried more often than configured", async () => {
    await addTestUser(store, "hurried", { requestsPerSecond: 0.01 });
    const client = openClient({ apiKey: "hurried", retries: 0 });
    await client.getFaceVec(PORTRAIT);
    expect(await rejectionOf(client.getFaceVec(PORTRAIT))).toMatchObject({
      reason: "TOO_MANY_REQUESTS",
      retryable: true,
    });
  });

  test("ends when it is aborted during the delay", async () => {
    await addTestUser(store, "giving-up", { requestsPerSecond: 0.1 });
    const client = openClient({ apiKey: "giving-up" });
    await client.getFaceVec(PORTRAIT);
    const controller = new AbortController();
    const call = rejectionOf(client.getFaceVec(PORTRAIT, { signal: controller.signal }));
    setTimeout(() => controller.abort(), 500);
    // Without the abort it would succeed after ten seconds.
    expect(await call).toMatchObject({ reason: "CANCELLED" });
  });

  describe("because a worker died", () => {
    /** Kills up to `count` workers, each while it runs a job. Returns the ids of the killed processes. */
    const killWorkers = ({ pool }: RunningService, count: number) => {
      const killed = new Set<number>();
      const timer = setInterval(() => {
        const [pid] = pool.pids;
        if (pool.busy === 0 || pid === undefined || killed.has(pid) || killed.size === count) return;
        killed.add(pid);
        process.kill(pid, "SIGKILL");
      }, 2);
      onTestFinished(() => clearInterval(timer));
      return killed;
    };

    test("is retried once", async () => {
      const killed = killWorkers(service, 1);
      expect((await openClient().getFaceVec(PHOTO)).embedding).toHaveLength(128);
      expect(killed.size).toBe(1);
    });

    test("is not retried a second time", async () => {
      const killed = killWorkers(service, 3);
      const error = await rejectionOf(openClient({ retries: 5 }).getFaceVec(PHOTO));
      expect(error).toMatchObject({ reason: "INTERNAL", code: "5000", retryable: true });
      expect(killed.size).toBe(2);
    });
  });

  test("succeeds at an overloaded service", async () => {
    const small = await startTestService({ VISAGE_MAX_QUEUE_WAIT_MS: "1" });
    onTestFinished(() => small.close());
    const address = `http://127.0.0.1:${small.port}`;
    const burst = (retries: number) =>
      Array.from({ length: 6 }, () => openClient({ address, retries }).getFaceVec(PORTRAIT));
    // Stopped, so that the service is overloaded however late the calls arrive.
    const [worker] = small.pool.pids;
    process.kill(worker!, "SIGSTOP");
    const rejections: unknown[] = [];
    const calls = burst(0).map((call) => call.catch((error: unknown) => rejections.push(error)));
    await expect.poll(() => rejections.length).toBeGreaterThan(0);
    process.kill(worker!, "SIGCONT");
    await Promise.all(calls);
    expect(rejections[0]).toMatchObject({
      reason: "OVERLOADED",
      code: "5001",
      retryAfterMs: expect.any(Number),
    });
    await Promise.all(burst(15));
  });

  test("succeeds once the service has started", async () => {
    const port = await freePort();
    const address = `http://127.0.0.1:${port}`;
    expect(await rejectionOf(openClient({ address, retries: 0 }).getFaceVec(PORTRAIT))).toMatchObject({
      reason: "UNREACHABLE",
      code: undefined,
      retryable: true,
    });
    const start = async () => {
      const after = await startTestService({ VISAGE_PORT: String(port) });
      onTestFinished(() => after.close());
    };
    // More retries than a slow start takes.
    const patient = openClient({ address, retries: 100, timeoutMs: 60_000 });
    const [{ embedding }] = await Promise.all([patient.getFaceVec(PORTRAIT), start()]);
    expect(embedding).toHaveLength(128);
  });
});
