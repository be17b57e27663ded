import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type Analyzer,
  failingComponents,
  isUsable,
  type Quality,
  type QualityComponent,
} from "../../../src/core/index.ts";
import { DEGRADATIONS, MORE_DEGRADATIONS } from "../../../tools/support/degradations.ts";
import { cropPhotograph, encodePng, FACES, growBox, openRealAnalyzer } from "../../support/faces.ts";
import { plainImage } from "../../support/images.ts";

/** Side of the portraits, of which the face takes about a half. */
const SIDE = 250;

let analyzer: Analyzer;
let portrait: Buffer;
beforeAll(async () => {
  analyzer = await openRealAnalyzer();
  const photo = await encodePng(cropPhotograph(3, growBox(FACES[3][1]!, 2)));
  portrait = await sharp(photo).resize(SIDE, SIDE, { fit: "fill" }).png().toBuffer();
});
afterAll(() => analyzer.close());

async function qualityOf(image: Uint8Array): Promise<Quality> {
  const { faces } = await analyzer.analyze(image, { quality: true, attributes: false, maxFaces: 1 });
  return faces[0]!.quality!;
}

function measureOf({ components }: Quality, name: QualityComponent): number {
  return components.find(({ component }) => component === name)!.measure;
}

/** The portrait and the box of its face. */
async function subject() {
  const { faces } = await analyzer.analyze(portrait);
  return { photo: portrait, width: SIDE, height: SIDE, box: faces[0]!.box };
}

test.each([
  ["as it is", () => sharp(portrait)],
  ["upside down", () => sharp(portrait).rotate(180)],
  ["at a quarter of its brightness", () => sharp(portrait).linear(0.25, 0)],
  ["shrunk to a face of 60 pixels", () => sharp(portrait).resize(SIDE / 2)],
])("a portrait %s is usable", async (_, image) => {
  const quality = await qualityOf(await image().png().toBuffer());
  expect(failingComponents(quality)).toEqual([]);
  expect(isUsable(quality)).toBe(true);
});

test.each<[QualityComponent, string]>([
  ["sharpness", "blur, sigma 7"],
  ["eyesVisible", "dark bar over the eyes"],
  ["noise", "noise, sigma 40"],
])("a portrait of low %s is unusable and the component fails: %s", async (component, degradation) => {
  const degrade = { ...DEGRADATIONS, ...MORE_DEGRADATIONS }[degradation]!;
  const quality = await qualityOf(await degrade(await subject()));
  expect(isUsable(quality)).toBe(false);
  expect(failingComponents(quality).map((failing) => failing.component)).toContain(component);
});

test("light, darkness, a cut and a tilt move the measure of their component", async () => {
  const clear = await qualityOf(portrait);
  const bright = await qualityOf(await MORE_DEGRADATIONS["brightness x 2"]!(await subject()));
  expect(measureOf(bright, "overExposure")).toBeGreaterThan(measureOf(clear, "overExposure") + 0.2);
  const dark = await qualityOf(await sharp(portrait).linear(0.5, 0).png().toBuffer());
  expect(measureOf(dark, "illumination")).toBeCloseTo(measureOf(clear, "illumination") / 2, -1);
  const cut = await qualityOf(await MORE_DEGRADATIONS["left third cut off"]!(await subject()));
  expect(measureOf(clear, "crop")).toBe(1);
  expect(measureOf(cut, "crop")).toBeLessThan(0.95);
  const turned = await qualityOf(await sharp(portrait).rotate(90).png().toBuffer());
  expect(Math.abs(measureOf(turned, "roll") - 90)).toBeLessThan(15);
});

test("what shows no face is unusable when it is taken as one", async () => {
  const options = { boxes: [{ x1: 50, y1: 50, x2: 250, y2: 250 }], detect: false, quality: true };
  const { faces } = await analyzer.analyze(await plainImage(300, 300, "grey"), options);
  expect(faces[0]!.quality!.value).toBeLessThan(40);
  expect(failingComponents(faces[0]!.quality!).map(({ component }) => component)).toContain(
    "detectionConfidence",
  );
});

test("an embedding comes with the same quality as an analysis", async () => {
  const { quality } = await analyzer.embed(portrait, { quality: true });
  expect(quality).toEqual(await qualityOf(portrait));
  expect((await analyzer.embed(portrait, { pose: true })).quality).toBeUndefined();
});
