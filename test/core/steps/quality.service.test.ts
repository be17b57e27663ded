import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type Analyzer,
  failingComponents,
  isUsable,
  type Quality,
  type QualityComponent,
} from "../../../src/core/index.ts";
import { MORE_DEGRADATIONS } from "../../../tools/support/degradations.ts";
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

const coverEyes = () => {
  const bar = { create: { width: 160, height: 30, channels: 3, background: "#101010" } } as const;
  return sharp(portrait).composite([{ input: bar, left: 45, top: 94 }]);
};

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

test.each<[string, QualityComponent, () => sharp.Sharp]>([
  ["blurred", "sharpness", () => sharp(portrait).blur(6)],
  ["with covered eyes", "eyesVisible", coverEyes],
  ["that is overexposed", "overExposure", () => sharp(portrait).linear(4, 0)],
])("a portrait %s is unusable because of its %s", async (_, component, image) => {
  const quality = await qualityOf(await image().png().toBuffer());
  expect(isUsable(quality)).toBe(false);
  expect(failingComponents(quality)[0]!.component).toBe(component);
});

test("noise, darkness, a cut and a tilt move the measure of their component", async () => {
  const clear = await qualityOf(portrait);
  const subject = { photo: portrait, width: SIDE, height: SIDE, box: { x1: 60, y1: 60, x2: 190, y2: 200 } };
  const noisy = await qualityOf(await MORE_DEGRADATIONS["noise, sigma 60"]!(subject));
  expect(measureOf(noisy, "noise")).toBeGreaterThan(2 * measureOf(clear, "noise"));
  const dark = await qualityOf(await sharp(portrait).linear(0.5, 0).png().toBuffer());
  expect(measureOf(dark, "illumination")).toBeCloseTo(measureOf(clear, "illumination") / 2, -1);
  const cut = await qualityOf(await MORE_DEGRADATIONS["left third cut off"]!(subject));
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

test("a vector comes with the same quality as an analysis", async () => {
  const { quality } = await analyzer.embed(portrait, { quality: true });
  expect(quality).toEqual(await qualityOf(portrait));
  expect((await analyzer.embed(portrait, { pose: true })).quality).toBeUndefined();
});
