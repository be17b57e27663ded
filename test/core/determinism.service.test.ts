import { afterAll, beforeAll, expect, test } from "vitest";
import type { Analysis, Analyzer } from "../../src/core/index.ts";
import { openRealAnalyzer, SAMPLES } from "../support/faces.ts";
import { photograph } from "../support/images.ts";

let analyzer: Analyzer;
/** The analysis of each photograph alone, right after the analyzer was opened. */
let alone: readonly Analysis[];
beforeAll(async () => {
  analyzer = await openRealAnalyzer();
  alone = await analyzeInSequence(analyzer, photographs());
});
afterAll(() => analyzer.close());

const photographs = () => SAMPLES.map(photograph);

async function analyzeInSequence({ analyze }: Analyzer, images: readonly Uint8Array[]): Promise<Analysis[]> {
  const analyses: Analysis[] = [];
  for (const image of images) analyses.push(await analyze(image, { embeddings: true }));
  return analyses;
}

// The tests below compare whole analyses bit by bit. This one ensures that there is something to compare.
test("an analysis has faces with boxes, landmarks, embeddings and attributes", () => {
  expect(alone.map(({ faces }) => faces.length)).toEqual([3, 3, 3, 4, 5, 4]);
  for (const face of alone.flatMap(({ faces }) => faces)) {
    expect(face.box).toBeDefined();
    expect(face.landmarks).toHaveLength(68);
    expect(face.embedding).toHaveLength(128);
    expect(face.genderConfidence).toBeDefined();
  }
});

test("the same image gives the same result after other images", async () => {
  const again = await analyzeInSequence(analyzer, photographs().toReversed());
  expect(again.toReversed()).toStrictEqual(alone);
});

test("the same image gives the same result concurrently with other images", async () => {
  const beside = await Promise.all(
    photographs().map((bytes) => analyzer.analyze(bytes, { embeddings: true })),
  );
  expect(beside).toStrictEqual(alone);
});

test("the same image gives the same result at another alignment in memory", async () => {
  const bytes = photograph(3);
  const shifted = new Uint8Array(bytes.length + 5);
  shifted.set(bytes, 5);
  expect(await analyzeInSequence(analyzer, [shifted.subarray(5)])).toStrictEqual([alone[2]]);
});

test("the same image gives the same result from two concurrent analyzers", async () => {
  const other = await openRealAnalyzer();
  try {
    const some = photographs().slice(0, 3);
    const [theirs, ours] = await Promise.all([
      analyzeInSequence(other, some),
      analyzeInSequence(analyzer, some),
    ]);
    expect(theirs).toStrictEqual(alone.slice(0, 3));
    expect(ours).toStrictEqual(alone.slice(0, 3));
    expect(other.identity).toBe(analyzer.identity);
  } finally {
    await other.close();
  }
});
