import { expect, onTestFinished, test } from "vitest";
import { pyramidBytes } from "../../../src/core/crop/image-pyramid.ts";
import { kernels, PYRAMIDS_ADDRESS } from "../../../src/core/crop/kernel-memory.ts";
import { openAnalyzer } from "../../../src/core/index.ts";
import { DEFAULT_MODELS_DIR } from "../../../src/model-manifest.ts";
import { createSyntheticFace } from "../../../src/workers/synthetic-face.ts";

test("calls of an analyzer release their pyramids", async () => {
  const analyzer = await openAnalyzer({ modelsDir: DEFAULT_MODELS_DIR });
  onTestFinished(() => analyzer.close());
  const face = createSyntheticFace();
  await analyzer.embed(face);
  await analyzer.analyze(face);
  const boxes = [{ x1: 0, y1: 0, x2: 20, y2: 20 }];
  await expect(analyzer.embed(face, { boxes })).rejects.toMatchObject({ kind: "noFaceInBox" });
  const { width, height } = await analyzer.embed(face);
  const end = PYRAMIDS_ADDRESS + pyramidBytes(width, height);
  expect(new Uint8Array(kernels.memory.buffer, end).every((byte) => byte === 0)).toBe(true);
});
