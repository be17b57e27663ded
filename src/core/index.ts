export { AGE_RANGES, type AgeRange } from "./age-ranges.ts";
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
export type { Attributes } from "./attributes.ts";
export type { Selection } from "./choose.ts";
export { confidenceOf, distanceOf, MATCH_CONFIDENCE, MATCH_DISTANCE } from "./compare.ts";
export { drawnFace } from "./drawn-face.ts";
export { VECTOR_LENGTH, type Vector } from "./embed.ts";
export { FaceError, type FaceErrorKind } from "./face-error.ts";
export { DEFAULT_LIMITS, type ImageLimits } from "./limits.ts";
export { openAnalyzer } from "./open-analyzer.ts";
export { openPool, type Pool, type PoolOptions, type WorkerLoss } from "./pool.ts";
export type { Pose } from "./pose.ts";
export { QueueError, type QueueErrorKind, type Rejection } from "./queue.ts";
export type { Box, Point } from "./types.ts";
