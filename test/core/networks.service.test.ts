import { afterEach, describe, expect, test, vi } from "vitest";
import { iou } from "../../src/core/geometry.ts";
import {
  type Analysis,
  DEFAULT_MODELS_DIR,
  distanceOf,
  type ExecutionProvider,
  openAnalyzer,
  readCalibration,
} from "../../src/core/index.ts";
import { type NetworkOptions, openNetworks, type TensorWriter } from "../../src/core/networks.ts";
import { createCrowd } from "../support/faces.ts";

const open = (options: NetworkOptions) => openNetworks(DEFAULT_MODELS_DIR, {}, options);

/** A provider that onnxruntime has on other platforms only. */
const MISSING: ExecutionProvider = process.platform === "win32" ? "coreml" : "dml";

describe("execution providers", () => {
  afterEach(() => void vi.restoreAllMocks());

  test.each([[[MISSING]], [[MISSING, "cpu"]], [["cpu", MISSING]]] as ExecutionProvider[][][])(
    "%j are rejected, because onnxruntime lacks one of them",
    async (providers) => {
      const warn = vi.spyOn(console, "warn");
      await expect(openAnalyzer({ providers })).rejects.toThrow(
        new RegExp(
          `^The execution provider ${MISSING} is missing: onnxruntime has .*\\bcpu\\b.* on this platform`,
        ),
      );
      expect(warn).not.toHaveBeenCalled();
    },
  );

  // Another platform lacks CUDA, and one with a GPU may have it.
  test
    .runIf(process.platform === "linux" && process.arch === "x64")
    .each([[["cuda"]], [["cuda", "cpu"]]] as ExecutionProvider[][][])(
    "%j are rejected without the libraries of CUDA",
    async (providers) => {
      await expect(open({ providers })).rejects.toThrow(
        /^onnxruntime cannot run \S+\.onnx with the execution providers \[cuda(, cpu)?\]: .*shared library\. It has cpu, .*\bcuda\b.* Install them, or change the list/,
      );
    },
  );

  test("without cpu, what the others leave may not run on the CPU", async () => {
    await expect(open({ providers: [] })).rejects.toThrow(
      /fallback to CPU .* disabled .* Append cpu to the list, so that the CPU runs what the others do not support\.$/,
    );
  });
});

describe("the batch size", () => {
  test.each([
    [1, 1, 1],
    [undefined, 2, 1],
    [5, 5, 2],
    [16, 16, 8],
  ])(
    "%s puts as many crops into a run, or as many pairs of a crop and its mirror image",
    async (batchSize, single, pairs) => {
      const networks = await open({ batchSize });
      /** Counts the places in the input tensor. */
      const countPlaces = async (writer: Pick<TensorWriter, "batchSize" | "width" | "height">) => {
        const places = new Set<number>();
        const write = (tensor: Float32Array) => void places.add(tensor.fill(0).byteOffset);
        const { age } = await networks.attributes.run(
          Array.from({ length: 20 }, () => ({ ...writer, write })),
        );
        expect(age).toHaveLength(20 * writer.batchSize);
        return places.size;
      };
      expect(await countPlaces({ batchSize: 1, width: 80, height: 80 })).toBe(single);
      expect(await countPlaces({ batchSize: 2, width: 80, height: 80 })).toBe(pairs);
      await networks.close();
    },
  );

  test("changes no result by more than the order of additions does", async () => {
    const crowd = await createCrowd(20);
    const analyses = new Map<number, Analysis>();
    for (const batchSize of [1, 2, 8, 16]) {
      const analyzer = await openAnalyzer({ batchSize });
      expect(analyzer.identity).toBe(readCalibration().model);
      analyses.set(batchSize, await analyzer.analyze(crowd, { embeddings: true, quality: true }));
      await analyzer.close();
    }
    const { faces: expected } = analyses.get(2)!;
    expect(expected.length).toBeGreaterThan(16);
    for (const [batchSize, { faces }] of analyses) {
      expect(faces).toHaveLength(expected.length);
      for (const [i, { embedding, box, landmarks, ageConfidence, genderConfidence }] of faces.entries()) {
        const other = expected[i]!;
        const label = `batch size ${batchSize}, face ${i}`;
        expect(distanceOf(embedding!, other.embedding!), label).toBeLessThan(1e-5);
        expect(iou(box, other.box), label).toBeCloseTo(1, 4);
        expect(landmarks[30]!.x, label).toBeCloseTo(other.landmarks[30]!.x, 2);
        expect(ageConfidence!, label).toBeCloseTo(other.ageConfidence!, 4);
        expect(genderConfidence!, label).toBeCloseTo(other.genderConfidence!, 4);
      }
    }
  });

  test.each([0, 17, 1.5])("cannot be %s", async (batchSize) => {
    await expect(open({ batchSize })).rejects.toThrow(RangeError);
  });
});
