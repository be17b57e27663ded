import { describe, expect, it } from "vitest";
import { drawFaces } from "../../src/cli/draw-faces.ts";
import { AGE_RANGES, type Face, type Point } from "../../src/core/index.ts";
import { FACE } from "../support/face.ts";

describe("drawFaces", () => {
  const SIDE = 300;
  const black = { width: SIDE, height: SIDE, data: new Uint8Array(3 * SIDE * SIDE) };

  /** Creates a face of 40 pixels without landmarks, so that only its label is white. */
  const createFace = (x: number, y: number, attributes: Partial<Face> = {}): Face => ({
    ...FACE,
    box: { x1: Math.max(0, x), y1: Math.max(0, y), x2: Math.min(SIDE, x + 40), y2: Math.min(SIDE, y + 40) },
    landmarks: [],
    ...attributes,
  });

  /** Returns the pixels of the label text. */
  const findTextPixels = (faces: readonly Face[], photo = black): Point[] => {
    const { data } = drawFaces(photo, faces);
    const ink: Point[] = [];
    for (let at = 0; at < data.length; at += 3)
      if (data[at] === 255 && data[at + 1] === 255 && data[at + 2] === 255)
        ink.push({ x: (at / 3) % photo.width, y: Math.floor(at / 3 / photo.width) });
    return ink;
  };

  it("does not modify its input", () => {
    drawFaces(black, [createFace(100, 100)]);
    expect(black.data.every((value) => value === 0)).toBe(true);
  });

  it("writes the label above the face", () => {
    const ys = findTextPixels([createFace(100, 100)]).map(({ y }) => y);
    expect(Math.max(...ys)).toBeLessThan(100);
    expect(Math.min(...ys)).toBeGreaterThan(70);
  });

  it.each([
    [0, 0],
    [260, 0],
    [0, 260],
    [260, 260],
    [-20, 130],
    [280, 130],
    [130, -20],
    [130, 280],
  ])("keeps the whole label of a face at %i, %i inside the image and off the face", (x, y) => {
    const face = createFace(x, y);
    const ink = findTextPixels([face]);
    expect(ink.length).toBe(findTextPixels([createFace(100, 100)]).length);
    const { x1, y1, x2, y2 } = face.box;
    expect(ink.filter((at) => at.x >= x1 && at.x < x2 && at.y >= y1 && at.y < y2)).toEqual([]);
  });

  it("separates the labels of neighbouring faces", () => {
    const alone = findTextPixels([createFace(100, 100)]).length;
    // The digits differ slightly in pixels. An overlapped label would lose half of them.
    expect(findTextPixels([createFace(100, 100), createFace(145, 100)]).length).toBeGreaterThan(1.9 * alone);
  });

  it("has a glyph for every label", () => {
    for (const age of AGE_RANGES)
      for (const gender of ["male", "female"] as const)
        for (const genderConfidence of [0.501, 0.67, 0.84, 0.93, 1]) {
          const faces = Array.from({ length: 10 }, () =>
            createFace(100, 100, { age, gender, genderConfidence }),
          );
          expect(() => drawFaces(black, faces)).not.toThrow();
        }
  });

  it.each([
    [250, 7],
    [1920, 28],
  ])("scales the text to an image of %i pixels", (width, letterHeight) => {
    const height = Math.round(width / 1.5);
    const picture = { width, height, data: new Uint8Array(3 * width * height) };
    const box = { x1: width / 2, y1: height / 2, x2: width / 2 + 40, y2: height / 2 + 40 };
    const rows = new Set(findTextPixels([{ ...createFace(0, 0), box }], picture).map(({ y }) => y));
    // Two lines of letters.
    expect(rows.size).toBe(2 * letterHeight);
  });
});
