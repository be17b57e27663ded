// A face gives the same result at every angle.
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { intersectBoxes } from "../../src/core/geometry.ts";
import {
  AGE_RANGES,
  type Analyzer,
  distanceOf,
  type Face,
  MATCH_DISTANCE,
  type Point,
  poseOf,
} from "../../src/core/index.ts";
import { quantile } from "../../tools/support/statistics.ts";
import {
  ALL_FACES,
  boxOf,
  COVERED,
  cropPhotograph,
  encodePng,
  growBox,
  meanPointDistance,
  openRealAnalyzer,
  PHOTOGRAPH_WIDTH,
  PROFILE,
} from "../support/faces.ts";

interface Portrait {
  readonly name: string;
  readonly bytes: Buffer;
  readonly width: number;
  readonly height: number;
  readonly face: Face;
}

let analyzer: Analyzer;
const portraits: Portrait[] = [];
beforeAll(async () => {
  analyzer = await openRealAnalyzer();
  const visible = boxOf(0, 0, PHOTOGRAPH_WIDTH, 1280);
  for (const { name, sample, box } of ALL_FACES) {
    if (name === PROFILE || name === COVERED) continue;
    const bytes = await encodePng(cropPhotograph(sample, intersectBoxes(growBox(box, 2), visible)));
    const { faces, width, height } = await analyzer.analyze(bytes, { embeddings: true });
    portraits.push({ name, bytes, width, height, face: faces[0]! });
  }
});
afterAll(() => analyzer.close());

/** Where a point of an upright portrait lies after it was rotated clockwise. */
function rotatePoint({ x, y }: Point, { width, height }: Portrait, degrees: number): Point {
  if (degrees === 90) return { x: height - y, y: x };
  if (degrees === 180) return { x: width - x, y: height - y };
  return { x: y, y: width - x };
}

describe.each([90, 180, 270])("portraits rotated by %i degrees", (degrees) => {
  const rotated: { portrait: Portrait; face: Face }[] = [];
  beforeAll(async () => {
    for (const portrait of portraits) {
      const bytes = await encodePng(sharp(portrait.bytes).rotate(degrees));
      const [face] = (await analyzer.analyze(bytes, { embeddings: true })).faces;
      if (face) rotated.push({ portrait, face });
    }
  });

  test("are found, all but one at most", () => {
    expect(rotated.length).toBeGreaterThanOrEqual(portraits.length - 1);
  });

  test("give the embedding of the upright face", () => {
    const distances = rotated.map(({ portrait, face }) =>
      distanceOf(face.embedding!, portrait.face.embedding!),
    );
    expect(distances.filter((distance) => distance >= MATCH_DISTANCE).length).toBeLessThanOrEqual(1);
    expect(quantile(distances, 0.5)).toBeLessThan(0.2);
    expect(quantile(distances, 0.9)).toBeLessThan(0.4);
  });

  test("give the landmarks of the upright face", () => {
    const errors = rotated.map(({ portrait, face }) => {
      const expected = portrait.face.landmarks.map((point) => rotatePoint(point, portrait, degrees));
      return meanPointDistance(face.landmarks, expected, portrait.face.box);
    });
    expect(Math.max(...errors)).toBeLessThan(0.15);
    expect(quantile(errors, 0.9)).toBeLessThan(0.05);
  });

  test("give the attributes of the upright face", () => {
    for (const { portrait, face } of rotated) {
      expect(face.gender, portrait.name).toBe(portrait.face.gender);
      const [age, upright] = [face, portrait.face].map((one) => AGE_RANGES.indexOf(one.age!));
      expect(Math.abs(age! - upright!), portrait.name).toBeLessThanOrEqual(1);
    }
  });

  test("have a roll of that angle", () => {
    const errors = rotated.map(({ portrait, face }) => {
      const difference = poseOf(face).rollDegrees - poseOf(portrait.face).rollDegrees - degrees;
      return Math.abs(((difference + 540 + 360) % 360) - 180);
    });
    expect(quantile(errors, 0.9)).toBeLessThan(5);
  });
});
