import sharp from "sharp";
import { expect, onTestFinished, test } from "vitest";
import { DEFAULT_MODELS_DIR } from "../../src/core/index.ts";
import { openPool } from "../../src/workers/pool.ts";
import { createCrowd, encodePng, openRealAnalyzer } from "../support/faces.ts";

test("of more faces than the limit the most prominent are processed, in many parts", async () => {
  const pool = await openPool({ modelsDir: DEFAULT_MODELS_DIR, workers: 1, maxQueueWaitMs: 600_000 });
  onTestFinished(() => pool.close());
  const analyzer = await openRealAnalyzer();
  onTestFinished(() => analyzer.close());
  const [many, large] = await Promise.all([createCrowd(289, 64), createCrowd(9, 128)]);
  const image = await encodePng(
    sharp(many)
      .extend({ bottom: 384 })
      .composite([{ input: large, left: 0, top: 1088 }]),
  );
  let parts = 0;
  const onStage = (stage: string) => {
    if (stage === "queue") parts++;
  };
  const analysis = await pool.analyze(image, { onStage });
  expect(analysis).toStrictEqual(await analyzer.analyze(image));
  expect(analysis.faces).toHaveLength(256);
  expect(analysis.facesFound).toBeGreaterThan(280);
  // The large faces are at the bottom of the image, where detection finds them last.
  expect(analysis.faces.filter(({ box }) => box.y2 > 1100).length).toBeGreaterThanOrEqual(8);
  expect(parts).toBe(256 / 16);
}, 180_000);
