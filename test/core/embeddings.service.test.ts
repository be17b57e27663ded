import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Analyzer,
  confidenceOf,
  distanceOf,
  EMBEDDING_NORM,
  type Face,
  MATCH_CONFIDENCE,
  MATCH_DISTANCE,
} from "../../src/core/index.ts";
import { embeddingIdentity } from "../../src/core/steps/embed.ts";
import { FACES, faceAt, openRealAnalyzer, SAMPLES, type Sample } from "../support/faces.ts";
import { photograph } from "../support/images.ts";

let analyzer: Analyzer;
const found = new Map<Sample, readonly Face[]>();
beforeAll(async () => {
  analyzer = await openRealAnalyzer();
  for (const sample of SAMPLES)
    found.set(sample, (await analyzer.analyze(photograph(sample), { embeddings: true })).faces);
});
afterAll(() => analyzer.close());

const vectorsOf = (sample: Sample) => found.get(sample)!.map(({ embedding }) => embedding!);
const all = () => SAMPLES.flatMap(vectorsOf);
const vectorOf = (sample: Sample, i: number) => faceAt(found.get(sample)!, FACES[sample][i]!).embedding!;

function pairsOf<T>(items: readonly T[]): (readonly [T, T])[] {
  return items.flatMap((one, i) => items.slice(i + 1).map((other) => [one, other] as const));
}

describe("an embedding", () => {
  test("has 128 numbers and the length 0.45", () => {
    expect(EMBEDDING_NORM).toBe(0.45);
    for (const embedding of all()) {
      expect(embedding).toHaveLength(128);
      expect(Math.abs(Math.hypot(...embedding) - 0.45)).toBeLessThan(1e-6);
    }
  });

  test("is computed only on request", async () => {
    const { faces } = await analyzer.analyze(photograph(3));
    expect(faces.map((face) => "embedding" in face)).toEqual([false, false, false]);
  });

  test("is the same through embed, which takes the first face", async () => {
    for (const sample of SAMPLES) {
      const { embedding, box, facesFound } = await analyzer.embed(photograph(sample));
      const [first] = found.get(sample)!;
      expect(box).toEqual(first!.box);
      expect(facesFound).toBe(FACES[sample].length);
      // Batches of different sizes may sum in a different order.
      expect(distanceOf(embedding, first!.embedding!)).toBeLessThan(1e-5);
    }
  });
});

describe("the distance", () => {
  test("is Euclidean", () => {
    expect(distanceOf(Float32Array.of(0.25, 0, 1), Float32Array.of(0.25, 3, 5))).toBe(5);
  });

  test("is symmetric, 0 for an embedding and itself, and within 0 to 0.9", () => {
    for (const [one, other] of pairsOf(all())) {
      expect(distanceOf(one, other)).toBe(distanceOf(other, one));
      expect(distanceOf(one, other)).toBeGreaterThan(0);
      expect(distanceOf(one, other)).toBeLessThanOrEqual(0.9);
    }
    for (const embedding of all()) expect(distanceOf(embedding, embedding)).toBe(0);
  });

  test("is 0.9 between opposite embeddings", () => {
    for (const embedding of all()) {
      const opposite = embedding.map((value) => -value);
      expect(distanceOf(embedding, opposite)).toBeCloseTo(0.9, 6);
    }
  });

  test("is below 0.5 between two photographs of one person", () => {
    expect(distanceOf(vectorOf(1, 2), vectorOf(3, 1))).toBeLessThan(MATCH_DISTANCE);
    expect(distanceOf(vectorOf(1, 1), vectorOf(4, 0))).toBeLessThan(MATCH_DISTANCE);
  });

  test.each(SAMPLES)("is above 0.5 between the people of photograph %i", (sample) => {
    for (const [one, other] of pairsOf(vectorsOf(sample)))
      expect(distanceOf(one, other)).toBeGreaterThan(MATCH_DISTANCE);
  });
});

describe("the confidence", () => {
  const distances = Array.from({ length: 9001 }, (_, i) => i / 10_000);

  test("is 0.6 at a distance of 0.5", () => {
    expect([MATCH_DISTANCE, MATCH_CONFIDENCE]).toEqual([0.5, 0.6]);
    expect(confidenceOf(0.5)).toBeCloseTo(0.6, 12);
  });

  test("decreases strictly, within 0 to 1", () => {
    const confidences = distances.map((distance) => confidenceOf(distance));
    expect(confidences.every((value, i) => i === 0 || value < confidences[i - 1]!)).toBe(true);
    expect(confidences[0]).toBeLessThanOrEqual(1);
    expect(confidences.at(-1)).toBeGreaterThanOrEqual(0);
  });

  test("is above 0.6 exactly where the distance is below 0.5", () => {
    for (const distance of [...distances, 0.5 - 1e-9, 0.5 + 1e-9])
      expect(confidenceOf(distance) > 0.6, `${distance}`).toBe(distance < 0.5);
  });

  test("decreases and passes the threshold for any steepness", () => {
    for (const match of [5, 80])
      for (const mismatch of [5, 80]) {
        const steepness = { match, mismatch };
        const near = distances.filter((distance) => Math.abs(distance - 0.5) < 0.2);
        const confidences = near.map((distance) => confidenceOf(distance, steepness));
        expect(confidences.every((value, i) => i === 0 || value < confidences[i - 1]!)).toBe(true);
        expect(confidences.map((value) => value > 0.6)).toEqual(near.map((distance) => distance < 0.5));
      }
  });
});

describe("the identity", () => {
  const digests = { detect: "d1", mesh: "m1", embed: "e1", attributes: "a1" };

  test("is short, stable and safe in a file name", () => {
    expect(embeddingIdentity(digests)).toMatch(/^sface-[0-9a-f]{12}$/);
    expect(embeddingIdentity({ ...digests })).toBe(embeddingIdentity(digests));
    expect(analyzer.identity).toMatch(/^sface-[0-9a-f]{12}$/);
  });

  test.each(["detect", "mesh", "embed"] as const)("changes with the network %s", (name) => {
    expect(embeddingIdentity({ ...digests, [name]: "other" })).not.toBe(embeddingIdentity(digests));
  });

  test("does not depend on the attribute network", () => {
    expect(embeddingIdentity({ ...digests, attributes: "other" })).toBe(embeddingIdentity(digests));
  });
});
