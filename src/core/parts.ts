import type { Target } from "./steps/choose.ts";
import type { Analysis, AnalyzeOptions, Analyzer } from "./types.ts";

/** The first part of an analysis, or one more. */
export interface PartialAnalysis extends Analysis {
  /** What the next part has to measure. */
  readonly remaining: readonly Target[];
}

/** An analyzer that measures a crowd in parts, so that a worker can serve others between them. */
export interface PartialAnalyzer extends Omit<Analyzer, "analyze"> {
  /** Measures the first faces of an image, or those that an earlier part left. */
  analyze(image: Uint8Array, options?: AnalyzeOptions, targets?: readonly Target[]): Promise<PartialAnalysis>;
}

/** Maximum number of faces in one part: 0.4 s of work on a slow core, 0.8 s if the faces are unclear. */
export const FACES_PER_PART = 16;

/** Runs all parts of an analysis. */
export async function analyzeInParts(
  runPart: (targets: readonly Target[] | undefined) => Promise<PartialAnalysis>,
): Promise<Analysis> {
  const { remaining, ...analysis } = await runPart(undefined);
  const faces = [...analysis.faces];
  for (let targets = remaining; targets.length > 0; ) {
    const part = await runPart(targets);
    faces.push(...part.faces);
    targets = part.remaining;
  }
  return { ...analysis, faces };
}
