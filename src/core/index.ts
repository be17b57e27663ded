export {
  type Analysis,
  type AnalyzeOptions,
  type Analyzer,
  type AnalyzerOptions,
  type CallOptions,
  type Embedding,
  type Face,
  type FaceBasics,
  openAnalyzer,
  type Stage,
} from "./analyzer.ts";
export { AGE_RANGES, type AgeRange, type Attributes } from "./attributes.ts";
export type { Selection } from "./choose.ts";
export { confidenceOf, distanceOf, MATCH_CONFIDENCE, MATCH_DISTANCE } from "./compare.ts";
export { DEFAULT_LIMITS } from "./decode.ts";
export { drawnFace } from "./drawn-face.ts";
export { VECTOR_LENGTH, type Vector } from "./embed.ts";
export { FaceError, type FaceErrorKind } from "./face-error.ts";
export { openPool, type Pool, type PoolOptions, type WorkerLoss } from "./pool.ts";
export type { Pose } from "./pose.ts";
export { QueueError, type QueueErrorKind } from "./queue.ts";
export type { Box, ImageLimits, Point } from "./types.ts";
