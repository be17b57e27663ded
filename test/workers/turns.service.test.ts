// Jobs with many faces are done in turns, between which other callers are served.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type AnalyzeOptions, type Analyzer, FaceError } from "../../src/core/index.ts";
import {
  mergeAnalysis,
  mergeEmbedding,
  type PartialAnalysis,
  type PartialEmbedding,
} from "../../src/core/partial-work.ts";
import { DEFAULT_MODELS_DIR } from "../../src/model-manifest.ts";
import { openPool, type Pool, type QueueOptions } from "../../src/workers/pool.ts";
import { boxOf, createCrowd, FACES, openRealAnalyzer } from "../support/faces.ts";
import { photograph } from "../support/images.ts";

const REASON = new Error("the caller has gone");
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

/** Boxes around faces of photograph 3, the same ones again and again. */
function boxes(count: number) {
  return Array.from({ length: count }, (_, i) => FACES[3][i % FACES[3].length]!);
}

/** Options with a count of the turns that they take. */
function counted(options: AnalyzeOptions & QueueOptions = {}) {
  const count = { turns: 0 };
  const onStage: AnalyzeOptions["onStage"] = (stage) => {
    if (stage === "queue") count.turns++;
  };
  return { count, options: { ...options, onStage } };
}

function thrownBy(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail("nothing was thrown"),
    (error: unknown) => error,
  );
}

describe("results do not depend on the number of turns", () => {
  test("for 40 faces that are found", async () => {
    const image = await createCrowd(40);
    const { count, options } = counted({ vectors: true });
    const theirs = await pool.analyze(image, options);
    expect(theirs).toStrictEqual(await analyzer.analyze(image, { vectors: true }));
    expect(theirs.faces.length).toBeGreaterThan(32);
    expect(theirs.facesFound).toBe(theirs.faces.length);
    expect(count.turns).toBe(Math.ceil(theirs.faces.length / 16));
  });

  test("for the most prominent of them", async () => {
    const image = await createCrowd(40);
    const { count, options } = counted();
    const theirs = await pool.embed(image, options);
    expect(theirs).toStrictEqual(await analyzer.embed(image));
    expect(theirs.facesFound).toBeGreaterThan(32);
    expect(theirs.box).toEqual((await analyzer.analyze(image)).faces[0]!.box);
    expect(count.turns).toBeGreaterThan(2);
  });

  test("for 40 boxes", async () => {
    const { count, options } = counted({ boxes: boxes(40), vectors: true });
    const theirs = await pool.analyze(photograph(3), options);
    expect(theirs).toStrictEqual(await analyzer.analyze(photograph(3), { boxes: boxes(40), vectors: true }));
    expect([theirs.faces.length, theirs.facesFound, count.turns]).toEqual([40, 40, 3]);
  });

  test.each([
    [
      "an empty box behind one without a face",
      [...boxes(2), WALL, ...boxes(30), boxOf(5, 5, 5, 5)],
      "badBox",
      1,
    ],
    ["two boxes without a face", [...boxes(20), WALL, boxOf(0, 0, 30, 30), ...boxes(20)], "noFaceInBox", 2],
  ])("for %s", async (_, wrong, kind, turns) => {
    const { count, options } = counted({ boxes: wrong, detect: false });
    const theirs = (await thrownBy(pool.analyze(photograph(3), options))) as FaceError;
    const ours = (await thrownBy(
      analyzer.analyze(photograph(3), { boxes: wrong, detect: false }),
    )) as FaceError;
    expect(theirs).toBeInstanceOf(FaceError);
    expect([theirs.kind, theirs.message, theirs.box]).toEqual([kind, ours.message, ours.box]);
    expect(count.turns).toBe(turns);
  });
});

test("faces of all turns are in one order: sure ones first, then the larger", () => {
  const turn = (...faces: [boolean, number][]) => ({
    width: 1,
    height: 1,
    facesFound: 5,
    faces: faces.map(([isConfident, prominence]) => ({
      rank: { isConfident, prominence },
      light: prominence,
    })),
  });
  const turns = [turn([true, 2], [false, 9]), turn([true, 1], [true, 3], [true, 2.5])] as unknown[];
  const { faces } = mergeAnalysis(turns as PartialAnalysis[]);
  expect(faces).toEqual([3, 2.5, 2, 1, 9].map((light) => ({ light })));
  expect(mergeEmbedding(turns as PartialEmbedding[])).toMatchObject({ light: 3, facesFound: 5 });
});

test.each([
  ["16 faces that are found", () => createCrowd(16), {}],
  ["a photograph of five", async () => photograph(5), {}],
  ["16 boxes", async () => photograph(3), { boxes: boxes(16) }],
])("%s take one turn", async (_, image, selection) => {
  const { count, options } = counted(selection);
  const { faces } = await pool.analyze(await image(), options);
  expect(faces.length).toBeLessThanOrEqual(16);
  expect(count.turns).toBe(1);
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

test("one user's heavy requests hold up another's light ones by one turn at most", async () => {
  const leaving = new AbortController();
  const { count, options } = counted({ boxes: boxes(256), caller: "heavy", signal: leaving.signal });
  const heavy = [1, 2].map(() => pool.analyze(photograph(3), options).catch((fault: unknown) => fault));
  await vi.waitFor(() => expect(count.turns).toBeGreaterThan(1), WAIT);
  for (let call = 0; call < 5; call++) {
    const before = count.turns;
    await pool.embed(photograph(3), { caller: "light" });
    expect(count.turns - before).toBeLessThanOrEqual(1);
  }
  // They go on meanwhile, one turn for each of the other user's.
  expect(count.turns).toBeGreaterThanOrEqual(5);
  leaving.abort(REASON);
  expect(await Promise.all(heavy)).toEqual([REASON, REASON]);
});

describe("between turns", () => {
  const image = photograph(3);

  test("a call can be cancelled at every stage of every turn", async () => {
    const expected = await analyzer.embed(image);
    let stages = 0;
    const request = { boxes: boxes(17), vectors: true };
    await pool.analyze(image, { ...request, onStage: () => stages++ });
    expect(stages).toBe(2 * 5);
    for (let last = 1; last <= stages; last++) {
      const leaving = new AbortController();
      let seen = 0;
      const onStage = () => {
        if (++seen === last) leaving.abort(REASON);
      };
      const call = pool.analyze(image, { ...request, signal: leaving.signal, onStage });
      // In the last turn everything is done already.
      if (last > 5) await call;
      else expect(await thrownBy(call)).toBe(REASON);
      await vi.waitFor(() => expect([pool.busy, pool.waiting]).toEqual([0, 0]), WAIT);
    }
    expect(await pool.embed(image)).toStrictEqual(expected);
    expect(pool.restarts).toBe(0);
  });

  test("a call is rejected when its deadline has passed", async () => {
    const { count, options } = counted({ boxes: boxes(40), deadlineMs: performance.now() + 50 });
    expect(await thrownBy(pool.analyze(image, options))).toMatchObject({ kind: "overloaded" });
    expect(count.turns).toBe(1);
  });

  test("a call that waits can be cancelled", async () => {
    const leaving = new AbortController();
    const { count, options } = counted({ boxes: boxes(256), caller: "one", signal: leaving.signal });
    const call = thrownBy(pool.analyze(image, options));
    const other = counted({ boxes: boxes(256), caller: "other" });
    const leavingToo = new AbortController();
    const otherCall = thrownBy(pool.analyze(image, { ...other.options, signal: leavingToo.signal }));
    await vi.waitFor(() => expect(count.turns).toBe(1), WAIT);
    // Now the other call has its turn, and this one waits.
    expect([pool.busy, pool.waiting]).toEqual([1, 1]);
    leaving.abort(REASON);
    expect(pool.waiting).toBe(0);
    expect(await call).toBe(REASON);
    leavingToo.abort(REASON);
    expect(await otherCall).toBe(REASON);
    await vi.waitFor(() => expect(pool.busy).toBe(0), WAIT);
  });

  test("a call survives the loss of a worker that runs another one", async () => {
    const own = await openPool({ modelsDir: DEFAULT_MODELS_DIR, workers: 1, maxQueueWaitMs: 600_000 });
    const { count, options } = counted({ boxes: boxes(40), caller: "one" });
    const call = own.analyze(image, options);
    const other = thrownBy(own.analyze(image, { boxes: boxes(16), caller: "other" }));
    await vi.waitFor(() => expect(count.turns).toBe(1), WAIT);
    process.kill(own.pids[0]!, "SIGKILL");
    expect(await other).toMatchObject({ name: "QueueError", kind: "workerLost" });
    expect(await call).toStrictEqual(await analyzer.analyze(image, { boxes: boxes(40) }));
    expect([count.turns, own.restarts]).toEqual([3, 1]);
    await own.close();
  });

  test("a call whose worker dies in a later turn fails, and the pool recovers", async () => {
    const own = await openPool({ modelsDir: DEFAULT_MODELS_DIR, workers: 1, maxQueueWaitMs: 600_000 });
    const { count, options } = counted({ boxes: boxes(40) });
    const call = thrownBy(own.analyze(image, options));
    await vi.waitFor(() => expect(count.turns).toBe(1), WAIT);
    process.kill(own.pids[0]!, "SIGKILL");
    expect(await call).toMatchObject({ name: "QueueError", kind: "workerLost" });
    expect((await own.embed(image)).facesFound).toBe(3);
    await own.close();
  });

  test("a call ends when the pool closes", async () => {
    const own = await openPool({ modelsDir: DEFAULT_MODELS_DIR, workers: 1 });
    const { count, options } = counted({ boxes: boxes(40) });
    const call = thrownBy(own.analyze(image, options));
    await vi.waitFor(() => expect(count.turns).toBe(1), WAIT);
    await own.close();
    expect(await call).toMatchObject({ name: "QueueError", kind: "closed" });
    expect([own.busy, own.waiting, own.pids.length]).toEqual([0, 0, 0]);
  });
});
