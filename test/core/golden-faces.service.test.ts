// The accuracy gate: the core measures in a few photos what it measured when they were recorded. The tolerances allow
// another CPU, but no wrong conversion of a network, crop, order of colours, alignment or decoding of an output.
// After an intended change, `npm run generate:samples` records the faces again.
import { beforeAll, expect, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { longerSide } from "../../src/core/geometry.ts";
import { DEFAULT_MODELS_DIR } from "../../src/core/index.ts";
import { openNetworks } from "../../src/core/networks.ts";
import {
  type GoldenFace,
  type GoldenFaces,
  measureGoldenFaces,
  type Quantity,
  readGoldenFaces,
} from "../../tools/support/golden-faces.ts";

/**
 * The largest difference of each quantity. Without its graph optimizations, onnxruntime runs other kernels and adds in
 * another order. That moved embeddings by up to 0.0004 and all else by less than the rounding of the record; the limits are
 * at least three times that rounding and ten times that distance. Each limit has an example of the mistakes that were
 * tried, and how far it moves the median face, or "up to" how far the most sensitive one.
 */
const LIMITS: Readonly<Record<Quantity, number>> = {
  // Relative to the longer side of the face. A crop without its second sample moves boxes by up to 0.015 and points by 0.02.
  box: 0.002,
  points: 0.002,
  // Recorded to 0.1 pixels, which is 0.0005 of the smallest face. Without the mirrored crop: 0.009.
  landmarks: 0.002,
  // In degrees. Without the mirrored crop: 0.8.
  pose: 0.1,
  // A crop without its second sample: up to 0.01.
  scores: 0.002,
  // Of 255. Luma coefficients of BT.709: 2.5.
  light: 0.1,
  // Probabilities. Noise of 3 % on the weights of one layer: up to 0.008. A crop that is 2 % too small: 0.01.
  ages: 0.003,
  male: 0.003,
  // Euclidean. Noise of 3 % on the weights of one layer: up to 0.008. An alignment off by half a pixel: 0.04.
  embedding: 0.005,
};

const POINTS: readonly Quantity[] = ["box", "points", "landmarks"];

let actual: GoldenFaces;
let expected: GoldenFaces;
beforeAll(async () => {
  expected = readGoldenFaces();
  // Other providers and batch sizes are checked with the settings of the service.
  const { ortProviders: providers, batchSize } = readConfig();
  const networks = await openNetworks(DEFAULT_MODELS_DIR, {}, { providers, batchSize });
  actual = await measureGoldenFaces(networks);
  await networks.close();
});

test("the identity is that of the recorded embeddings", () => {
  expect(
    actual.identity,
    "The networks or the preprocessing of embeddings have changed: run `npm run generate:samples`, and name the change " +
      "in CHANGELOG.md.",
  ).toBe(expected.identity);
});

test("every photo has the recorded number of faces", () => {
  const countFaces = ({ photos }: GoldenFaces) =>
    Object.entries(photos).map(([name, faces]) => `${name}: ${faces.length}`);
  expect(countFaces(actual)).toEqual(countFaces(expected));
  expect(Object.values(expected.photos).flat()).toHaveLength(24);
});

test.each(Object.keys(LIMITS) as Quantity[])("every face has the recorded %s", (quantity) => {
  const moved = Object.entries(expected.photos).flatMap(([name, faces]) =>
    faces.flatMap((face, i) => {
      const difference = differenceOf(quantity, actual.photos[name]![i], face);
      // NaN has not passed.
      return difference <= LIMITS[quantity] ? [] : [`${name}, face ${i}: ${difference.toFixed(4)}`];
    }),
  );
  const advice =
    quantity === "embedding"
      ? " If the identity is the same, stored embeddings would silently become invalid: undo the change, or increase " +
        "PREPROCESSING in src/core/steps/embed.ts."
      : "";
  expect(moved, `More than ${LIMITS[quantity]} from what was recorded.${advice}`).toEqual([]);
});

function differenceOf(quantity: Quantity, actual: GoldenFace | undefined, expected: GoldenFace): number {
  const [is, was] = [actual?.[quantity] ?? [], expected[quantity]];
  const differences = was.map((value, i) => Math.abs(value - is[i]!));
  if (quantity === "embedding") return Math.hypot(...differences);
  const [x1, y1, x2, y2] = expected.box as [number, number, number, number];
  return Math.max(...differences) / (POINTS.includes(quantity) ? longerSide({ x1, y1, x2, y2 }) : 1);
}
