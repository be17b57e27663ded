import { expect, test } from "vitest";
import { QualityComponent } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { componentText, poseText, type Quality, qualityText } from "../../src/web/photos/quality-words.ts";

const NAMES = Object.keys(QualityComponent).filter(
  (name) => /^[A-Z_]+$/.test(name) && name !== "UNSPECIFIED",
);

/** A quality whose components have the value 99, except the given ones. */
function quality(usable: boolean, values: Readonly<Record<string, number>>): Quality {
  const components = NAMES.map((name) => ({
    component: `QUALITY_COMPONENT_${name}`,
    value: values[name] ?? 99,
    measure: 0.5,
  }));
  return { size: 100, brightness: 120, issues: [], usable, value: 90, components };
}

test.each([
  [quality(true, {}), "Good for recognition"],
  [quality(true, { SHARPNESS: 93 }), "Good for recognition, a little blurred"],
  [
    quality(false, { EYES_VISIBLE: 80, SHARPNESS: 20 }),
    "Not good for recognition: blurred, covered at the eyes",
  ],
  // The product is low although no component is.
  [quality(false, { YAW: 91, NOISE: 94 }), "Not good for recognition: turned to the side"],
])("a quality is said in words: %#", (one, text) => {
  expect(qualityText(one)).toBe(text);
});

test("every component of the contract has a name and a fault", () => {
  expect(NAMES).toHaveLength(12);
  for (const component of quality(true, {}).components) {
    const [name, measure] = componentText(component);
    expect(name).not.toMatch(/^[A-Z_]+$/);
    expect(measure).toMatch(/^(50%|1 px|1°|0\.50)$/);
  }
  for (const name of NAMES) expect(qualityText(quality(false, { [name]: 10 }))).toMatch(/: [a-z ]+$/);
});

test.each([
  [{ yaw: 5, pitch: -5, roll: 10 }, ""],
  [{ yaw: 0, pitch: 0, roll: -170 }, "upside down: was turned upright"],
  [{ yaw: -40, pitch: 0, roll: 90 }, "on its side: was turned upright, looks to the left of the photo"],
  [{ yaw: 0, pitch: 30, roll: 0 }, "looks up"],
])("a pose is said in words: %o", (pose, text) => {
  expect(poseText(pose)).toBe(text);
});
