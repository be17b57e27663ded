// What the tables and the CSV of `visage analyze` show of a face.
import { type Attributes, attributesOf, type Box, type Face, type Pose, poseOf } from "../core/index.ts";
import { formatPercent } from "./format.ts";

/** A face that was analysed with its pose and attributes. */
type FullFace = Face & Attributes & { readonly pose: Pose };

/** The columns of a table. The first is the number of the face. */
const TABLE_CELLS: Readonly<Record<string, (face: FullFace) => string>> = {
  rectangle: ({ box }) => Object.values(roundBox(box)).join(","),
  score: ({ score }) => score?.toFixed(2) ?? "",
  age: ({ age }) => age,
  gender: ({ gender, genderConfidence }) => `${gender} ${formatPercent(genderConfidence)}`,
  yaw: ({ pose }) => `${Math.round(pose.yawDegrees)}`,
  pitch: ({ pose }) => `${Math.round(pose.pitchDegrees)}`,
  roll: ({ pose }) => `${Math.round(pose.rollDegrees)}`,
  light: ({ light }) => `${Math.round(light)}`,
};
export const TABLE_COLUMNS = ["#", ...Object.keys(TABLE_CELLS)];
/** The columns that are left-aligned. */
export const TEXT_COLUMNS = ["rectangle", "age", "gender"];

/** The columns of CSV. */
const CSV_CELLS: Readonly<Record<string, (face: FullFace) => string | number>> = {
  x1: ({ box }) => Math.round(box.x1),
  y1: ({ box }) => Math.round(box.y1),
  x2: ({ box }) => Math.round(box.x2),
  y2: ({ box }) => Math.round(box.y2),
  score: ({ score }) => score ?? "",
  presence: ({ presence }) => presence,
  age: ({ age }) => age,
  gender: ({ gender }) => gender,
  gender_confidence: ({ genderConfidence }) => genderConfidence,
  yaw_degrees: ({ pose }) => pose.yawDegrees,
  pitch_degrees: ({ pose }) => pose.pitchDegrees,
  roll_degrees: ({ pose }) => pose.rollDegrees,
  light: ({ light }) => light,
};
export const CSV_COLUMNS = Object.keys(CSV_CELLS);

/** Returns the row of a face in a table. */
export function tableRow(face: Face, index: number): string[] {
  const full = fullFace(face);
  return [`${index + 1}`, ...Object.values(TABLE_CELLS).map((cell) => cell(full))];
}

/** Returns the cells of a face in CSV, numbers with up to four decimals. */
export function csvCells(face: Face): (string | number)[] {
  const full = fullFace(face);
  const cells = Object.values(CSV_CELLS).map((cell) => cell(full));
  return cells.map((cell) => (typeof cell === "number" ? Math.round(10_000 * cell) / 10_000 : cell));
}

function fullFace(face: Face): FullFace {
  return { ...attributesOf(face), pose: poseOf(face) };
}

/** Rounds a box to whole pixels. */
export function roundBox({ x1, y1, x2, y2 }: Box): Box {
  return { x1: Math.round(x1), y1: Math.round(y1), x2: Math.round(x2), y2: Math.round(y2) };
}
