// A call with many faces is run in parts, and other callers are served between two parts.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type AnalyzeOptions, type Analyzer, DEFAULT_MODELS_DIR, FaceError } from "../../src/core/index.ts";
import { openPool, type Pool, type QueueOptions } from "../../src/workers/pool.ts";
import { boxOf, createCrowd, FACES, openRealAnalyzer } from "../support/faces.ts";
import { photograph } from "../support/images.ts";

const REASON = new Error("cancelled");
const WAIT = { timeout: 20_000, interval: 5 };
const WALL = boxOf(0, 0, 40, 40);

let pool: Pool;
let analyzer: Analyzer;
beforeAll(async () => {
  [pool, analyzer] = await Promise.all([
    openPool({ modelsDir: DEFAULT_MODELS_DIR, workers: 1, maxQueueWaitMs: 600_000 }),
    openRealAnalyzer(),
  ]);
});
afterAll(() => Promise.all([pool.close(), analyzer.close()]));

/** Creates boxes around the faces of photograph 3, with repetitions. */
function boxes(count: number) {
  return Array.from({ length: count }, (_, i) => FACES[3][i % FACES[3].length]!);
}

/** Adds a counter of the parts of a call to its options. */
function countParts(options: AnalyzeOptions & QueueOptions = {}) {
  const count = { parts: 0 };
  const onStage: AnalyzeOptions["onStage"] = (stage) => {
    if (stage === "queue") count.parts++;
  };
  return { count, options: { ...options, onStage } };
}

/** Returns the error that a promise is rejected with. */
function errorFrom(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail("nothing was thrown"),
    (error: unknown) => error,
  );
}

describe("results do not depend on the number of parts", () => {
  test("for 40 detected faces", async () => {
    const image = await createCrowd(40);
    const { count, options } = countParts({ embeddings: true });
    const fromPool = await pool.analyze(image, options);
    expect(fromPool).toStrictEqual(await analyzer.analyze(image, { embeddings: true }));
    expect(fromPool.faces.length).toBeGreaterThan(32);
    expect(fromPool.facesFound).toBe(fromPool.faces.length);
    expect(count.parts).toBe(Math.ceil(fromPool.faces.length / 16));
  });

  test("for the most prominent of 40 faces", async () => {
    const image = await createCrowd(40);
    const { count, options } = countParts();
    const fromPool = await pool.embed(image, options);
    expect(fromPool).toStrictEqual(await analyzer.embed(image));
    expect(fromPool.facesFound).toBeGreaterThan(32);
    expect(fromPool.box).toEqual((await analyzer.analyze(image)).faces[0]!.box);
    expect(count.parts).toBe(1);
  });

  test("for 40 boxes", async () => {
    const { count, options } = countParts({ boxes: boxes(40), embeddings: true });
    const fromPool = await pool.analyze(photograph(3), options);
    expect(fromPool).toStrictEqual(
      await analyzer.analyze(photograph(3), { boxes: boxes(40), embeddings: true }),
    );
    expect([fromPool.faces.length, fromPool.facesFound, count.parts]).toEqual([40, 40, 3]);
  });

  test.each([
    [
      "an empty box after one without a face",
      [...boxes(2), WALL, ...boxes(30), boxOf(5, 5, 5, 5)],
      "badBox",
      1,
    ],
    ["two boxes without a face", [...boxes(20), WALL, boxOf(0, 0, 30, 30), ...boxes(20)], "noFaceInBox", 2],
  ])("for %s", async (_, wrong, kind, parts) => {
    const { count, options } = countParts({ boxes: wrong });
    const fromPool = (await errorFrom(pool.analyze(photograph(3), options))) as FaceError;
    const expected = (await errorFrom(analyzer.analyze(photograph(3), { boxes: wrong }))) as FaceError;
    expect(fromPool).toBeInstanceOf(FaceError);
    expect(fromPool.kind).toBe(kind);
    const detailsOf = ({ message, box, boxIndex }: FaceError) => ({ message, box, boxIndex });
    expect(detailsOf(fromPool)).toEqual(detailsOf(expected));
    expect(count.parts).toBe(parts);
  });
});

test.each([
  ["16 detected faces", () => createCrowd(16), {}],
  ["a photograph of five", async () => photograph(5), {}],
  ["16 boxes", async () => photograph(3), { boxes: boxes(16) }],
])("%s are one part", async (_, image, selection) => {
  const { count, options } = countParts(selection);
  const { faces } = await pool.analyze(await image(), options);
  expect(faces.length).toBeLessThanOrEqual(16);
  expect(count.parts).toBe(1);
});

describe("a request with too many boxes is rejected before anything else", () => {
  test.each([
    ["analyze", 257, "The request has 257 boxes and the limit is 256."],
    ["embed", 2, "The request has 2 boxes and the limit is 1."],
  ] as const)("by %s", async (operation, count, message) => {
    for (const one of [pool, analyzer]) {
      const call = one[operation](Buffer.from("no image"), { boxes: boxes(count) });
      await expect(call).rejects.toMatchObject({ name: "FaceError", kind: "badBox", message });
    }
  });
});

test("heavy calls of one user delay a light call of another by one part at most", async () => {
  const controller = new AbortController();
  const { count, options } = countParts({ boxes: boxes(256), caller: "heavy", signal: controller.signal });
  const heavy = [1, 2].map(() => pool.analyze(photograph(3), options).catch((error: unknown) => error));
  await vi.waitFor(() => expect(count.parts).toBeGreaterThan(1), WAIT);
  for (let call = 0; call < 5; call++) {
    const before = count.parts;
    await pool.embed(photograph(3), { caller: "light" });
    expect(count.parts - before).toBeLessThanOrEqual(1);
  }
  // The heavy calls make progress too: one part for each light call.
  expect(count.parts).toBeGreaterThanOrEqual(5);
  controller.abort(REASON);
  expect(await Promise.all(heavy)).toEqual([REASON, REASON]);
});

describe("between parts", () => {
  const image = photograph(3);

  test("a call can be cancelled at every stage of every part", async () => {
    const expected = await analyzer.embed(image);
    let stages = 0;
    const request = { boxes: boxes(17), embeddings: true };
    await pool.analyze(image, { ...request, onStage: () => stages++ });
    expect(stages).toBe(2 * 6);
    for (let last = 1; last <= stages; last++) {
      const controller = new AbortController();
      let seen = 0;
      const onStage = () => {
        if (++seen === last) controller.abort(REASON);
      };
      const call = pool.analyze(image, { ...request, signal: controller.signal, onStage });
      // The stages of the last part are reported when all work is done.
      if (last > 6) await call;
      else expect(await errorFrom(call)).toBe(REASON);
      await vi.waitFor(() => expect([pool.busy, pool.waiting]).toEqual([0, 0]), WAIT);
    }
    expect(await pool.embed(image)).toStrictEqual(expected);
    expect(pool.restarts).toBe(0);
  });

  test("a call is rejected when its deadline has passed", async () => {
    const { count, options } = countParts({ boxes: boxes(40), deadlineMs: performance.now() + 50 });
    expect(await errorFrom(pool.analyze(image, options))).toMatchObject({ kind: "overloaded" });
    expect(count.parts).toBe(1);
  });

  test("a call that waits can be cancelled", async () => {
    const controller = new AbortController();
    const { count, options } = countParts({ boxes: boxes(256), caller: "one", signal: controller.signal });
    const call = errorFrom(pool.analyze(image, options));
    const other = countParts({ boxes: boxes(256), caller: "other" });
    const otherController = new AbortController();
    const otherCall = errorFrom(pool.analyze(image, { ...other.options, signal: otherController.signal }));
    await vi.waitFor(() => expect(count.parts).toBe(1), WAIT);
    // Now a part of the other call is running, and this call waits.
    expect([pool.busy, pool.waiting]).toEqual([1, 1]);
    controller.abort(REASON);
    expect(pool.waiting).toBe(0);
    expect(await call).toBe(REASON);
    otherController.abort(REASON);
    expect(await otherCall).toBe(REASON);
    await vi.waitFor(() => expect(pool.busy).toBe(0), WAIT);
  });

  test("a call is not affected if the worker exits while it runs another call", async () => {
    const own = await openPool({ modelsDir: DEFAULT_MODELS_DIR, workers: 1, maxQueueWaitMs: 600_000 });
    const { count, options } = countParts({ boxes: boxes(40), caller: "one" });
    const call = own.analyze(image, options);
    const other = errorFrom(own.analyze(image, { boxes: boxes(16), caller: "other" }));
    await vi.waitFor(() => expect(count.parts).toBe(1), WAIT);
    process.kill(own.pids[0]!, "SIGKILL");
    expect(await other).toMatchObject({ name: "QueueError", kind: "workerLost" });
    expect(await call).toStrictEqual(await analyzer.analyze(image, { boxes: boxes(40) }));
    expect([count.parts, own.restarts]).toEqual([3, 1]);
    await own.close();
  });

  test("a call fails if its worker exits in a later part, and the pool recovers", async () => {
    const own = await openPool({ modelsDir: DEFAULT_MODELS_DIR, workers: 1, maxQueueWaitMs: 600_000 });
    const { count, options } = countParts({ boxes: boxes(40) });
    const call = errorFrom(own.analyze(image, options));
    await vi.waitFor(() => expect(count.parts).toBe(1), WAIT);
    process.kill(own.pids[0]!, "SIGKILL");
    expect(await call).toMatchObject({ name: "QueueError", kind: "workerLost" });
    expect((await own.embed(image)).facesFound).toBe(3);
    await own.close();
  });

  test("a call is rejected when the pool closes", async () => {
    const own = await openPool({ modelsDir: DEFAULT_MODELS_DIR, workers: 1 });
    const { count, options } = countParts({ boxes: boxes(40) });
    const call = errorFrom(own.analyze(image, options));
    await vi.waitFor(() => expect(count.parts).toBe(1), WAIT);
    await own.close();
    expect(await call).toMatchObject({ name: "QueueError", kind: "closed" });
    expect([own.busy, own.waiting, own.pids.length]).toEqual([0, 0, 0]);
  });
});
