// Each call runs only the networks that it needs.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createAnalyzer } from "../../src/core/analyzer.ts";
import type { Analyzer } from "../../src/core/index.ts";
import { type Network, type NetworkName, openNetworks } from "../../src/core/networks.ts";
import { DEFAULT_MODELS_DIR } from "../../src/model-manifest.ts";
import { createCrowd } from "../support/faces.ts";
import { photograph } from "../support/images.ts";

let analyzer: Analyzer;
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
  analyzer = createAnalyzer({
    ...networks,
    detect: countImages("detect"),
    mesh: countImages("mesh"),
    embed: countImages("embed"),
    attributes: countImages("attributes"),
  });
});
beforeEach(() => imageCounts.clear());
afterAll(() => analyzer.close());

test("a vector needs the detector and the embedding network", async () => {
  await analyzer.embed(photograph(3));
  expect([...imageCounts.keys()]).toEqual(["detect", "embed"]);
});

test("the mesh network runs for landmarks and pose only", async () => {
  await analyzer.embed(photograph(3), { pose: true });
  expect([...imageCounts.keys()]).toEqual(["detect", "embed", "mesh"]);
  imageCounts.clear();
  await analyzer.analyze(photograph(3), { landmarks: false });
  expect([...imageCounts.keys()]).toEqual(["detect", "attributes"]);
});

test("attributes do not need the embedding network", async () => {
  await analyzer.analyze(photograph(3));
  expect([...imageCounts.keys()]).toEqual(["detect", "mesh", "attributes"]);
});

test("the vector of one face costs no more in a crowd", async () => {
  const { facesFound } = await analyzer.embed(await createCrowd(16));
  expect(facesFound).toBeGreaterThan(12);
  expect(imageCounts.get("embed")).toBe(1);
});

test("an image without a face needs only the detector", async () => {
  const { faces } = await analyzer.analyze(await blank(), { vectors: true });
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
  const { default: sharp } = await import("sharp");
  return sharp({ create: { width, height, channels: 3, background: "#808080" } })
    .png()
    .toBuffer();
}
