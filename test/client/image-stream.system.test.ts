import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
  createVisageClient,
  type StreamImage,
  type StreamResult,
  type VisageClient,
  type VisageClientOptions,
} from "../../src/client/visage-client.ts";
import type { RunningService } from "../../src/main.ts";
import { photograph } from "../support/images.ts";
import { startTestService, USER } from "../support/service.ts";

const NUMBERS = [1, 2, 3, 4, 5, 6] as const;
const PHOTO = photograph(3);
const NO_IMAGE = new Uint8Array(1000);

let service: RunningService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

function openClient(options: Partial<VisageClientOptions> = {}): VisageClient {
  const client = createVisageClient({
    address: `http://127.0.0.1:${service.port}`,
    apiKey: USER,
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}

async function collect<Key>(results: AsyncIterable<StreamResult<Key>>): Promise<StreamResult<Key>[]> {
  const collected: StreamResult<Key>[] = [];
  for await (const result of results) collected.push(result);
  return collected;
}

function* photos(count: number, image = PHOTO as Uint8Array): Generator<StreamImage<number>> {
  for (let key = 0; key < count; key++) yield { key, image };
}

test("every image gets the result that analyzeImage returns", async () => {
  const client = openClient();
  const features = ["landmarks", "attributes", "embedding", "quality"] as const;
  const images = NUMBERS.map((key) => ({ key, image: photograph(key) }));
  const results = await collect(client.analyzeImages(images, { features, maxFaces: 2 }));
  expect(results.map(({ key }) => key).toSorted()).toEqual(NUMBERS);
  for (const { key, response } of results)
    expect(response).toEqual(await client.analyzeImage(photograph(key), { features, maxFaces: 2 }));
});

test("an image that cannot be analysed or read has an error, and the others go on", async () => {
  const [first] = (await openClient().analyzeImage(PHOTO)).faces;
  const outside = { x1: 9000, y1: 9000, x2: 9100, y2: 9100 };
  const results = await collect(
    openClient().analyzeImages([
      { key: "broken", image: NO_IMAGE },
      { key: "missing", image: { path: "no-such-file.jpg" } },
      { key: "outside", image: PHOTO, boxes: [outside] },
      { key: "box", image: PHOTO, boxes: [first!.box] },
      // Keys need not be unique.
      { key: "box", image: PHOTO, boxes: [first!.box] },
    ]),
  );
  const outcomes = results.map(({ key, response, error }) => [key, error?.reason ?? response!.faces.length]);
  expect(outcomes.toSorted()).toEqual([
    ["box", 1],
    ["box", 1],
    ["broken", "UNSUPPORTED_FORMAT"],
    ["missing", "UNREADABLE_IMAGE"],
    ["outside", "BAD_BOX"],
  ]);
  const { error } = results.find(({ key }) => key === "broken")!;
  expect(error).toMatchObject({ name: "VisageError", code: "2004", stage: "decode", retryable: false });
});

test("an image that is larger than the service accepts fails alone", async () => {
  const small = await startTestService({ VISAGE_MAX_REQUEST_BYTES: "200000" });
  onTestFinished(() => small.close());
  const client = openClient({ address: `http://127.0.0.1:${small.port}` });
  const sizes = [1_000, 300_000, 1_000, 1_000, 300_000];
  const images = sizes.map((size, key) => ({ key, image: new Uint8Array(size) }));
  const results = await collect(client.analyzeImages(images));
  const reasons = results.toSorted((a, b) => a.key - b.key).map(({ error }) => error?.reason);
  expect(reasons).toEqual([
    "UNSUPPORTED_FORMAT",
    "REQUEST_TOO_LARGE",
    "UNSUPPORTED_FORMAT",
    "UNSUPPORTED_FORMAT",
    "REQUEST_TOO_LARGE",
  ]);
});

test("a stream without images has no results", async () => {
  expect(await collect(openClient().analyzeImages([]))).toEqual([]);
});

test("hundreds of images are read only as fast as their results are taken", async () => {
  const maxInFlight = 8;
  let read = 0;
  let taken = 0;
  let isClosed = false;
  function* source() {
    try {
      for (const photo of photos(Number.POSITIVE_INFINITY, NO_IMAGE)) {
        read++;
        expect(read - taken).toBeLessThanOrEqual(maxInFlight + 2);
        yield photo;
      }
    } finally {
      isClosed = true;
    }
  }
  for await (const { error } of openClient({ maxInFlight }).analyzeImages(source())) {
    expect(error?.reason).toBe("UNSUPPORTED_FORMAT");
    if (++taken === 300) break;
  }
  await expect.poll(() => isClosed).toBe(true);
});

test("results come while the source waits for its next image", async () => {
  const results: number[] = [];
  async function* source() {
    for (const photo of photos(3)) {
      yield photo;
      await expect.poll(() => results, { timeout: 10_000 }).toContain(photo.key);
    }
  }
  for await (const { key } of openClient().analyzeImages(source())) results.push(key);
  expect(results).toEqual([0, 1, 2]);
});

test("the error of a source comes after the results of its images", async () => {
  function* source() {
    yield* photos(2);
    throw new Error("The disk is gone.");
  }
  const keys: number[] = [];
  const reading = (async () => {
    for await (const { key } of openClient().analyzeImages(source())) keys.push(key);
  })();
  await expect(reading).rejects.toThrow("The disk is gone.");
  expect(keys.toSorted()).toEqual([0, 1]);
});

describe("a stream ends", () => {
  /** Takes results until a function says to stop, and returns the error of the stream. */
  async function failureAfter(
    results: AsyncIterable<StreamResult<number>>,
    onResult: () => void = () => {},
  ): Promise<unknown> {
    try {
      for await (const _ of results) onResult();
      return undefined;
    } catch (error) {
      return error;
    }
  }

  test("when it is aborted", async () => {
    const controller = new AbortController();
    const images = photos(Number.POSITIVE_INFINITY);
    const results = openClient().analyzeImages(images, { signal: controller.signal });
    expect(await failureAfter(results, () => controller.abort())).toMatchObject({ reason: "CANCELLED" });
    expect(images.next().done).toBe(true);
  });

  test("when it is aborted while the source waits", async () => {
    const controller = new AbortController();
    async function* source() {
      yield* photos(1);
      await new Promise(() => {});
    }
    const results = openClient().analyzeImages(source(), { signal: controller.signal });
    expect(await failureAfter(results, () => controller.abort())).toMatchObject({ reason: "CANCELLED" });
  });

  test("when its client is closed", async () => {
    const client = openClient();
    const results = client.analyzeImages(photos(Number.POSITIVE_INFINITY));
    expect(await failureAfter(results, () => client.close())).toMatchObject({ reason: "CANCELLED" });
  });

  test("at once if the key is unknown", async () => {
    const results = openClient({ apiKey: "unknown-user-of-tests" }).analyzeImages(photos(20));
    expect(await failureAfter(results)).toMatchObject({ reason: "UNKNOWN_USER", code: "4002" });
  });

  test("after some attempts if there is no service", async () => {
    const results = openClient({ address: "http://127.0.0.1:1", retries: 2 }).analyzeImages(photos(2));
    expect(await failureAfter(results)).toMatchObject({ reason: "UNREACHABLE", retryable: true });
  });
});

test("a stream survives the end of its connections", async () => {
  const young = await startTestService({ VISAGE_MAX_CONNECTION_AGE_MS: "1000" });
  onTestFinished(() => young.close());
  const client = openClient({ address: `http://127.0.0.1:${young.port}` });
  const startMs = performance.now();
  function* source() {
    for (const photo of photos(Number.POSITIVE_INFINITY)) {
      if (performance.now() - startMs > 3_500) return;
      yield photo;
    }
  }
  const results = await collect(client.analyzeImages(source()));
  expect(results.filter(({ error }) => error)).toEqual([]);
  const keys = results.map(({ key }) => key).toSorted((a, b) => a - b);
  expect(keys).toEqual([...photos(results.length)].map(({ key }) => key));
});

test("a stream survives restarts of the service, and every image has one result", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "visage-stream-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  let current = await startTestService({ VISAGE_DATA_DIR: dataDir });
  const env = { VISAGE_DATA_DIR: dataDir, VISAGE_PORT: String(current.port) };
  onTestFinished(() => current.close());
  const client = openClient({ address: `http://127.0.0.1:${current.port}`, retries: 20 });
  const keys: number[] = [];
  let restarting = Promise.resolve();
  for await (const { key, error } of client.analyzeImages(photos(30))) {
    expect(error).toBeUndefined();
    keys.push(key);
    if (keys.length === 5 || keys.length === 15)
      restarting = restarting.then(async () => {
        await current.close();
        current = await startTestService(env);
      });
  }
  await restarting;
  expect(keys.toSorted((a, b) => a - b)).toEqual([...photos(30)].map(({ key }) => key));
});
