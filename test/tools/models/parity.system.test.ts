// Our converted networks against numbers that our converter had no part in: tfjs running the published
// graph models, and onnxruntime running the published ONNX files as they are.
import { join } from "node:path";
import { tensor4d } from "@tensorflow/tfjs-core";
import type { InferenceSession } from "onnxruntime-node";
import sharp, { type Region } from "sharp";
import { beforeAll, describe, expect, it } from "vitest";
import { readManifest } from "../../../src/core/index.ts";
import { PACKAGE_ROOT } from "../../../src/package-root.ts";
import { convert } from "../../../tools/models/convert.ts";
import { fetchFiles, sha256 } from "../../../tools/models/fetch.ts";
import { SOURCES, type Source } from "../../../tools/models/sources.ts";
import { type Outputs, openNetwork, runNetwork } from "../../support/networks.ts";
import { concatFloats, largestDifference, randomFloats } from "../../support/numbers.ts";
import { openGraphModel } from "../../support/tfjs.ts";

const PHOTO = join(PACKAGE_ROOT, "node_modules/@vladmandic/face-api/demo/sample1.jpg");
/** A face of the photo and half as much again. */
const FACE: Region = { left: 1448, top: 224, width: 234, height: 234 };

interface Case {
  readonly side: number;
  readonly region?: Region;
  /** The largest difference allowed, in units of the output. */
  readonly limit: number;
  /** The same if weights are stored in half precision. */
  readonly halfLimit?: number;
  readonly unitsOf?: Readonly<Record<string, (expected: number) => number>>;
}

/**
 * What each network reads, and how far from the published one it may be. A difference is absolute, except that of
 * `points`: pixels are measured in sides of the input, because float32 alone moves them by more than the limit.
 */
const CASES: Readonly<Record<string, Case>> = {
  mesh: { side: 192, region: FACE, limit: 1e-4, unitsOf: { points: () => 192 } },
  embed: { side: 112, region: FACE, limit: 1e-4, halfLimit: 0.02 },
};
const BATCH_LIMIT = 1e-5;

const manifest = readManifest();

it("has a case for every network that a package has", () => {
  const published = Object.keys(SOURCES).filter((name) => SOURCES[name]!.package);
  expect(Object.keys(CASES).sort()).toEqual(published.sort());
});

describe.each(Object.entries(CASES))("%s", (name, { side, region, limit, halfLimit, unitsOf }) => {
  const source = SOURCES[name]!;
  const shape = [1, 3, side, side];
  const noise = randomFloats(3 * side * side, 0, 255, 7);
  let photo: Float32Array;
  let ours: InferenceSession;
  let stored: Uint8Array;
  let runPublished: (input: Float32Array) => Promise<Outputs>;

  beforeAll(async () => {
    photo = await readPhoto(side, region);
    const files = await fetchFiles(source);
    ours = await openNetwork(convert(name, { ...source, storesHalf: false }, files));
    stored = convert(name, source, files);
    const run = await (source.format === "tfjs" ? openTfjs : openOnnx)(source, shape);
    runPublished = (input) => run(input.map((value) => (value * (source.white ?? 255)) / 255));
  });

  it.each([
    ["a photograph", () => photo],
    ["noise", () => noise],
  ])("gives the published network's numbers for %s", async (_, input) => {
    const actual = await runNetwork(ours, shape, input());
    const expected = await runPublished(input());
    expect(Object.keys(actual).sort()).toEqual(Object.keys(expected).sort());
    for (const [output, values] of Object.entries(expected)) {
      const difference = largestDifference(actual[output]!, values, unitsOf?.[output]);
      expect(difference, output).toBeLessThanOrEqual(limit);
    }
  });

  it("is the file in the repository", () => {
    expect(sha256(stored)).toBe(manifest[name]!.sha256);
  });

  if (halfLimit !== undefined)
    it("changes little when its weights are stored in half precision", async () => {
      const actual = await runNetwork(await openNetwork(stored), shape, photo);
      const expected = await runPublished(photo);
      for (const [output, values] of Object.entries(expected)) {
        const difference = largestDifference(actual[output]!, values, unitsOf?.[output]);
        expect(difference, output).toBeLessThanOrEqual(halfLimit);
      }
    });

  it("gives for two images at once what it gives for each alone", async () => {
    const both = await runNetwork(ours, [2, ...shape.slice(1)], concatFloats([photo, noise]));
    const alone = [await runNetwork(ours, shape, photo), await runNetwork(ours, shape, noise)];
    for (const [output, actual] of Object.entries(both)) {
      const expected = concatFloats(alone.map((outputs) => outputs[output]!));
      expect(largestDifference(actual, expected, unitsOf?.[output]), output).toBeLessThanOrEqual(BATCH_LIMIT);
    }
  });

  // Vectors leave the service at this length, and callers compare their distances.
  if (name === "embed")
    it("gives the published vector, both scaled to length 0.45", async () => {
      const { vector: actual } = await runNetwork(ours, shape, photo);
      const { vector: expected } = await runPublished(photo);
      expect(distance(scaleTo(0.45, actual!), scaleTo(0.45, expected!))).toBeLessThanOrEqual(0.002);
    });
});

/** The photo, or a part of it, as planes of red, green and blue, 0 to 255, letterboxed. */
async function readPhoto(side: number, region?: Region): Promise<Float32Array> {
  const photo = region ? sharp(PHOTO).extract(region) : sharp(PHOTO);
  const pixels = await photo.resize(side, side, { fit: "contain" }).removeAlpha().raw().toBuffer();
  const area = side * side;
  return Float32Array.from(pixels, (_, i) => pixels[(i % area) * 3 + Math.floor(i / area)]!);
}

/** The published ONNX file as it is. */
async function openOnnx(source: Source, shape: readonly number[]) {
  const [file] = await fetchFiles(source);
  const session = await openNetwork(file!);
  return async (input: Float32Array) => withOurNames(source, await runNetwork(session, shape, input));
}

/** The published graph model in tfjs, whose images hold the three colours of a pixel side by side. */
async function openTfjs(source: Source, [, channels = 3, height = 0, width = 0]: readonly number[]) {
  const [json, weights] = await fetchFiles(source);
  const model = await openGraphModel(json!, weights!);
  const names = Object.values(source.outputs).flat();
  return async (input: Float32Array) => {
    const pixels = input.map((_, i) => input[(i % channels) * height * width + Math.floor(i / channels)]!);
    const results = [model.execute(tensor4d(pixels, [1, height, width, channels]), names)].flat();
    const values = results.map((result) => result.dataSync<"float32">());
    return withOurNames(source, Object.fromEntries(names.map((name, i) => [name, values[i]!])));
  };
}

/** Published outputs under our names; for one image, to join is to write one after the other. */
function withOurNames(source: Source, published: Outputs): Outputs {
  return Object.fromEntries(
    Object.entries(source.outputs).map(([output, parts]) => [
      output,
      concatFloats(parts.map((part) => published[part]!)),
    ]),
  );
}

function scaleTo(length: number, vector: Float32Array): Float32Array {
  const factor = length / Math.hypot(...vector);
  return vector.map((value) => value * factor);
}

function distance(a: Float32Array, b: Float32Array): number {
  return Math.hypot(...a.map((value, i) => value - b[i]!));
}
