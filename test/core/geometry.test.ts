import { describe, expect, test } from "vitest";
import {
  boundingBox,
  boxArea,
  boxCenter,
  centroid,
  cropTransform,
  fitSimilarity,
  intersectBoxes,
  iou,
  longerSide,
  type Point,
  type SimilarityTransform,
  scaleBox,
  transformPoint,
} from "../../src/core/geometry.ts";
import { boxOf } from "../support/faces.ts";
import { randomFloats } from "../support/numbers.ts";

/** Rotates clockwise by 30 degrees, scales by 2 and translates. */
const TRANSFORM: SimilarityTransform = {
  a: 2 * Math.cos(Math.PI / 6),
  b: 2 * Math.sin(Math.PI / 6),
  dx: 7,
  dy: -3,
};

function pointsFrom(numbers: Float32Array): Point[] {
  return Array.from({ length: numbers.length / 2 }, (_, i) => ({
    x: numbers[2 * i]!,
    y: numbers[2 * i + 1]!,
  }));
}

function expectPoint(actual: Point, x: number, y: number): void {
  expect(actual.x).toBeCloseTo(x, 9);
  expect(actual.y).toBeCloseTo(y, 9);
}

describe("a similarity transform", () => {
  test("rotates clockwise on screen, where y points down", () => {
    const quarter: SimilarityTransform = { a: 0, b: 1, dx: 0, dy: 0 };
    expectPoint(transformPoint(quarter, { x: 1, y: 0 }), 0, 1);
    expectPoint(transformPoint(quarter, { x: 0, y: 1 }), -1, 0);
  });
});

describe("the fitted similarity transform", () => {
  const from = pointsFrom(randomFloats(10, -50, 50, 2));

  test("is the one that the points were moved by", () => {
    const fitted = fitSimilarity(
      from,
      from.map((point) => transformPoint(TRANSFORM, point)),
    );
    for (const key of ["a", "b", "dx", "dy"] as const) expect(fitted[key]).toBeCloseTo(TRANSFORM[key], 9);
  });

  test("has the least squared error: every small change increases it", () => {
    const noise = pointsFrom(randomFloats(10, -5, 5, 3));
    const to = from.map((point, i) => {
      const { x, y } = transformPoint(TRANSFORM, point);
      return { x: x + noise[i]!.x, y: y + noise[i]!.y };
    });
    const errorOf = (map: SimilarityTransform) =>
      from.reduce((sum, point, i) => {
        const { x, y } = transformPoint(map, point);
        return sum + (x - to[i]!.x) ** 2 + (y - to[i]!.y) ** 2;
      }, 0);
    const fitted = fitSimilarity(from, to);
    for (const key of ["a", "b", "dx", "dy"] as const)
      for (const step of [-1e-3, 1e-3])
        expect(errorOf({ ...fitted, [key]: fitted[key] + step })).toBeGreaterThan(errorOf(fitted));
  });

  test("never mirrors", () => {
    const { a, b } = fitSimilarity(
      from,
      from.map(({ x, y }) => ({ x: -x, y })),
    );
    // The best fit without mirroring shrinks the points.
    expect(Math.hypot(a, b)).toBeLessThan(1);
  });
});

describe("the transform of a crop", () => {
  test("maps the crop's centre and corners to the square's", () => {
    const map = cropTransform({ center: { x: 50, y: 40 }, side: 20, radians: 0 }, 100);
    expectPoint(transformPoint(map, { x: 50, y: 50 }), 50, 40);
    expectPoint(transformPoint(map, { x: 0, y: 0 }), 40, 30);
    expectPoint(transformPoint(map, { x: 100, y: 0 }), 60, 30);
    expectPoint(transformPoint(map, { x: 100, y: 100 }), 60, 50);
  });

  test("rotates clockwise with the square", () => {
    const map = cropTransform({ center: { x: 50, y: 40 }, side: 20, radians: Math.PI / 2 }, 100);
    expectPoint(transformPoint(map, { x: 50, y: 50 }), 50, 40);
    expectPoint(transformPoint(map, { x: 0, y: 0 }), 60, 30);
    expectPoint(transformPoint(map, { x: 100, y: 0 }), 60, 50);
    expectPoint(transformPoint(map, { x: 0, y: 100 }), 40, 30);
  });
});

describe("boxes", () => {
  const box = boxOf(10, 20, 40, 80);

  test("have a centre, a longer side and an area", () => {
    expect(boxCenter(box)).toEqual({ x: 25, y: 50 });
    expect(longerSide(box)).toBe(60);
    expect(boxArea(box)).toBe(1800);
  });

  test("that are empty or inverted have no area", () => {
    expect(boxArea(boxOf(10, 20, 10, 80))).toBe(0);
    expect(boxArea(boxOf(40, 20, 10, 80))).toBe(0);
    expect(boxArea(boxOf(40, 80, 10, 20))).toBe(0);
  });

  test("have an intersection over union", () => {
    expect(iou(box, box)).toBe(1);
    expect(iou(box, boxOf(25, 20, 55, 80))).toBeCloseTo(1 / 3, 9);
    expect(iou(boxOf(25, 20, 55, 80), box)).toBeCloseTo(1 / 3, 9);
    expect(iou(box, boxOf(10, 20, 25, 50))).toBeCloseTo(1 / 4, 9);
    expect(iou(box, boxOf(40, 20, 70, 80))).toBe(0);
    expect(iou(box, boxOf(100, 200, 110, 210))).toBe(0);
  });

  test("intersect", () => {
    expect(intersectBoxes(box, boxOf(0, 30, 30, 100))).toEqual(boxOf(10, 30, 30, 80));
  });

  test("are scaled on each axis", () => {
    expect(scaleBox(box, 2, 0.5)).toEqual(boxOf(20, 10, 80, 40));
  });
});

test("points have a bounding box and a centroid", () => {
  const points = [
    { x: 3, y: -1 },
    { x: -2, y: 8 },
    { x: 5, y: 5 },
  ];
  expect(boundingBox(points)).toEqual(boxOf(-2, -1, 5, 8));
  expectPoint(centroid(points), 2, 4);
});
