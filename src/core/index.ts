export type {
  Analysis,
  AnalyzeOptions,
  Analyzer,
  AnalyzerOptions,
  CallOptions,
  Embedding,
  Face,
  FaceBasics,
  Stage,
} from "./analyzer.ts";
export { drawnFace } from "./drawn-face.ts";
export { FaceError, type FaceErrorKind } from "./errors.ts";
export { DEFAULT_LIMITS, type ImageLimits } from "./limits.ts";
export { openAnalyzer } from "./open-analyzer.ts";
export { AGE_RANGES, type AgeRange } from "./steps/age-ranges.ts";
export type { Attributes } from "./steps/attributes.ts";
export type { Selection } from "./steps/choose.ts";
export { confidenceOf, distanceOf, MATCH_CONFIDENCE, MATCH_DISTANCE } from "./steps/compare.ts";
export { VECTOR_LENGTH, type Vector } from "./steps/embed.ts";
export type { Pose } from "./steps/pose.ts";
export type { Box, Point } from "./types.ts";
