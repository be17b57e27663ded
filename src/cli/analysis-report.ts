import type { Analysis, Face, Point } from "../core/index.ts";
import { roundBox, TABLE_COLUMNS, TEXT_COLUMNS, tableRow } from "./face-columns.ts";
import { formatTable, replaceControlCharacters } from "./format.ts";

/** The JSON entry of a photo. */
export interface AnalysisReport {
  readonly file: string;
  readonly width: number;
  readonly height: number;
  /** Identity of the networks and preprocessing that produce the embeddings. A service tells it with an embedding only. */
  readonly model?: string | undefined;
  readonly faces: readonly FaceReport[];
}

/** A face with whole pixels and the embedding as an array. */
interface FaceReport extends Omit<Face, "embedding" | "populations"> {
  readonly embedding?: readonly number[];
}

/** Formats an analysis as a heading and a table with a row for each face. */
export function formatAnalysis(file: string, { width, height, faces }: Analysis): string {
  const heading = `${replaceControlCharacters(file)}  ${width} x ${height}`;
  if (faces.length === 0) return `${heading}  no face found`;
  const lines = formatTable(TABLE_COLUMNS, faces.map(tableRow), TEXT_COLUMNS);
  const count = faces.length === 1 ? "1 face" : `${faces.length} faces`;
  return [`${heading}  ${count}`, ...lines.map((line) => `  ${line}`)].join("\n");
}

/** Creates the JSON entry of a photo. */
export function createReport(
  file: string,
  model: string | undefined,
  { width, height, faces }: Analysis,
): AnalysisReport {
  return { file, width, height, model, faces: faces.map(createFaceReport) };
}

function createFaceReport({ box, landmarks, embedding, populations, ...face }: Face): FaceReport {
  return {
    box: roundBox(box),
    ...face,
    landmarks: landmarks.map(roundPoint),
    ...(embedding && { embedding: [...embedding] }),
  };
}

function roundPoint({ x, y }: Point): Point {
  return { x: Math.round(x), y: Math.round(y) };
}
