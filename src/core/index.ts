import type { Analyzer, AnalyzerOptions } from "./types.ts";

export { FaceError, type FaceErrorKind } from "./errors.ts";
export {
  type Calibration,
  type CalibrationCurve,
  FalseMatchRates,
  type RatedThreshold,
} from "./false-match-rates.ts";
export { DEFAULT_LIMITS, type ImageFormat, type ImageLimits } from "./image/limits.ts";
export { POPULATIONS, type Population } from "./populations.ts";
export { confidenceOf, distanceOf, MATCH_CONFIDENCE, MATCH_DISTANCE } from "./steps/compare.ts";
export { VECTOR_NORM, VECTOR_SIZE, type Vector } from "./steps/embed.ts";
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
export { MAX_FACES, type Selection } from "./steps/selection.ts";
export type * from "./types.ts";
export { AGE_RANGES, attributesOf, poseOf, qualityFrom } from "./types.ts";

/** Loads the networks. Open one analyzer and keep it: loading takes a second, and onnxruntime leaks each time. */
export async function openAnalyzer({ modelsDir, digests, limits }: AnalyzerOptions): Promise<Analyzer> {
  // Imported late: a process that leaves the work to a worker pool should not load native code.
  const { createAnalyzer } = await import("./analyzer.ts");
  const { openNetworks } = await import("./networks.ts");
  return createAnalyzer(await openNetworks(modelsDir, digests), limits);
}
