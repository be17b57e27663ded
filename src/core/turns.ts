import type { Analysis, Embedding, Face, FaceBasics } from "./analyzer.ts";
import type { Progress } from "./progress.ts";
import { byRank, type Rank } from "./rank.ts";
import type { Vector } from "./steps/embed.ts";

/** What one turn of a job gave. */
interface Turn<Result> {
  /** Size of the upright image as sent. */
  readonly width: number;
  readonly height: number;
  /** Number of faces in the image; 0 while they are searched for. */
  readonly facesFound: number;
  readonly faces: readonly Result[];
  /** Where to continue; missing in the last turn. */
  readonly next?: Progress;
}

/** A face and its place in the order of all. */
export interface RankedFace extends Face {
  readonly rank: Rank;
}

/** A turn of `analyze`: some of the faces. */
export type AnalyzeTurn = Turn<RankedFace>;

/** A turn of `embed`: the most prominent face of the turn. */
export type EmbedTurn = Turn<FaceBasics & { readonly rank: Rank; readonly vector: Vector }>;

/** Puts the turns of `analyze` together, the last of which has no `next`. */
export function analysisFromTurns(turns: readonly AnalyzeTurn[]): Analysis {
  const { width, height, facesFound } = turns.at(-1)!;
  const faces = byRank(turns.flatMap((turn) => turn.faces)).map(({ rank, ...face }) => face);
  return { width, height, facesFound, faces };
}

/** Takes the most prominent face of all turns of `embed`, of which there is one. */
export function embeddingFromTurns(turns: readonly EmbedTurn[]): Embedding {
  const { width, height, facesFound } = turns.at(-1)!;
  const [{ rank, ...face }] = byRank(turns.flatMap((turn) => turn.faces)) as [EmbedTurn["faces"][number]];
  return { width, height, facesFound, ...face };
}
