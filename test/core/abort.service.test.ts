import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Analysis, Analyzer, Stage } from "../../src/core/index.ts";
import { FACES, openRealAnalyzer } from "../support/faces.ts";
import { photograph } from "../support/images.ts";

const REASON = new Error("cancelled by the caller");

let analyzer: Analyzer;
let undisturbed: Analysis;
beforeAll(async () => {
  analyzer = await openRealAnalyzer();
  undisturbed = await analyzer.analyze(photograph(3), { embeddings: true });
});
afterAll(() => analyzer.close());

/** Analyses a photograph and aborts after a stage. Returns what was thrown and the reported stages. */
async function abortAfter(
  last: Stage,
  boxes = FACES[3].slice(0, 0),
): Promise<{ thrown: unknown; stages: Stage[] }> {
  const controller = new AbortController();
  const stages: Stage[] = [];
  const onStage = (stage: Stage) => {
    stages.push(stage);
    if (stage === last) controller.abort(REASON);
  };
  const options = { embeddings: true, boxes, signal: controller.signal, onStage };
  const thrown = await analyzer.analyze(photograph(3), options).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { thrown, stages };
}

test("stages are reported in order with their durations", async () => {
  const stages: [Stage, number][] = [];
  await analyzer.analyze(photograph(3), {
    embeddings: true,
    onStage: (...reported) => stages.push(reported),
  });
  expect(stages.map(([stage]) => stage)).toEqual(["decode", "detect", "mesh", "attributes", "embed"]);
  for (const [, milliseconds] of stages) expect(milliseconds).toBeGreaterThan(0);
});

describe("a signal", () => {
  test("that is already aborted rejects the call before decoding", async () => {
    const stages: Stage[] = [];
    const options = { signal: AbortSignal.abort(REASON), onStage: (stage: Stage) => stages.push(stage) };
    // Bytes that cannot be decoded: decoding would throw another error.
    await expect(analyzer.analyze(Buffer.from("no image"), options)).rejects.toBe(REASON);
    await expect(analyzer.embed(Buffer.from("no image"), options)).rejects.toBe(REASON);
    expect(stages).toEqual([]);
  });

  test.each([
    ["decode", ["decode"]],
    ["mesh", ["decode", "detect", "mesh"]],
    ["attributes", ["decode", "detect", "mesh", "attributes"]],
    ["embed", ["decode", "detect", "mesh", "attributes", "embed"]],
  ] as const)(
    "that is aborted after %s rejects the call, and no other stage runs",
    async (last, expected) => {
      const { thrown, stages } = await abortAfter(last);
      expect(thrown).toBe(REASON);
      expect(stages).toEqual(expected);
      expect(await analyzer.analyze(photograph(3), { embeddings: true })).toStrictEqual(undisturbed);
    },
  );

  test("cancels the work on boxes", async () => {
    const { thrown, stages } = await abortAfter("decode", [...FACES[3]]);
    expect(thrown).toBe(REASON);
    expect(stages).toEqual(["decode"]);
  });

  test("cancels the search for faces while it runs", async () => {
    const controller = new AbortController();
    const stages: Stage[] = [];
    const onStage = (stage: Stage) => {
      stages.push(stage);
      // Later, so that the search has begun.
      if (stage === "decode") setTimeout(() => controller.abort(REASON), 1);
    };
    const call = analyzer.analyze(photograph(3), { signal: controller.signal, onStage });
    await expect(call).rejects.toBe(REASON);
    expect(stages).toEqual(["decode"]);
  });

  test("cancels its own call only", async () => {
    const controller = new AbortController();
    const [mine, theirs] = await Promise.allSettled([
      analyzer.analyze(photograph(6), { signal: controller.signal, onStage: () => controller.abort(REASON) }),
      analyzer.analyze(photograph(3), { embeddings: true }),
    ]);
    expect(mine).toEqual({ status: "rejected", reason: REASON });
    expect(theirs).toStrictEqual({ status: "fulfilled", value: undisturbed });
  });
});

test("a closed analyzer rejects all calls", async () => {
  const closed = await openRealAnalyzer();
  await closed.close();
  await expect(closed.analyze(photograph(3))).rejects.toThrow(Error);
  await expect(closed.embed(photograph(3))).rejects.toThrow(Error);
});

test("closing while a call is in flight settles the call", async () => {
  const closing = await openRealAnalyzer();
  const call = closing.analyze(photograph(3), { embeddings: true });
  const [outcome] = await Promise.allSettled([call, closing.close()]);
  if (outcome.status === "fulfilled") expect(outcome.value).toStrictEqual(undisturbed);
  else expect(outcome.reason).toBeInstanceOf(Error);
});
