import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { boundingBox, boxCenter, centroid } from "../../../src/core/geometry.ts";
import { type Analyzer, type Face, type Point, poseOf } from "../../../src/core/index.ts";
import { landmarks68 } from "../../../src/core/steps/landmarks68.ts";
import { MIRRORED } from "../../../src/core/steps/mesh-mirror.ts";
import {
  FACES,
  faceAt,
  growBox,
  MIRRORED_LANDMARKS,
  openRealAnalyzer,
  SAMPLES,
} from "../../support/faces.ts";
import { photograph } from "../../support/images.ts";
import { randomFloats } from "../../support/numbers.ts";

/** First and last number of each group, as in docs/api.md. */
const GROUPS = {
  jaw: [0, 16],
  leftBrow: [17, 21],
  rightBrow: [22, 26],
  bridge: [27, 30],
  nostrils: [31, 35],
  leftEye: [36, 41],
  rightEye: [42, 47],
  lips: [48, 59],
  mouth: [60, 67],
} as const;

let analyzer: Analyzer;
const faces: Face[] = [];
/** The faces that are roughly frontal and upright. */
let frontal: readonly Face[] = [];
beforeAll(async () => {
  analyzer = await openRealAnalyzer();
  for (const sample of SAMPLES) {
    const found = (await analyzer.analyze(photograph(sample))).faces;
    faces.push(...FACES[sample].map((box) => faceAt(found, box)));
  }
  frontal = faces.filter((face) => {
    const { yawDegrees, rollDegrees, pitchDegrees } = poseOf(face);
    return Math.abs(yawDegrees) < 22 && Math.abs(rollDegrees) < 16 && pitchDegrees > -25;
  });
});
afterAll(() => analyzer.close());

function group({ landmarks }: Face, name: keyof typeof GROUPS): readonly Point[] {
  const [first, last] = GROUPS[name];
  return landmarks.slice(first, last + 1);
}

function isRising(values: readonly number[]): boolean {
  return values.every((value, i) => i === 0 || value > values[i - 1]!);
}

const xs = (points: readonly Point[]) => points.map(({ x }) => x);
const middle = (face: Face, name: keyof typeof GROUPS) => centroid(group(face, name));

test("every face has 68 landmarks in and around its box", () => {
  for (const { landmarks, box } of faces) {
    expect(landmarks).toHaveLength(68);
    const room = growBox(box, 1.45);
    for (const { x, y } of landmarks) {
      expect(x > room.x1 && x < room.x2).toBe(true);
      expect(y > room.y1 && y < room.y2).toBe(true);
    }
  }
});

describe("on a frontal face", () => {
  test("there are enough samples", () => {
    expect(frontal.length).toBeGreaterThanOrEqual(10);
  });

  test("the jaw runs from left to right with the chin lowest", () => {
    for (const face of frontal) {
      const jaw = group(face, "jaw");
      expect(isRising(xs([jaw[0]!, jaw[8]!, jaw[16]!]))).toBe(true);
      const side = face.box.y2 - face.box.y1;
      // With some roll, the lowest point of the jaw is beside the chin.
      expect(Math.max(...jaw.map(({ y }) => y)) - jaw[8]!.y).toBeLessThan(0.04 * side);
      expect(jaw[8]!.y - Math.max(jaw[0]!.y, jaw[16]!.y)).toBeGreaterThan(0.4 * side);
    }
  });

  test("brows, eyes, nose and mouth follow from top to bottom", () => {
    for (const face of frontal) {
      for (const side of ["left", "right"] as const)
        expect(middle(face, `${side}Brow`).y).toBeLessThan(middle(face, `${side}Eye`).y);
      const eyes = centroid([middle(face, "leftEye"), middle(face, "rightEye")]);
      const rows = [eyes, middle(face, "nostrils"), middle(face, "lips"), face.landmarks[8]!];
      expect(isRising(rows.map(({ y }) => y))).toBe(true);
      expect(isRising(group(face, "bridge").map(({ y }) => y))).toBe(true);
    }
  });

  test("brows, eyes, nostrils and lips are numbered from left to right", () => {
    for (const face of frontal) {
      expect(isRising(xs([...group(face, "leftBrow"), ...group(face, "rightBrow")]))).toBe(true);
      expect(isRising(xs(group(face, "nostrils")))).toBe(true);
      const at = (...numbers: number[]) => xs(numbers.map((i) => face.landmarks[i]!));
      expect(isRising(at(36, 37, 38, 39, 42, 43, 44, 45))).toBe(true);
      expect(isRising(at(36, 41, 40, 39, 42, 47, 46, 45))).toBe(true);
      expect(isRising(at(48, 49, 50, 51, 52, 53, 54))).toBe(true);
      expect(isRising(at(48, 59, 58, 57, 56, 55, 54))).toBe(true);
      expect(isRising(at(60, 61, 62, 63, 64))).toBe(true);
      expect(isRising(at(60, 67, 66, 65, 64))).toBe(true);
    }
  });

  test("upper lids and lips lie above the lower ones", () => {
    const pairs = [
      [37, 41],
      [38, 40],
      [43, 47],
      [44, 46],
      [50, 58],
      [51, 57],
      [52, 56],
      [51, 62],
      [66, 57],
    ] as const;
    for (const { landmarks } of frontal)
      for (const [upper, lower] of pairs) expect(landmarks[upper]!.y).toBeLessThan(landmarks[lower]!.y);
  });

  test("the inner lips lie inside the outer lips", () => {
    for (const face of frontal) {
      const lips = boundingBox(group(face, "lips"));
      const { x, y } = boxCenter(boundingBox(group(face, "mouth")));
      expect(x > lips.x1 && x < lips.x2 && y > lips.y1 && y < lips.y2).toBe(true);
      const [inner, outer] = [group(face, "mouth"), group(face, "lips")].map((points) => boundingBox(points));
      expect(inner!.x2 - inner!.x1).toBeLessThan(outer!.x2 - outer!.x1);
    }
  });
});

test.each([0, 25, -60])("a mirrored mesh has exactly mirrored landmarks: yaw %i", (yawDegrees) => {
  const numbers = randomFloats(2 * MIRRORED.length, -100, 100, 5);
  // A point that is its own mirror image lies on the midline.
  const mesh = MIRRORED.map((other, i) => ({ x: other === i ? 0 : numbers[2 * i]!, y: numbers[2 * i + 1]! }));
  const flipped = MIRRORED.map((other) => ({ x: -mesh[other]!.x, y: mesh[other]!.y }));
  const landmarks = landmarks68(mesh, yawDegrees);
  for (const [i, { x, y }] of landmarks68(flipped, -yawDegrees).entries()) {
    const expected = landmarks[MIRRORED_LANDMARKS[i]!]!;
    expect(x, `x of ${i}`).toBeCloseTo(-expected.x, 9);
    expect(y, `y of ${i}`).toBeCloseTo(expected.y, 9);
  }
});

test("the mirror table of the mesh is an involution", () => {
  expect(MIRRORED).toHaveLength(468);
  expect(MIRRORED.map((other) => MIRRORED[other])).toEqual(MIRRORED.map((_, i) => i));
});
