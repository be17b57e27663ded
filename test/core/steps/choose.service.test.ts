import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { iou } from "../../../src/core/geometry.ts";
import {
  type AnalyzeOptions,
  type Analyzer,
  type Box,
  distanceOf,
  type Face,
  FaceError,
  MATCH_DISTANCE,
  type Stage,
} from "../../../src/core/index.ts";
import { SURE_SCORE } from "../../../src/core/steps/look-again.ts";
import {
  ALL_FACES,
  boxOf,
  COVERED,
  cropPhotograph,
  encodePng,
  expectUsable,
  FACES,
  faceAt,
  growBox,
  meanPointDistance,
  openRealAnalyzer,
  PROFILE,
  relocateBox,
  roundBox,
  SAMPLES,
  type Sample,
} from "../../support/faces.ts";
import { photograph, plainImage } from "../../support/images.ts";

/** Parts of sample 1 and sample 5 without a face. */
const WALL = boxOf(700, 60, 900, 260);
const RAILING = boxOf(20, 500, 260, 740);

let analyzer: Analyzer;
const found = new Map<Sample, readonly Face[]>();
beforeAll(async () => {
  analyzer = await openRealAnalyzer();
  for (const sample of SAMPLES)
    found.set(sample, (await analyzer.analyze(photograph(sample), { embeddings: true })).faces);
});
afterAll(() => analyzer.close());

async function choose(bytes: Uint8Array, options: AnalyzeOptions): Promise<readonly Face[]> {
  return (await analyzer.analyze(bytes, { embeddings: true, ...options })).faces;
}

async function catchFaceError(bytes: Uint8Array, options: AnalyzeOptions): Promise<FaceError> {
  const outcome = await analyzer.analyze(bytes, options).catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(FaceError);
  return outcome as FaceError;
}

/** Chooses all labelled faces by their boxes, each scaled by a factor. */
async function chooseAll(factor: number): Promise<{ name: string; before: Face; after: Face }[]> {
  const pairs = [];
  for (const sample of SAMPLES) {
    const known = ALL_FACES.filter((face) => face.sample === sample);
    const before = known.map(({ box }) => faceAt(found.get(sample)!, box));
    const boxes = before.map(({ box }) => roundBox(growBox(box, factor)));
    const after = await choose(photograph(sample), { boxes });
    pairs.push(...known.map(({ name }, i) => ({ name, before: before[i]!, after: after[i]! })));
  }
  return pairs;
}

describe("a face's own box", () => {
  let pairs: { name: string; before: Face; after: Face }[];
  beforeAll(async () => {
    pairs = await chooseAll(1);
  });

  test("chooses that face without detection", () => {
    expect(pairs).toHaveLength(22);
    for (const { before, after } of pairs) {
      expect(after.score).toBeUndefined();
      expect(iou(after.box, before.box)).toBeGreaterThan(0.6);
    }
  });

  test.each(ALL_FACES.filter(({ name }) => name !== PROFILE))(
    "gives nearly the same face again: $name",
    ({ name }) => {
      const { before, after } = pairs.find((pair) => pair.name === name)!;
      expect(distanceOf(after.embedding!, before.embedding!)).toBeLessThan(0.1);
      expect(meanPointDistance(after.landmarks, before.landmarks, before.box)).toBeLessThan(0.02);
    },
  );

  test("gives at least the same person for a profile", () => {
    const { before, after } = pairs.find(({ name }) => name === PROFILE)!;
    expect(distanceOf(after.embedding!, before.embedding!)).toBeLessThan(MATCH_DISTANCE);
    expect(meanPointDistance(after.landmarks, before.landmarks, before.box)).toBeLessThan(0.1);
  });

  test("gives the same through embed", async () => {
    const boxes = [FACES[3][0]!];
    const [chosen] = await choose(photograph(3), { boxes });
    const { embedding, box, facesFound } = await analyzer.embed(photograph(3), { boxes });
    expect({ embedding, box, facesFound }).toEqual({
      embedding: chosen!.embedding,
      box: chosen!.box,
      facesFound: 1,
    });
  });
});

test.each([
  ["loose", 1.5],
  ["tight", 0.8],
])("a %s box (%f times) chooses the same face", async (_name, factor) => {
  const different = (await chooseAll(factor))
    .filter(({ before, after }) => !(distanceOf(after.embedding!, before.embedding!) < 0.25))
    .map(({ name }) => name);
  expect(different.filter((name) => name !== PROFILE)).toEqual([]);
});

describe("boxes", () => {
  test("keep their order", async () => {
    const boxes = [2, 0, 3, 1].map((i) => FACES[4][i]!);
    const faces = await choose(photograph(4), { boxes });
    expect(faces).toHaveLength(4);
    for (const [i, face] of faces.entries()) expect(iou(face.box, boxes[i]!)).toBeGreaterThan(0.7);
  });

  test("that extend beyond the photograph are clipped to it", async () => {
    const face = FACES[6][3]!;
    const bytes = await encodePng(cropPhotograph(6, boxOf(face.x1, face.y1, 1920, 1537)));
    const corner = relocateBox(face, { x: face.x1, y: face.y1 });
    const [whole] = await choose(bytes, { boxes: [corner] });
    const [reaching] = await choose(bytes, { boxes: [{ ...corner, x1: -500, y1: -50 }] });
    expect(reaching).toEqual(whole);
  });

  test("far larger than a face fall back to detection, unless it is disabled", async () => {
    const boxes = [growBox(FACES[6][0]!, 4)];
    const [face] = await choose(photograph(6), { boxes });
    expect(iou(face!.box, FACES[6][0]!)).toBeGreaterThan(0.7);
    const [taken] = await choose(photograph(6), { boxes, detect: false });
    expect(taken).toMatchObject({ box: { ...boxes[0], x1: 0 }, presence: expect.closeTo(0, 0) });
  });

  test.each<[string, Sample, Box]>([
    ["a wall", 1, WALL],
    ["a railing", 5, RAILING],
    ["a few pixels", 1, boxOf(800, 100, 802, 103)],
  ])("without a face are rejected: %s", async (_name, sample, box) => {
    expect(await catchFaceError(photograph(sample), { boxes: [box] })).toMatchObject({ kind: "noFaceInBox" });
  });

  test("without a face are rejected among others", async () => {
    const boxes = [FACES[1][0]!, WALL, FACES[1][2]!];
    expect(await catchFaceError(photograph(1), { boxes })).toMatchObject({ kind: "noFaceInBox" });
  });

  test.each<[string, Box, RegExp]>([
    ["empty", boxOf(500, 400, 500, 600), /^The box from .* is empty\.$/],
    ["flat", boxOf(500, 400, 600, 400), /^The box from .* is empty\.$/],
    ["inverted", boxOf(600, 600, 400, 400), /^The box from .* is empty\.$/],
    ["inverted in width", boxOf(600, 400, 400, 600), /^The box from .* is empty\.$/],
    ["not numbers", boxOf(Number.NaN, 0, 100, 100), /^The box from .* is empty\.$/],
    ["left of the photograph", boxOf(-300, 100, 0, 300), /^The box from .* lies outside the image\.$/],
    ["below the photograph", boxOf(100, 1280, 300, 1500), /^The box from .* lies outside the image\.$/],
  ])("that are %s are rejected before any network runs", async (_name, box, message) => {
    const stages: Stage[] = [];
    const options = { boxes: [FACES[1][0]!, box], onStage: (stage: Stage) => stages.push(stage) };
    expect(await catchFaceError(photograph(1), options)).toMatchObject({
      kind: "badBox",
      message: expect.stringMatching(message),
    });
    expect(stages).toEqual(["decode"]);
  });

  test.each<[string, Box]>([
    ["without a face", WALL],
    ["without a face, partly outside", boxOf(700, -100, 900, 100)],
    ["empty", boxOf(500, 400, 500, 600)],
    ["outside", boxOf(100, 1280, 300, 1500)],
  ])("are reported in the error as the caller gave them: %s", async (_name, box) => {
    const error = await catchFaceError(photograph(1), { boxes: [FACES[1][0]!, box] });
    expect({ box: error.box, boxIndex: error.boxIndex }).toEqual({ box, boxIndex: 1 });
  });
});

describe("without detection and without boxes", () => {
  test("the whole photograph is one face", async () => {
    for (const { name, sample, box } of ALL_FACES.filter((face) => face.name !== COVERED)) {
      const frame = roundBox(growBox(box, 1.2));
      const faces = await choose(await encodePng(cropPhotograph(sample, frame)), { detect: false });
      expect(faces, name).toHaveLength(1);
      expect(faces[0]!.score).toBeUndefined();
      const place = relocateBox(box, { x: frame.x1, y: frame.y1 });
      expect(iou(faces[0]!.box, place), name).toBeGreaterThan(0.7);
    }
  });

  test.each<[string, () => Promise<Buffer>]>([
    ["people far away", async () => photograph(4)],
    ["a wall", () => encodePng(cropPhotograph(1, WALL))],
    ["a railing", () => encodePng(cropPhotograph(5, RAILING))],
    ["plain grey", () => plainImage(300, 200, "#808080")],
    ["plain black", () => plainImage(300, 200, "#000000")],
    ["a white pixel", () => plainImage(1, 1, "#ffffff")],
    ["a line of pixels", () => plainImage(3000, 1, "#ffffff")],
  ])("a photograph of %s is taken as one face with a low presence", async (_name, make) => {
    const { faces, facesFound, width, height } = await analyzer.analyze(await make(), {
      detect: false,
      embeddings: true,
    });
    expect(facesFound).toBe(1);
    expect(faces).toMatchObject([{ box: boxOf(0, 0, width, height) }]);
    expect(faces[0]!.presence).toBeLessThan(SURE_SCORE);
    expectUsable(faces[0]!);
    const { embedding, presence } = await analyzer.embed(await make(), { detect: false });
    expect({ embedding, presence }).toEqual({ embedding: faces[0]!.embedding, presence: faces[0]!.presence });
  });

  test.each<[string, Box]>([
    ["on a wall", WALL],
    ["of one pixel", boxOf(800, 100, 801, 101)],
    ["smaller than a pixel", boxOf(800, 100, 800 + 1e-12, 100 + 1e-12)],
    ["in the corner", boxOf(1919, 1279, 2500, 2500)],
    ["as flat as a line", boxOf(0, 640, 1920, 641)],
  ])("a box %s is taken as one face with a low presence", async (_name, box) => {
    const faces = await choose(photograph(1), { boxes: [FACES[1][0]!, box], detect: false });
    expect(faces).toHaveLength(2);
    expect(faces[0]!.presence).toBeGreaterThan(0.9);
    expect(faces[1]!.presence).toBeLessThan(0.5);
    expect(iou(faces[1]!.box, box)).toBeGreaterThan(0);
    for (const face of faces) expectUsable(face);
  });

  test("a box is still rejected if it is empty or outside the image", async () => {
    for (const box of [boxOf(5, 5, 5, 9), boxOf(1920, 1280, 1930, 1290)]) {
      const options = { boxes: [FACES[1][0]!, box], detect: false };
      expect(await catchFaceError(photograph(1), options)).toMatchObject({ kind: "badBox", boxIndex: 1 });
    }
  });
});

test.each(SAMPLES)("results of photograph %i are in its own pixels", async (sample) => {
  const small = await choose(await encodePng(sharp(photograph(sample)).resize(960)), {});
  expect(small).toHaveLength(FACES[sample].length);
  // The profile is not stable enough for a tolerance of 2 percent.
  for (const { box } of ALL_FACES.filter((face) => face.sample === sample && face.name !== PROFILE)) {
    const large = faceAt(found.get(sample)!, box);
    const half = faceAt(small, relocateBox(box, { x: 0, y: 0 }, 0.5));
    const doubled = relocateBox(half.box, { x: 0, y: 0 }, 2);
    const corners = ({ x1, y1, x2, y2 }: Box) => [
      { x: x1, y: y1 },
      { x: x2, y: y2 },
    ];
    expect(meanPointDistance(corners(doubled), corners(large.box), large.box)).toBeLessThan(0.02);
    const landmarks = half.landmarks.map(({ x, y }) => ({ x: 2 * x, y: 2 * y }));
    expect(meanPointDistance(landmarks, large.landmarks, large.box)).toBeLessThan(0.02);
  }
});
