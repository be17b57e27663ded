import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { getSystemErrorMap } from "node:util";
import { readConfig } from "../config.ts";
import { openAnalyzer } from "../core/index.ts";
import { type AnalysisReport, createReport, formatAnalysis } from "./analysis-report.ts";
import { parseOptions } from "./arguments.ts";
import { type CommandContext, EXIT_CODES, print, printError, UsageError } from "./command.ts";
import { drawFacesOnPhoto } from "./draw-faces.ts";

/** Output of `visage analyze --help`. */
export const help = `Usage: visage analyze PHOTO... [--json] [--vectors] [--draw OUT.png]

Finds the faces in each photo (JPEG or PNG) and prints the rectangle, detection score, age range,
gender, pose in degrees and light (mean brightness, 0 to 255) of each. Coordinates are pixels of the
upright photo. The first face is the most prominent one.

  --json           print a JSON array with an entry for each photo, including the 68 landmarks
  --vectors        with --json: include the vector of 128 numbers of each face
  --draw OUT.png   write the photo with rectangles, landmarks and labels; only for a single photo

  VISAGE_MODELS_DIR   folder of the networks, models/ of the package by default

A photo that cannot be read is reported on stderr and skipped. The exit code is then 1.
`;

const OPTIONS = {
  json: { type: "boolean", default: false },
  vectors: { type: "boolean", default: false },
  draw: { type: "string" },
} as const;

/** Analyzes photos and prints the results. */
export async function run(args: readonly string[], context: CommandContext): Promise<number> {
  const { values, positionals: files } = parseOptions({ args, options: OPTIONS, allowPositionals: true });
  const { json, vectors, draw } = values;
  if (files.length === 0) throw new UsageError("The argument PHOTO is missing");
  if (vectors && !json) throw new UsageError("Option '--vectors' requires '--json'");
  if (draw !== undefined) checkDrawOption(draw, files);

  const analyzer = await openAnalyzer({ modelsDir: readConfig(context.env).modelsDir });
  let isComplete = true;
  const reports: AnalysisReport[] = [];
  for (const file of files) {
    try {
      const bytes = await readFile(file);
      const analysis = await analyzer.analyze(bytes, { vectors });
      if (!json) print(context, `${reports.length > 0 ? "\n" : ""}${formatAnalysis(file, analysis)}`);
      reports.push(createReport(file, analyzer.identity, analysis));
      if (draw !== undefined) await writeFile(draw, await drawFacesOnPhoto(bytes, analysis.faces));
    } catch (error) {
      isComplete = false;
      printError(context, `${file}: ${fileErrorReason(error)}`);
    }
  }
  if (json) print(context, JSON.stringify(reports));
  await analyzer.close();
  return isComplete ? EXIT_CODES.ok : EXIT_CODES.failure;
}

function checkDrawOption(out: string, files: readonly string[]): void {
  if (files.length > 1) throw new UsageError("Option '--draw' accepts a single photo only");
  if (!/\.png$/i.test(out)) throw new UsageError("Option '--draw' requires a file name that ends in .png");
  if (files.some((file) => resolve(file) === resolve(out)))
    throw new UsageError("Option '--draw' would overwrite the photo");
}

/** Returns the reason of a file error. The message of a system error would repeat the file name. */
function fileErrorReason(error: unknown): string {
  const { errno, code, message } = error as NodeJS.ErrnoException;
  if (code === "EISDIR") return "is a folder";
  return (errno !== undefined && getSystemErrorMap().get(errno)?.[1]) || message;
}
