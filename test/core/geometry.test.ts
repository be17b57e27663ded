import { describe, expect, test } from "vitest";
import {
  boundingBox,
  boxArea,
  boxCenter,
  centroid,
  cropTransform,
  fitSimilarity,
  intersectBoxes,
  invertTransform,
  iou,
  longerSide,
  type SimilarityTransform,
  scaleBox,
  transformPoint,
} from "../../src/core/geometry.ts";
import type { Point } from "../../src/core/types.ts";
import { boxOf } from "../support/faces.ts";
import { randomFloats } from "../support/numbers.ts";

/** Turns clockwise by 30 degrees, doubles and shifts. */
const MAP: SimilarityTransform = {
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

describe("a similarity", () => {
  test("turns clockwise on screen, where y points down", () => {
    const quarter: SimilarityTransform = { a: 0, b: 1, dx: 0, dy: 0 };
    expectPoint(transformPoint(quarter, { x: 1, y: 0 }), 0, 1);
    expectPoint(transformPoint(quarter, { x: 0, y: 1 }), -1, 0);
  });

  test("is undone by its inverse, on either side", () => {
    for (const { x, y } of pointsFrom(randomFloats(40, -100, 100, 1))) {
      expectPoint(transformPoint(invertTransform(MAP), transformPoint(MAP, { x, y })), x, y);
      expectPoint(transformPoint(MAP, transformPoint(invertTransform(MAP), { x, y })), x, y);
    }
  });
});

describe("the fitted similarity", () => {
  const from = pointsFrom(randomFloats(10, -50, 50, 2));

  test("is the one that moved the points", () => {
    const fitted = fitSimilarity(
      from,
      from.map((point) => transformPoint(MAP, point)),
    );
    for (const key of ["a", "b", "dx", "dy"] as const) expect(fitted[key]).toBeCloseTo(MAP[key], 9);
  });

  test("has the least squared error of all near it", () => {
    const noise = pointsFrom(randomFloats(10, -5, 5, 3));
    const to = from.map((point, i) => {
      const { x, y } = transformPoint(MAP, point);
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
    // The best turn for mirrored points shrinks them instead.
    expect(Math.hypot(a, b)).toBeLessThan(1);
  });
});

describe("the map of a crop", () => {
  test("takes its middle to the square's and its corners to the square's corners", () => {
    const map = cropTransform({ center: { x: 50, y: 40 }, side: 20, radians: 0 }, 100);
    expectPoint(transformPoint(map, { x: 50, y: 50 }), 50, 40);
    expectPoint(transformPoint(map, { x: 0, y: 0 }), 40, 30);
    expectPoint(transformPoint(map, { x: 100, y: 0 }), 60, 30);
    expectPoint(transformPoint(map, { x: 100, y: 100 }), 60, 50);
  });

  test("turns clockwise with the square", () => {
    const map = cropTransform({ center: { x: 50, y: 40 }, side: 20, radians: Math.PI / 2 }, 100);
    expectPoint(transformPoint(map, { x: 50, y: 50 }), 50, 40);
    expectPoint(transformPoint(map, { x: 0, y: 0 }), 60, 30);
    expectPoint(transformPoint(map, { x: 100, y: 0 }), 60, 50);
    expectPoint(transformPoint(map, { x: 0, y: 100 }), 40, 30);
  });
});

describe("boxes", () => {
  const box = boxOf(10, 20, 40, 80);

  test("have a middle, a longer side and an area", () => {
    expect(boxCenter(box)).toEqual({ x: 25, y: 50 });
    expect(longerSide(box)).toBe(60);
    expect(boxArea(box)).toBe(1800);
  });

  test("that are empty or inverted have no area", () => {
    expect(boxArea(boxOf(10, 20, 10, 80))).toBe(0);
    expect(boxArea(boxOf(40, 20, 10, 80))).toBe(0);
    expect(boxArea(boxOf(40, 80, 10, 20))).toBe(0);
  });

  test("overlap by shared over joint area", () => {
    expect(iou(box, box)).toBe(1);
    expect(iou(box, boxOf(25, 20, 55, 80))).toBeCloseTo(1 / 3, 9);
    expect(iou(boxOf(25, 20, 55, 80), box)).toBeCloseTo(1 / 3, 9);
    expect(iou(box, boxOf(10, 20, 25, 50))).toBeCloseTo(1 / 4, 9);
    expect(iou(box, boxOf(40, 20, 70, 80))).toBe(0);
    expect(iou(box, boxOf(100, 200, 110, 210))).toBe(0);
  });

  test("are cut at each other's edges", () => {
    expect(intersectBoxes(box, boxOf(0, 30, 30, 100))).toEqual(boxOf(10, 30, 30, 80));
  });

  test("scale by their edges, each axis on its own", () => {
    expect(scaleBox(box, 2, 0.5)).toEqual(boxOf(20, 10, 80, 40));
  });
});

test("points have bounds and a mean", () => {
  const points = [
    { x: 3, y: -1 },
    { x: -2, y: 8 },
    { x: 5, y: 5 },
  ];
  expect(boundingBox(points)).toEqual(boxOf(-2, -1, 5, 8));
  expectPoint(centroid(points), 2, 4);
});
