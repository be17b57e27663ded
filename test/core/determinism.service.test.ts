import { afterAll, beforeAll, expect, test } from "vitest";
import type { Analysis, Analyzer } from "../../src/core/index.ts";
import { openRealAnalyzer, SAMPLES } from "../support/faces.ts";
import { photograph } from "../support/images.ts";

let analyzer: Analyzer;
/** Each photograph alone, right after the analyzer was opened. */
let alone: readonly Analysis[];
beforeAll(async () => {
  analyzer = await openRealAnalyzer();
  alone = await oneByOne(analyzer, photographs());
});
afterAll(() => analyzer.close());

const photographs = () => SAMPLES.map(photograph);

async function oneByOne({ analyze }: Analyzer, images: readonly Uint8Array[]): Promise<Analysis[]> {
  const analyses: Analysis[] = [];
  for (const image of images) analyses.push(await analyze(image, { vectors: true }));
  return analyses;
}

// toStrictEqual compares numbers bit by bit; that there is something to compare is seen here.
test("an analysis holds faces with boxes, landmarks, vectors and attributes", () => {
  expect(alone.map(({ faces }) => faces.length)).toEqual([3, 3, 3, 4, 5, 4]);
  for (const face of alone.flatMap(({ faces }) => faces)) {
    expect(face.box).toBeDefined();
    expect(face.landmarks).toHaveLength(68);
    expect(face.vector).toHaveLength(128);
    expect(face.genderConfidence).toBeDefined();
  }
});

test("the same bytes give the same bits after other photographs", async () => {
  const again = await oneByOne(analyzer, photographs().toReversed());
  expect(again.toReversed()).toStrictEqual(alone);
});

test("the same bytes give the same bits beside other photographs", async () => {
  const beside = await Promise.all(photographs().map((bytes) => analyzer.analyze(bytes, { vectors: true })));
  expect(beside).toStrictEqual(alone);
});

test("the same bytes give the same bits in another piece of memory", async () => {
  const bytes = photograph(3);
  const shifted = new Uint8Array(bytes.length + 5);
  shifted.set(bytes, 5);
  expect(await oneByOne(analyzer, [shifted.subarray(5)])).toStrictEqual([alone[2]]);
});

test("the same bytes give the same bits from another analyzer, and beside it", async () => {
  const other = await openRealAnalyzer();
  try {
    const some = photographs().slice(0, 3);
    const [theirs, ours] = await Promise.all([oneByOne(other, some), oneByOne(analyzer, some)]);
    expect(theirs).toStrictEqual(alone.slice(0, 3));
    expect(ours).toStrictEqual(alone.slice(0, 3));
    expect(other.identity).toBe(analyzer.identity);
  } finally {
    await other.close();
  }
});
