import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { distanceOf } from "../../src/core/index.ts";
import { BYTES_PER_FACE, GalleryIndex, nearestPeople } from "../../src/galleries/gallery-index.ts";
import type { Template } from "../../src/galleries/gallery-store.ts";
import { markOf } from "../../src/galleries/removal-mark.ts";
import { createRandom } from "../../tools/support/random.ts";
import { clusteredVectors, randomVectors } from "../support/vectors.ts";

const KEY = "key of the gallery";

function indexOf(faces: readonly Template[]): GalleryIndex {
  const index = new GalleryIndex(KEY);
  for (const face of faces) index.add(face);
  return index;
}

/** What a search among all faces finds, and what it finds among the candidates of the index. */
function searchBoth(
  faces: readonly Template[],
  index: GalleryIndex,
  query: Float32Array,
  k: number,
  within: number,
) {
  const exact = faces.map(({ personId, faceId, embedding }) => ({
    personId,
    faceId,
    distance: distanceOf(query, embedding),
  }));
  const distances = new Map(exact.map((face) => [`${face.personId}/${face.faceId}`, face.distance]));
  const candidates = index.findCandidates(query, k, within);
  for (const { personId, faceId, distance } of candidates)
    expect(Math.abs(distance - distances.get(`${personId}/${faceId}`)!)).toBeLessThanOrEqual(index.maxError);
  const corrected = candidates.map((face) => ({
    ...face,
    distance: distances.get(`${face.personId}/${face.faceId}`)!,
  }));
  return [nearestPeople(exact, k, within), nearestPeople(corrected, k, within)];
}

/** Vectors whose norms differ by a factor of up to 1,000. */
const scaled = randomVectors(1_500, 5).map((embedding, i) =>
  embedding.map((value) => value * 10 ** ((i % 7) / 2 - 2)),
);

describe.each([
  ["random embeddings", randomVectors(2_000, 1)],
  ["faces of a few people", clusteredVectors(100, 12, 2)],
  [
    "embeddings that differ by less than the rounding",
    clusteredVectors(1, 1, 3).flatMap((embedding) =>
      Array.from({ length: 300 }, (_, i) =>
        embedding.map((value, d) => (d === i % 128 ? value + 1e-6 * i : value)),
      ),
    ),
  ],
  ["embeddings of different norms", scaled],
])("the candidates among %s", (_, embeddings) => {
  const faces = embeddings.map((embedding, i) => ({
    personId: `p${Math.floor(i / 12)}`,
    faceId: `${i % 12}`,
    embedding,
  }));
  const index = indexOf(faces);
  const queries = [...randomVectors(4, 4), ...embeddings.slice(0, 4), new Float32Array(128)];

  test.each([
    [1, 0.5],
    [10, 0.5],
    [3, 1e-3],
    [10, 1e9],
    [100, 0.62],
    [1_000, Number.POSITIVE_INFINITY],
  ])("contain what an exact search finds: %d people within %d", (k, within) => {
    for (const query of queries) {
      const [expected, found] = searchBoth(faces, index, query, k, within);
      expect(found).toEqual(expected);
    }
  });

  test("are few more than needed", () => {
    const [query] = queries as [Float32Array];
    if (index.maxError < 1e-3 && embeddings.length > 1_000)
      expect(index.findCandidates(query, 10, 1e9).length).toBeLessThan(10 + 12 + 10);
  });
});

test("templates of the service are within 0.0001 of the exact ones", () => {
  expect(indexOf([{ personId: "p", faceId: "f", embedding: randomVectors(1, 1)[0]! }]).maxError).toBeLessThan(
    1e-4,
  );
});

test("faces are added, replaced and removed like those of a map", () => {
  const random = createRandom(7);
  const embeddings = randomVectors(64, 8);
  const index = new GalleryIndex(KEY);
  const expected = new Map<string, Template>();
  const people = (prefix: string) => [...expected.keys()].filter((key) => key.startsWith(prefix));
  for (let step = 0; step < 20_000; step++) {
    // Ids of many lengths, and people whose ids start alike.
    const personId = `p${Math.floor(random() * 300)}`.padEnd(1 + Math.floor(random() * 3) * 60, "x");
    const faceId = `${Math.floor(random() * 4)}`;
    const key = `${personId}/${faceId}`;
    const embedding = embeddings[step % embeddings.length]!;
    const change = { until: step, version: { revision: step, token: "" } };
    const none = { ids: new Uint8Array(), embeddings: new Float32Array() };
    // More additions at first, and more removals later.
    if (random() < (step < 10_000 ? 0.6 : 0.3)) {
      index.apply({ ...change, removed: [], added: { ids: Buffer.from(key), embeddings: embedding } });
      expected.set(key, { personId, faceId, embedding });
    } else if (random() < 0.5) {
      index.apply({ ...change, removed: [markOf(KEY, personId, faceId)], added: none });
      expected.delete(key);
    } else {
      index.apply({ ...change, removed: [markOf(KEY, personId)], added: none });
      for (const own of people(`${personId}/`)) expected.delete(own);
    }
    if (step % 1_000 > 0) continue;
    expect(index.faces).toBe(expected.size);
    const found = index.findCandidates(embedding, 10_000, Number.POSITIVE_INFINITY);
    const [exact, corrected] = searchBoth([...expected.values()], index, embedding, 10_000, 1e9);
    expect(corrected).toEqual(exact);
    expect(new Set(found.map(({ personId: id }) => id)).size).toBe(exact!.length);
  }
});

test("a face with ids of 36 characters takes less than 400 bytes", () => {
  const faces = randomVectors(20_000, 9).map((embedding) => ({
    personId: randomUUID(),
    faceId: randomUUID(),
    embedding,
  }));
  const bytesPerFace = indexOf(faces).bytes / faces.length;
  expect(bytesPerFace).toBeLessThan(400);
  expect(bytesPerFace).toBeGreaterThan(0.95 * BYTES_PER_FACE);
  expect(bytesPerFace).toBeLessThan(1.05 * BYTES_PER_FACE);
});
