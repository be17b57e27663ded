import { type Analysis, attributesOf, type Face, poseOf } from "../core/index.ts";
import { createReport, formatAnalysis, roundBox } from "./analysis-report.ts";

/** The result of a photo: what was found in it, or why it could not be analyzed. */
export type PhotoResult =
  | {
      readonly file: string;
      readonly analysis: Analysis;
      /** Identity of the embeddings, if it is known. */
      readonly model?: string | undefined;
    }
  | { readonly file: string; readonly error: string };

/** How results are written, one after the other. */
export interface ReportFormat {
  /** Whether a failed photo has an entry. Otherwise its error is printed on stderr. */
  readonly hasErrors: boolean;
  /** Whether an output that was not finished can be continued. */
  readonly isResumable: boolean;
  /** Text before the first entry. */
  readonly start: string;
  /** Text between two entries. */
  readonly separator: string;
  /** Text after the last entry. */
  readonly end: string;
  /** Text of a photo. */
  format(result: PhotoResult): string;
}

const CSV_COLUMNS = [
  ...["file", "error", "width", "height", "face", "x1", "y1", "x2", "y2", "score", "presence"],
  ...["age", "gender", "gender_confidence", "yaw_degrees", "pitch_degrees", "roll_degrees", "light"],
];

/** The formats by name. */
export const REPORT_FORMATS = {
  text: {
    hasErrors: false,
    isResumable: false,
    start: "",
    separator: "\n",
    end: "",
    format: (result) => ("error" in result ? "" : `${formatAnalysis(result.file, result.analysis)}\n`),
  },
  json: {
    hasErrors: true,
    isResumable: false,
    start: "[",
    separator: ",\n",
    end: "]\n",
    format: formatJson,
  },
  jsonl: {
    hasErrors: true,
    isResumable: true,
    start: "",
    separator: "",
    end: "",
    format: (result) => `${formatJson(result)}\n`,
  },
  csv: {
    hasErrors: true,
    isResumable: false,
    start: `${CSV_COLUMNS.join(",")}\n`,
    separator: "",
    end: "",
    format: formatCsv,
  },
} as const satisfies Record<string, ReportFormat>;

export type FormatName = keyof typeof REPORT_FORMATS;

function formatJson(result: PhotoResult): string {
  return JSON.stringify(
    "error" in result ? result : createReport(result.file, result.model, result.analysis),
  );
}

/** Formats a row for each face; a photo without faces or with an error has one row. */
function formatCsv(result: PhotoResult): string {
  const { file } = result;
  if ("error" in result) return formatRow([file, result.error]);
  const { width, height, faces } = result.analysis;
  const photo = [file, "", width, height];
  if (faces.length === 0) return formatRow(photo);
  return faces.map((face, i) => formatRow([...photo, i + 1, ...faceCells(face)])).join("");
}

function faceCells(face: Face) {
  const { score, presence, light } = face;
  const { x1, y1, x2, y2 } = roundBox(face.box);
  const { yawDegrees, pitchDegrees, rollDegrees } = poseOf(face);
  const { age, gender, genderConfidence } = attributesOf(face);
  const numbers = [genderConfidence, yawDegrees, pitchDegrees, rollDegrees, light].map(roundNumber);
  const scores = [score === undefined ? "" : roundNumber(score), roundNumber(presence)];
  return [x1, y1, x2, y2, ...scores, age, gender, ...numbers];
}

/** Formats a row of CSV (RFC 4180, but with a line feed). Missing cells at the end are empty. */
function formatRow(cells: readonly (string | number)[]): string {
  return `${CSV_COLUMNS.map((_, i) => quoteCell(`${cells[i] ?? ""}`)).join(",")}\n`;
}

function quoteCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function roundNumber(value: number): number {
  return Math.round(10_000 * value) / 10_000;
}
