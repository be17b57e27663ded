import { expect, test } from "vitest";
import {
  failingComponents,
  isUsable,
  MIN_USABLE_VALUE,
  QUALITY_COMPONENTS,
  type QualityMeasures,
  qualityOf,
} from "../../../src/core/steps/quality.ts";

/** The measures of a clear portrait. */
const CLEAR: QualityMeasures = {
  interEyeDistance: 80,
  illumination: 140,
  overExposure: 0,
  sharpness: 0.7,
  noise: 0.4,
  yaw: 5,
  pitch: 5,
  roll: 5,
  eyesVisible: 0.7,
  faceOcclusion: 0.08,
  detectionConfidence: 0.93,
  crop: 1,
};

test("the value is the product of the components, which are in the order of the contract", () => {
  const { value, components } = qualityOf(CLEAR);
  expect(components.map(({ component }) => component)).toEqual(QUALITY_COMPONENTS);
  expect(value).toBeCloseTo(100 * components.reduce((product, one) => product * (one.value / 100), 1), 6);
  expect(value).toBeGreaterThan(85);
  expect(value).toBeLessThan(100);
});

test("a usable face has no failing components", () => {
  expect(isUsable(qualityOf(CLEAR))).toBe(true);
  expect(failingComponents(qualityOf(CLEAR))).toEqual([]);
});

test.each<[Partial<QualityMeasures>]>([
  [{ sharpness: 0.35 }],
  [{ noise: 1.1 }],
  [{ overExposure: 0.8 }],
  [{ faceOcclusion: 0.5 }],
  [{ eyesVisible: 0 }],
  [{ detectionConfidence: 0.1 }],
])("%j makes a face unusable and is named first", (change) => {
  const [worst] = failingComponents(qualityOf({ ...CLEAR, ...change }));
  expect(worst).toMatchObject({ component: Object.keys(change)[0], measure: Object.values(change)[0] });
});

test("the components that fail are ordered by their values, and those that do not are left out", () => {
  const failing = failingComponents(qualityOf({ ...CLEAR, noise: 1.1, sharpness: 0.2 }));
  expect(failing.map(({ component }) => component)).toEqual(["sharpness", "noise"]);
});

test("a face that only the sum of small defects makes unusable has its worst component", () => {
  const sum = (share: number) => {
    const each = { middle: 0, slope: Math.log(share / (1 - share)) };
    const curves = Object.fromEntries(QUALITY_COMPONENTS.map((name) => [name, each])) as never;
    const ones = Object.fromEntries(QUALITY_COMPONENTS.map((name) => [name, 1])) as never;
    return qualityOf(ones, curves);
  };
  const quality = sum(0.95);
  expect(quality.value).toBeLessThan(MIN_USABLE_VALUE);
  expect(failingComponents(quality)).toHaveLength(1);
});
