import { expect, test } from "vitest";
import { measureIdentification } from "../../bench/accuracy/identification.ts";
import { readFalseMatchRates } from "../../src/core/index.ts";

/** A unit vector times 0.45: people are far apart, and photos of one person are 0.1 apart. */
function vectorOf(person: number, photo: number): Float32Array {
  const vector = new Float32Array(128);
  vector[person % 64] = person < 64 ? 0.45 : -0.45;
  vector[64 + (person % 60)] = 0.05 * photo;
  return vector;
}

const people = Array.from({ length: 110 }, (_, person) => person);
const rates = readFalseMatchRates();

test("people who are easy to tell apart are all found, and no stranger is", () => {
  const photos = people.flatMap((person) =>
    [0, 1, 2].map((photo) => [`images/P${person}_${photo}.jpg`, vectorOf(person, photo)] as const),
  );
  const results = measureIdentification(new Map(photos), rates);
  expect(results.map(({ people: size }) => size)).toEqual([50, 50, 100, 100]);
  for (const { falsePositives, falseNegatives, strangers, mates, photosPerPerson, people: size } of results) {
    expect([falsePositives, falseNegatives]).toEqual([0, 0]);
    expect(strangers).toBe(20 * (110 - size));
    expect(mates).toBe(20 * size * (photosPerPerson === 1 ? 2 : 1));
  }
});

test("a stranger who looks like an enrolled person is a false positive, and the person may be missed", () => {
  // Two people share each face, so every stranger whose double is enrolled is taken for it.
  const photos = people.flatMap((person) =>
    [0, 1].map((photo) => [`P${person}_${photo}.jpg`, vectorOf(person >> 1, photo)] as const),
  );
  const [result] = measureIdentification(new Map(photos), rates);
  expect(result!.falsePositives / result!.strangers).toBeCloseTo(50 / 110, 1);
  expect(result!.falseNegatives).toBeGreaterThan(0);
});
