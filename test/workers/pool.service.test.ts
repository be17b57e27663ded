import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { type Analyzer, DEFAULT_MODELS_DIR, FaceError, type Stage } from "../../src/core/index.ts";
import { openPool, type Pool } from "../../src/workers/pool.ts";
import { boxOf, FACES, openRealAnalyzer, SAMPLES } from "../support/faces.ts";
import { photograph } from "../support/images.ts";

const REASON = new Error("cancelled");
/** A wait limit that no test reaches, however slow the machine is. */
const LONG_MS = 600_000;
const WAIT = { timeout: 20_000, interval: 20 };

/** As many boxes as a call may have: it takes some seconds, in turns of a fraction of a second. */
const LONG_CALL = { boxes: Array.from({ length: 256 }, () => FACES[3][0]!) };

let pool: Pool;
let analyzer: Analyzer;
beforeAll(async () => {
  [pool, analyzer] = await Promise.all([
    openPool({ modelsDir: DEFAULT_MODELS_DIR, workers: 2, maxQueueWaitMs: LONG_MS }),
    openRealAnalyzer(),
  ]);
});
afterAll(() => Promise.all([pool.close(), analyzer.close()]));

/** Returns the error that a promise is rejected with. */
function errorFrom(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail("nothing was thrown"),
    (error: unknown) => error,
  );
}

/** Starts a long call on each worker; returns a function that cancels and awaits them. */
function occupy(workers: number): () => Promise<void> {
  const controller = new AbortController();
  const calls = Array.from({ length: workers }, () =>
    pool.analyze(photograph(3), { ...LONG_CALL, signal: controller.signal }).catch(() => {}),
  );
  return async () => {
    controller.abort(REASON);
    await Promise.all(calls);
    await vi.waitFor(() => expect(pool.busy).toBe(0), WAIT);
  };
}

/** Counts the worker processes of this process. */
function countWorkerProcesses(): number {
  const processes = execFileSync("ps", ["-A", "-o", "ppid=,args="], { encoding: "utf8" }).split("\n");
  return processes.filter((line) => line.trim().startsWith(`${process.pid} `) && line.includes("worker.js"))
    .length;
}

describe("a pool gives the same results as an analyzer in this process", () => {
  test("has the same identity", () => {
    expect(pool.identity).toBe(analyzer.identity);
    expect(pool.size).toBe(2);
    expect(new Set(pool.pids).size).toBe(2);
    expect(pool.pids).not.toContain(process.pid);
  });

  test("is equal to the last bit, also for concurrent calls", async () => {
    const bytes = SAMPLES.slice(0, 4).map(photograph);
    const theirs = Promise.all(bytes.map((image) => pool.analyze(image, { embeddings: true })));
    expect(pool.busy).toBe(2);
    expect(pool.waiting).toBe(2);
    const ours = await Promise.all(bytes.map((image) => analyzer.analyze(image, { embeddings: true })));
    expect(await theirs).toStrictEqual(ours);
    expect(ours.flatMap(({ faces }) => faces)).toHaveLength(13);
  });

  test("supports boxes with and without detection", async () => {
    const box = FACES[3][1]!;
    for (const options of [{}, { boxes: [box] }, { boxes: [box], detect: false }, { detect: false }]) {
      const ours = await analyzer.analyze(photograph(3), options);
      expect(await pool.analyze(photograph(3), options)).toStrictEqual(ours);
    }
    const ours = await analyzer.embed(photograph(3), { boxes: [box] });
    const theirs = await pool.embed(photograph(3), { boxes: [box] });
    expect(theirs).toStrictEqual(ours);
    expect(theirs.embedding).toBeInstanceOf(Float32Array);
  });

  test("returns embeddings that own their memory", async () => {
    const { embedding } = await pool.embed(photograph(3));
    expect(embedding.buffer.byteLength).toBe(embedding.byteLength);
    const { faces } = await pool.analyze(photograph(3), { embeddings: true });
    for (const face of faces) expect(face.embedding?.buffer.byteLength).toBe(512);
  });

  test("accepts bytes that are a view of a larger buffer", async () => {
    const bytes = photograph(3);
    const pooled = Buffer.concat([Buffer.alloc(5), bytes, Buffer.alloc(50_000_000)]);
    const theirs = await pool.embed(pooled.subarray(5, 5 + bytes.length));
    expect(theirs).toStrictEqual(await analyzer.embed(bytes));
  });

  test("reports the stages before the result", async () => {
    const stages: [Stage, number][] = [];
    await pool.analyze(photograph(3), { embeddings: true, onStage: (...stage) => stages.push(stage) });
    expect(stages.map(([stage]) => stage)).toEqual([
      "queue",
      "decode",
      "detect",
      "mesh",
      "attributes",
      "embed",
    ]);
    for (const [, milliseconds] of stages) expect(milliseconds).toBeGreaterThan(0);
  });

  test("reports the stages before an error", async () => {
    const stages: Stage[] = [];
    const options = { boxes: [boxOf(5, 5, 5, 5)], onStage: (stage: Stage) => stages.push(stage) };
    await errorFrom(pool.analyze(photograph(3), options));
    expect(stages).toEqual(["queue", "decode"]);
  });
});

describe("errors of a worker", () => {
  test.each([
    ["badBox", photograph(3), { boxes: [boxOf(9000, 9000, 9100, 9100)] }],
    ["noFaceInBox", photograph(3), { boxes: [boxOf(0, 0, 40, 40)] }],
    ["unsupportedFormat", Buffer.from("no image"), {}],
    ["unreadableImage", photograph(3).subarray(0, 5000), {}],
  ] as const)("are restored: FaceError %s", async (kind, image, options) => {
    const ours = (await errorFrom(analyzer.analyze(image, options))) as FaceError;
    const theirs = (await errorFrom(pool.analyze(image, options))) as FaceError;
    expect(theirs).toBeInstanceOf(FaceError);
    expect(theirs.kind).toBe(kind);
    expect(theirs.message).toBe(ours.message);
    expect([theirs.box, theirs.boxIndex]).toStrictEqual([ours.box, ours.boxIndex]);
    expect((theirs.cause as Error | undefined)?.message).toBe((ours.cause as Error | undefined)?.message);
  });

  test("are restored: other errors with their message", async () => {
    const nothing = undefined as unknown as Uint8Array;
    const theirs = await errorFrom(pool.analyze(nothing));
    expect(theirs).toBeInstanceOf(Error);
    expect(theirs).toMatchObject({
      message: ((await errorFrom(analyzer.analyze(nothing))) as Error).message,
    });
  });

  test("a call that cannot be serialized fails alone", async () => {
    const boxes = [{ ...FACES[3][0]!, extra: () => {} }];
    await expect(pool.analyze(photograph(3), { boxes })).rejects.toThrow("could not be cloned");
    expect(pool.busy).toBe(0);
    await expect(pool.embed(photograph(3))).resolves.toBeDefined();
  });
});

describe("when all workers are busy", () => {
  test("a call whose estimated wait exceeds the limit is rejected immediately", async () => {
    const own = await openPool({ modelsDir: DEFAULT_MODELS_DIR, workers: 1, maxQueueWaitMs: 1 });
    // The wait is estimated from the calls that have ended.
    await Promise.all(Array.from({ length: 8 }, () => own.embed(photograph(3))));
    expect(own.rejectionFor("caller")).toBeUndefined();
    const running = own.embed(photograph(3));
    const rejected = errorFrom(own.embed(photograph(3)));
    expect(own.rejectionFor("caller")?.retryAfterMs).toBeGreaterThanOrEqual(100);
    expect(await rejected).toMatchObject({
      name: "QueueError",
      kind: "overloaded",
      retryAfterMs: expect.any(Number),
    });
    expect((await running).facesFound).toBe(3);
    await own.close();
  });

  test("each call reports how long it waited until it started", async () => {
    const own = await openPool({ modelsDir: DEFAULT_MODELS_DIR, workers: 1, maxQueueWaitMs: LONG_MS });
    const waits: number[] = [];
    const onStage = (stage: Stage, milliseconds: number) => {
      if (stage === "queue") waits.push(milliseconds);
    };
    await Promise.all([1, 2, 3, 4].map(() => own.embed(photograph(3), { onStage })));
    expect(waits).toHaveLength(4);
    expect(waits).toEqual(waits.toSorted((one, other) => one - other));
    expect(new Set(waits.map((wait) => Math.round(wait))).size).toBe(4);
    await own.close();
  });

  test("a waiting call leaves the queue as soon as its signal is aborted", async () => {
    const end = occupy(2);
    const controller = new AbortController();
    const call = pool.embed(photograph(3), { signal: controller.signal });
    controller.abort(REASON);
    expect(pool.waiting).toBe(0);
    await expect(call).rejects.toBe(REASON);
    expect(pool.busy).toBe(2);
    await end();
  });
});

describe("cancellation", () => {
  test("rejects a running call immediately and frees its worker at the end of a step", async () => {
    const endOther = occupy(1);
    const controller = new AbortController();
    let onFirstPart = () => {};
    const firstPart = new Promise<void>((resolve) => {
      onFirstPart = resolve;
    });
    const options = { ...LONG_CALL, signal: controller.signal, onStage: onFirstPart };
    const call = errorFrom(pool.analyze(photograph(3), options));
    await firstPart;
    // Now the second part has been sent.
    await setImmediate();
    const next = pool.embed(photograph(3));
    controller.abort(REASON);
    expect(await call).toBe(REASON);
    expect([pool.busy, pool.waiting]).toEqual([2, 1]);
    expect(await next).toStrictEqual(await analyzer.embed(photograph(3)));
    await endOther();
    expect(pool.restarts).toBe(0);
  });

  test("does not start a call whose signal is already aborted", async () => {
    const call = pool.embed(photograph(3), { signal: AbortSignal.abort(REASON) });
    expect(pool.busy).toBe(0);
    await expect(call).rejects.toBe(REASON);
  });
});

test.runIf(process.platform === "linux")(
  "a worker gets no settings and no secrets from the environment",
  async () => {
    const variables = {
      VISAGE_DATABASE_URL: "postgres://visage:secret@database/visage",
      VISAGE_TRIAL_USER: "secret-user",
      PGPASSWORD: "secret",
      NODE_OPTIONS: "--no-warnings",
      LC_TIME: "C",
      TZ: "UTC",
    };
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    onTestFinished(() => void vi.unstubAllEnvs());
    const own = await openPool({ modelsDir: DEFAULT_MODELS_DIR, workers: 1 });
    const text = await readFile(`/proc/${own.pids[0]}/environ`, "utf8");
    await own.close();
    const names = text.split("\0").map((line) => line.split("=")[0]);
    expect(text).not.toMatch(/VISAGE|secret|postgres|NODE_OPTIONS/);
    expect(names).toEqual(
      expect.arrayContaining(["PATH", "LC_TIME", "TZ", "UV_THREADPOOL_SIZE", "MALLOC_ARENA_MAX"]),
    );
    const allowed =
      /^(PATH|HOME|TMPDIR|TZ|LANG|LC_\w+|LD_LIBRARY_PATH|CUDA_VISIBLE_DEVICES|UV_THREADPOOL_SIZE|MALLOC_ARENA_MAX|NODE_CHANNEL_\w+|)$/;
    expect(names.filter((name) => !allowed.test(name!))).toEqual([]);
  },
);

describe("opening a pool", () => {
  test("without models throws an error and leaves no process behind", async () => {
    const before = countWorkerProcesses();
    expect(before).toBe(2);
    const opening = openPool({ modelsDir: "/nowhere", workers: 2 });
    await expect(opening).rejects.toThrow(/^There is no network at \/nowhere\/\w+\.onnx\.$/);
    expect(countWorkerProcesses()).toBe(before);
  });

  test("with an execution provider that is missing throws an error and leaves no process behind", async () => {
    const before = countWorkerProcesses();
    const missing = process.platform === "win32" ? "coreml" : "dml";
    const onWorkerLoss = vi.fn();
    const opening = openPool({ workers: 2, providers: [missing, "cpu"], onWorkerLoss });
    await expect(opening).rejects.toThrow(`The execution provider ${missing} is missing`);
    expect(onWorkerLoss).not.toHaveBeenCalled();
    expect(countWorkerProcesses()).toBe(before);
  });

  test("works with limits that the image of the warm-up exceeds", async () => {
    const limits = { maxBytes: 200, maxPixels: 100 };
    const strict = await openPool({ modelsDir: DEFAULT_MODELS_DIR, workers: 1, limits });
    await expect(strict.embed(photograph(3))).rejects.toMatchObject({ kind: "imageTooLarge" });
    await strict.close();
  });

  test.each([{ workers: 0 }, { workers: 1.5 }, { maxQueueWaitMs: 0 }])("rejects %o", async (wrong) => {
    const options = { modelsDir: DEFAULT_MODELS_DIR, workers: 1, ...wrong };
    await expect(openPool(options)).rejects.toThrow(RangeError);
  });
});
