import type { Analysis, Box, Face, Point } from "../core/index.ts";
import { alignRows } from "./table.ts";

/** A photo's entry in the JSON document. */
export interface Report {
  readonly file: string;
  readonly width: number;
  readonly height: number;
  /** Names the networks and the preprocessing behind the vectors. */
  readonly model: string;
  readonly faces: readonly FaceReport[];
}

/** A face as the core gives it, but with whole pixels and a vector that JSON can hold. */
interface FaceReport extends Omit<Face, "vector"> {
  readonly vector?: readonly number[];
}

const COLUMNS = ["#", "rectangle", "score", "age", "gender", "yaw", "pitch", "roll", "light"];
const WORDS = ["rectangle", "age", "gender"];

/** An analysed photo as lines for people: a heading and a row for each face. */
export function tableOf(file: string, { width, height, faces }: Analysis): string {
  const heading = `${file}  ${width} x ${height}`;
  if (faces.length === 0) return `${heading}  no face found`;
  const lines = alignRows(COLUMNS, faces.map(rowOf), WORDS);
  const count = faces.length === 1 ? "1 face" : `${faces.length} faces`;
  return [`${heading}  ${count}`, ...lines.map((line) => `  ${line}`)].join("\n");
}

/** An analysed photo as an entry of the JSON document. */
export function reportOf(file: string, model: string, { width, height, faces }: Analysis): Report {
  return { file, width, height, model, faces: faces.map(faceReportOf) };
}

function rowOf(face: Face, index: number): string[] {
  const { score, age, gender, genderConfidence, pose, light } = face;
  const { x1, y1, x2, y2 } = roundBox(face.box);
  return [
    `${index + 1}`,
    `${x1},${y1},${x2},${y2}`,
    score === undefined ? "" : score.toFixed(2),
    age,
    `${gender} ${percent(genderConfidence)}`,
    `${Math.round(pose.yawDegrees)}`,
    `${Math.round(pose.pitchDegrees)}`,
    `${Math.round(pose.rollDegrees)}`,
    `${Math.round(light)}`,
  ];
}

function faceReportOf({ box, landmarks, vector, ...face }: Face): FaceReport {
  return {
    box: roundBox(box),
    ...face,
    landmarks: landmarks.map(roundPoint),
    ...(vector && { vector: [...vector] }),
  };
}

function roundBox({ x1, y1, x2, y2 }: Box): Box {
  return { x1: Math.round(x1), y1: Math.round(y1), x2: Math.round(x2), y2: Math.round(y2) };
}

function roundPoint({ x, y }: Point): Point {
  return { x: Math.round(x), y: Math.round(y) };
}

/** A share of 1 as people write it. */
export function percent(share: number): string {
  return `${Math.round(100 * share)}%`;
}
