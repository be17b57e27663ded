// Each call runs only the networks that it needs.
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createAnalyzer, createPartialAnalyzer } from "../../src/core/analyzer.ts";
import { type Analyzer, DEFAULT_MODELS_DIR, type PartialAnalyzer } from "../../src/core/index.ts";
import { type Network, type NetworkName, openNetworks } from "../../src/core/networks.ts";
import type { Target } from "../../src/core/steps/choose.ts";
import { createCrowd, cropPhotograph, encodePng, FACES, growBox } from "../support/faces.ts";
import { photograph } from "../support/images.ts";

let analyzer: Analyzer;
let partial: PartialAnalyzer;
/** Number of images that each network ran on. */
const imageCounts = new Map<NetworkName, number>();
beforeAll(async () => {
  const networks = await openNetworks(DEFAULT_MODELS_DIR);
  const countImages = (name: NetworkName): Network => ({
    run(inputs) {
      if (inputs.length > 0) imageCounts.set(name, (imageCounts.get(name) ?? 0) + inputs.length);
      return networks[name].run(inputs);
    },
  });
  const counting = {
    ...networks,
    detect: countImages("detect"),
    mesh: countImages("mesh"),
    embed: countImages("embed"),
    attributes: countImages("attributes"),
  };
  analyzer = createAnalyzer(counting);
  partial = createPartialAnalyzer(counting);
});
beforeEach(() => imageCounts.clear());
afterAll(() => analyzer.close());

test("an embedding needs the detector, one mesh and the embedding network", async () => {
  await analyzer.embed(photograph(3));
  expect([...imageCounts.keys()]).toEqual(["detect", "mesh", "embed"]);
  expect(imageCounts.get("mesh")).toBe(1);
});

test("the mesh is refined for landmarks and pose only, by the crop with its mirror image", async () => {
  await analyzer.embed(photograph(3), { pose: true });
  expect(imageCounts.get("mesh")).toBe(1 + 1);
  imageCounts.clear();
  const { faces } = await analyzer.analyze(photograph(3), { landmarks: false });
  expect([...imageCounts.keys()]).toEqual(["detect", "mesh", "attributes"]);
  expect(imageCounts.get("mesh")).toBe(faces.length);
});

test("attributes do not need the embedding network", async () => {
  await analyzer.analyze(photograph(3));
  expect([...imageCounts.keys()]).toEqual(["detect", "mesh", "attributes"]);
});

test.each([20, 100])(
  "the embedding of one face in a crowd of %i costs a bounded number of runs",
  async (size) => {
    const { facesFound } = await analyzer.embed(await createCrowd(size, 64));
    expect(facesFound).toBeGreaterThan(0.9 * size);
    // The photo; the face as found, at eight angles, and at the best of them.
    expect(imageCounts.get("detect")).toBeLessThanOrEqual(1 + 1 + 8 + 1);
    expect(imageCounts.get("embed")).toBe(1);
  },
);

test("a tilted face needs one look at it", async () => {
  const upright = await cropPhotograph(3, growBox(FACES[3][1]!, 1.8)).resize(640).png().toBuffer();
  await analyzer.embed(await encodePng(sharp(upright).rotate(35, { background: "#808080" })));
  expect(imageCounts.get("detect")).toBe(1 + 1);
});

test("a crowd is measured in parts of 16 faces", async () => {
  const image = await createCrowd(40, 64);
  const sizes: number[] = [];
  for (let targets: readonly Target[] | undefined; targets?.length !== 0; ) {
    imageCounts.clear();
    const part = await partial.analyze(image, {}, targets);
    targets = part.remaining;
    sizes.push(part.faces.length);
    expect(imageCounts.get("attributes")).toBe(part.faces.length);
  }
  expect(sizes.slice(0, 2)).toEqual([16, 16]);
  expect(sizes).toHaveLength(3);
  expect((await analyzer.analyze(image)).faces).toHaveLength(sizes.reduce((sum, size) => sum + size));
});

test("an image without a face needs only the detector", async () => {
  const { faces } = await analyzer.analyze(await blank(), { embeddings: true });
  expect(faces).toEqual([]);
  expect([...imageCounts.keys()]).toEqual(["detect"]);
});

test.each([
  [320, 240, 3],
  [1024, 768, 4],
  [4096, 3072, 4],
])("an image of %i by %i pixels without a face is searched in %i views", async (width, height, views) => {
  await analyzer.analyze(await blank(width, height));
  expect(imageCounts.get("detect")).toBe(views);
});

async function blank(width = 320, height = 240): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 3, background: "#808080" } })
    .png()
    .toBuffer();
}
