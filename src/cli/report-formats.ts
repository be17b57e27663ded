import type { Analysis } from "../core/index.ts";
import { createReport, formatAnalysis } from "./analysis-report.ts";
import { CSV_COLUMNS, csvCells } from "./face-columns.ts";

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

const CSV_HEADER = ["file", "error", "width", "height", "face", ...CSV_COLUMNS];

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
    start: `${CSV_HEADER.join(",")}\n`,
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
  return faces.map((face, i) => formatRow([...photo, i + 1, ...csvCells(face)])).join("");
}

/** Formats a row of CSV (RFC 4180, but with a line feed). Missing cells at the end are empty. */
function formatRow(cells: readonly (string | number)[]): string {
  return `${CSV_HEADER.map((_, i) => quoteCell(`${cells[i] ?? ""}`)).join(",")}\n`;
}

function quoteCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
