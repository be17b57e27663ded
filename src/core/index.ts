import type { Pixels } from "./geometry.ts";
import { DEFAULT_MODELS_DIR, readDigests } from "./models.ts";
import type { Networks } from "./networks.ts";
import type { PartialAnalyzer } from "./parts.ts";
import type { Analyzer, AnalyzerOptions } from "./types.ts";

export { AGE_RANGES, type AgeRange } from "./age-ranges.ts";
export { FaceError, type FaceErrorKind } from "./errors.ts";
export {
  DEFAULT_BATCH_SIZE,
  DEFAULT_PROVIDERS,
  EXECUTION_PROVIDERS,
  type ExecutionProvider,
  MAX_BATCH_SIZE,
} from "./execution-providers.ts";
export {
  type Calibration,
  type CalibrationCurve,
  FalseMatchRates,
  type RatedThreshold,
} from "./false-match-rates.ts";
export { type Box, boxArea, intersectBoxes, type Pixels, type Point } from "./geometry.ts";
export { DEFAULT_LIMITS, type ImageFormat, type ImageLimits } from "./image/limits.ts";
export {
  DEFAULT_MODELS_DIR,
  type Manifest,
  readCalibration,
  readDigests,
  readFalseMatchRates,
  readManifest,
} from "./models.ts";
export { analyzeInParts, type PartialAnalysis, type PartialAnalyzer } from "./parts.ts";
export { POPULATIONS, type Population } from "./populations.ts";
export type { Attributes } from "./steps/attributes.ts";
export type { Target } from "./steps/choose.ts";
export { confidenceOf, distanceOf, MATCH_CONFIDENCE, MATCH_DISTANCE } from "./steps/compare.ts";
export { EMBEDDING_NORM, EMBEDDING_SIZE, type Embedding } from "./steps/embed.ts";
export type { Pose } from "./steps/pose.ts";
export {
  type ComponentQuality,
  failingComponents,
  isUsable,
  MIN_USABLE_VALUE,
  QUALITY_COMPONENTS,
  type Quality,
  type QualityComponent,
} from "./steps/quality.ts";
export { checkBoxCount, MAX_FACES, type Selection } from "./steps/selection.ts";
export { createSyntheticFace } from "./synthetic-face.ts";
export type * from "./types.ts";
export { attributesOf, poseOf, qualityFrom } from "./types.ts";

// What follows imports late: a process that leaves the work to a worker pool should not load native code.

/** Loads the networks. Open one analyzer and keep it: loading takes a second, and onnxruntime leaks each time. */
export async function openAnalyzer(options: AnalyzerOptions = {}): Promise<Analyzer> {
  const { createAnalyzer } = await import("./analyzer.ts");
  return createAnalyzer(await loadNetworks(options), options.limits);
}

/** Opens an analyzer for a worker process, and warms it up. */
export async function openPartialAnalyzer(options: AnalyzerOptions = {}): Promise<PartialAnalyzer> {
  const { createAnalyzer, createPartialAnalyzer } = await import("./analyzer.ts");
  const { warmUp } = await import("./warm-up.ts");
  const networks = await loadNetworks(options);
  // The warm-up is not subject to the configured limits.
  await warmUp(createAnalyzer(networks));
  return createPartialAnalyzer(networks, options.limits);
}

async function loadNetworks({ modelsDir, digests, ...options }: AnalyzerOptions): Promise<Networks> {
  const { openNetworks } = await import("./networks.ts");
  return modelsDir === undefined
    ? openNetworks(DEFAULT_MODELS_DIR, digests ?? readDigests(), options)
    : openNetworks(modelsDir, digests, options);
}

/**
 * Decodes a photo that an analyzer has accepted to upright pixels of its full size. It checks no limits. An analyzer
 * itself works on smaller pixels.
 */
export async function decodeFullSize(photo: Uint8Array): Promise<Pixels> {
  const { decodeFullSize: decode } = await import("./image/decode.ts");
  return decode(photo);
}
