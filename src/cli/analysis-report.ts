import { type Analysis, attributesOf, type Box, type Face, type Point, poseOf } from "../core/index.ts";
import { formatPercent, formatTable, replaceControlCharacters } from "./format.ts";

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

const COLUMNS = ["#", "rectangle", "score", "age", "gender", "yaw", "pitch", "roll", "light"];
const TEXT_COLUMNS = ["rectangle", "age", "gender"];

/** Formats an analysis as a heading and a table with a row for each face. */
export function formatAnalysis(file: string, { width, height, faces }: Analysis): string {
  const heading = `${replaceControlCharacters(file)}  ${width} x ${height}`;
  if (faces.length === 0) return `${heading}  no face found`;
  const lines = formatTable(COLUMNS, faces.map(formatRow), TEXT_COLUMNS);
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

function formatRow(face: Face, index: number): string[] {
  const { score, light } = face;
  const pose = poseOf(face);
  const { age, gender, genderConfidence } = attributesOf(face);
  const { x1, y1, x2, y2 } = roundBox(face.box);
  return [
    `${index + 1}`,
    `${x1},${y1},${x2},${y2}`,
    score === undefined ? "" : score.toFixed(2),
    age,
    `${gender} ${formatPercent(genderConfidence)}`,
    `${Math.round(pose.yawDegrees)}`,
    `${Math.round(pose.pitchDegrees)}`,
    `${Math.round(pose.rollDegrees)}`,
    `${Math.round(light)}`,
  ];
}

function createFaceReport({ box, landmarks, embedding, populations, ...face }: Face): FaceReport {
  return {
    box: roundBox(box),
    ...face,
    landmarks: landmarks.map(roundPoint),
    ...(embedding && { embedding: [...embedding] }),
  };
}

/** Rounds a box to whole pixels. */
export function roundBox({ x1, y1, x2, y2 }: Box): Box {
  return { x1: Math.round(x1), y1: Math.round(y1), x2: Math.round(x2), y2: Math.round(y2) };
}

function roundPoint({ x, y }: Point): Point {
  return { x: Math.round(x), y: Math.round(y) };
}
