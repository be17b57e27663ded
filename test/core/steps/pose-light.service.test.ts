import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Analyzer, type Face, type Pose, poseOf } from "../../../src/core/index.ts";
import { measureLight } from "../../../src/core/steps/light.ts";
import {
  ALL_FACES,
  boxOf,
  cropPhotograph,
  encodePng,
  FACES,
  faceAt,
  growBox,
  MIRRORED_LANDMARKS,
  meanPointDistance,
  mirrorBox,
  mirrorPhotograph,
  openRealAnalyzer,
  PHOTOGRAPH_WIDTH,
  PROFILE,
  rotatePhotograph,
  SAMPLES,
  type Sample,
} from "../../support/faces.ts";
import { photograph } from "../../support/images.ts";

/** Degrees by which the mirrored pose of a face may differ, if not 3: half of a profile is a guess, and hair covers a cheek. */
const POSE_LIMITS: Readonly<Record<string, number>> = { [PROFILE]: 20, "sample 4, face 3": 8 };

let analyzer: Analyzer;
const upright = new Map<Sample, readonly Face[]>();
beforeAll(async () => {
  analyzer = await openRealAnalyzer();
  for (const sample of SAMPLES) upright.set(sample, await facesOf(photograph(sample)));
});
afterAll(() => analyzer.close());

async function facesOf(bytes: Uint8Array): Promise<readonly Face[]> {
  return (await analyzer.analyze(bytes)).faces;
}

function faceOf(sample: Sample, i: number): Face {
  return faceAt(upright.get(sample)!, FACES[sample][i]!);
}

describe("pose", () => {
  test.each<[string, Sample, number]>([
    ["in profile", 2, 0],
    ["at her neighbour", 4, 2],
    ["past the camera", 4, 3],
  ])("is negative for a woman who looks left: %s", (_name, sample, i) => {
    expect(poseOf(faceOf(sample, i)).yawDegrees).toBeLessThan(-15);
  });

  test("is beyond 50 degrees for a profile, which fails the quality check", async () => {
    const [face] = await facesOf(await encodePng(cropPhotograph(2, growBox(FACES[2][0]!, 2.6))));
    expect(poseOf(face!).yawDegrees).toBeLessThan(-50);
  });

  test.each<[string, Sample, number]>([
    ["over her shoulder", 4, 0],
    ["at her neighbour", 5, 1],
  ])("is positive for a woman who looks right: %s", (_name, sample, i) => {
    expect(poseOf(faceOf(sample, i)).yawDegrees).toBeGreaterThan(20);
  });

  test("has a negative pitch when looking down and a positive one when looking up", () => {
    expect(poseOf(faceOf(2, 1)).pitchDegrees).toBeLessThan(-15);
    expect(poseOf(faceOf(2, 2)).pitchDegrees).toBeLessThan(-15);
    expect(poseOf(faceOf(5, 3)).pitchDegrees).toBeGreaterThan(10);
  });

  test("has a positive roll clockwise and a negative one counterclockwise", () => {
    expect(poseOf(faceOf(1, 2)).rollDegrees).toBeGreaterThan(35);
    expect(poseOf(faceOf(1, 1)).rollDegrees).toBeLessThan(-20);
    expect(Math.abs(poseOf(faceOf(3, 0)).rollDegrees)).toBeLessThan(8);
  });

  test.each([20, -20])("rolls with a photograph rotated by %i degrees", async (degrees) => {
    for (const sample of [3, 6] as const) {
      const { bytes, rotateBox } = await rotatePhotograph(sample, degrees, 960);
      const faces = await facesOf(bytes);
      for (const [i, box] of FACES[sample].entries()) {
        const pose = poseOf(faceAt(faces, rotateBox(box)));
        expect(Math.abs(pose.rollDegrees - poseOf(faceOf(sample, i)).rollDegrees - degrees)).toBeLessThan(3);
      }
    }
  });
});

describe("a mirrored photograph", () => {
  const reflections = new Map<Sample, readonly Face[]>();
  beforeAll(async () => {
    for (const sample of SAMPLES) reflections.set(sample, await facesOf(await mirrorPhotograph(sample)));
  });

  describe.each(ALL_FACES)("of $name", ({ name, sample, box }) => {
    const both = () =>
      [faceAt(upright.get(sample)!, box), faceAt(reflections.get(sample)!, mirrorBox(box))] as const;

    test("mirrors yaw and roll and keeps pitch", () => {
      const [pose, reflected] = both().map(poseOf) as [Pose, Pose];
      const limit = POSE_LIMITS[name] ?? 3;
      expect(Math.abs(pose.yawDegrees + reflected.yawDegrees)).toBeLessThan(limit);
      expect(Math.abs(pose.rollDegrees + reflected.rollDegrees)).toBeLessThan(limit);
      expect(Math.abs(pose.pitchDegrees - reflected.pitchDegrees)).toBeLessThan(limit);
    });

    test("mirrors the landmarks", () => {
      const [face, reflection] = both();
      const expected = MIRRORED_LANDMARKS.map((i) => face.landmarks[i]!).map(({ x, y }) => ({
        x: PHOTOGRAPH_WIDTH - x,
        y,
      }));
      const limit = name === PROFILE ? 0.06 : 0.02;
      expect(meanPointDistance(reflection.landmarks, expected, face.box)).toBeLessThan(limit);
    });
  });
});

describe("light", () => {
  test.each(SAMPLES)("is halved where all pixels of photograph %i are", async (sample) => {
    // Boxes make both calls choose the same faces, whose boxes still differ a little. That of a profile moves further.
    const stable = ALL_FACES.filter((face) => face.sample === sample && face.name !== PROFILE);
    const boxes = stable.map(({ box }) => box);
    const { faces } = await analyzer.analyze(photograph(sample), { boxes });
    const dark = await analyzer.analyze(await encodePng(sharp(photograph(sample)).linear(0.5)), { boxes });
    expect(faces).toHaveLength(stable.length);
    for (const [i, { light }] of faces.entries())
      expect(Math.abs(dark.faces[i]!.light / light - 0.5)).toBeLessThan(0.035);
  });

  test("is lower for a face in the dark", () => {
    const lights = FACES[5].map((_, i) => faceOf(5, i).light);
    expect(lights[0]).toBeLessThan(70);
    expect(lights[2]).toBeGreaterThan(120);
    expect(lights[3]).toBeGreaterThan(120);
  });

  const pixelsOf = (
    width: number,
    height: number,
    colourAt: (x: number, y: number) => readonly number[],
  ) => ({
    width,
    height,
    data: Uint8Array.from(
      Array.from({ length: width * height }, (_, i) => colourAt(i % width, Math.floor(i / width))).flat(),
    ),
  });

  test("weighs red, green and blue by their luma coefficients", () => {
    const box = boxOf(2, 2, 18, 18);
    expect(
      measureLight(
        pixelsOf(20, 20, () => [255, 0, 0]),
        box,
      ),
    ).toBeCloseTo(76.245, 3);
    expect(
      measureLight(
        pixelsOf(20, 20, () => [0, 255, 0]),
        box,
      ),
    ).toBeCloseTo(149.685, 3);
    expect(
      measureLight(
        pixelsOf(20, 20, () => [0, 0, 255]),
        box,
      ),
    ).toBeCloseTo(29.07, 3);
  });

  test("is measured in the ellipse, not in the corners of the box", () => {
    const inside = (x: number, y: number) => Math.hypot(x - 19.5, y - 19.5) < 20;
    const disc = pixelsOf(40, 40, (x, y) => (inside(x, y) ? [100, 100, 100] : [255, 255, 255]));
    expect(measureLight(disc, boxOf(0, 0, 40, 40))).toBeLessThan(104);
  });

  test("is measured inside the photograph only", () => {
    const grey = pixelsOf(20, 20, () => [90, 90, 90]);
    expect(measureLight(grey, boxOf(-10, -10, 8, 8))).toBeCloseTo(90, 6);
    expect(measureLight(grey, boxOf(30, 30, 40, 40))).toBe(0);
  });
});
