import { describe, expect, test } from "vitest";
import type { Candidate } from "../../../src/core/steps/detection-pass.ts";
import { dropMeshless } from "../../../src/core/steps/find.ts";

/** A detection this wide with this presence of its mesh. */
function candidate(side: number, presence: number): Candidate {
  const box = { x1: 0, y1: 0, x2: side, y2: side };
  return {
    box,
    score: 0.7,
    eyes: [
      { x: 0, y: 0 },
      { x: 1, y: 0 },
    ],
    mesh: { points: [], presence },
  };
}

describe("a detection to which no mesh fits", () => {
  const meshless = candidate(100, 0.004);

  test.each([
    ["is dropped beside a larger face", [candidate(150, 0.99), meshless], [0]],
    ["is dropped beside a face of the same size", [candidate(100, 0.99), meshless], [0]],
    ["stays beside a smaller face", [candidate(50, 0.99), meshless], [0, 1]],
    ["stays if there is no other", [meshless], [0]],
    ["stays beside others of its kind", [candidate(150, 0.004), meshless], [0, 1]],
  ])("%s", (_, candidates, kept) => {
    expect(dropMeshless(candidates)).toEqual(kept.map((i) => candidates[i]));
  });

  test("is one with a presence of nearly zero", () => {
    const profile = candidate(100, 0.02);
    expect(dropMeshless([candidate(150, 0.99), profile])).toContain(profile);
  });
});
