// Which networks run for which call, and how often: no work is done that nobody asked for.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createAnalyzer } from "../../src/core/analyzer.ts";
import type { Analyzer } from "../../src/core/index.ts";
import { type Network, type NetworkName, openNetworks } from "../../src/core/networks.ts";
import { DEFAULT_MODELS_DIR } from "../../src/model-manifest.ts";
import { boxOf, FACES } from "../support/faces.ts";
import { photograph } from "../support/images.ts";

let analyzer: Analyzer;
/** On how many images. */
const ran = new Map<NetworkName, number>();
beforeAll(async () => {
  const networks = await openNetworks(DEFAULT_MODELS_DIR);
  const watched = (name: NetworkName): Network => ({
    run(inputs) {
      if (inputs.length > 0) ran.set(name, (ran.get(name) ?? 0) + inputs.length);
      return networks[name].run(inputs);
    },
  });
  analyzer = createAnalyzer({
    ...networks,
    detect: watched("detect"),
    mesh: watched("mesh"),
    embed: watched("embed"),
    attributes: watched("attributes"),
  });
});
beforeEach(() => ran.clear());
afterAll(() => analyzer.close());

const face = { boxes: [FACES[3][1]!] };
const wall = boxOf(700, 60, 900, 260);

test("a vector needs no attributes", async () => {
  await analyzer.embed(photograph(3));
  expect([...ran.keys()]).toEqual(["detect", "mesh", "embed"]);
});

test("attributes need no vector", async () => {
  await analyzer.analyze(photograph(3));
  expect([...ran.keys()]).toEqual(["detect", "mesh", "attributes"]);
});

test("a box around a face needs no detector", async () => {
  await analyzer.embed(photograph(3), face);
  expect([...ran.keys()]).toEqual(["mesh", "embed"]);
});

test("a box without a face asks the detector, unless it is switched off", async () => {
  await expect(analyzer.embed(photograph(1), { boxes: [wall], detect: false })).rejects.toThrow();
  expect([...ran.keys()]).toEqual(["mesh"]);
  await expect(analyzer.embed(photograph(1), { boxes: [wall] })).rejects.toThrow();
  expect([...ran.keys()]).toEqual(["mesh", "detect"]);
});

test("a photograph without a face asks for nothing but that", async () => {
  const { faces } = await analyzer.analyze(await blank(), { vectors: true });
  expect(faces).toEqual([]);
  expect([...ran.keys()]).toEqual(["detect"]);
});

test.each([
  [320, 240, 2],
  [1024, 768, 8],
  [1536, 1152, 8],
  [2048, 1536, 8],
  [4096, 3072, 8],
])(
  "a picture of %i by %i pixels is looked at in %i views where no face is seen",
  async (width, height, views) => {
    await analyzer.analyze(await blank(width, height));
    expect(ran.get("detect")).toBe(views);
  },
);

async function blank(width = 320, height = 240): Promise<Buffer> {
  const { default: sharp } = await import("sharp");
  return sharp({ create: { width, height, channels: 3, background: "#808080" } })
    .png()
    .toBuffer();
}
