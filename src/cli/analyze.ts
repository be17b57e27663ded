import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { getSystemErrorMap, parseArgs } from "node:util";
import { readConfig } from "../config.ts";
import { type Face, openAnalyzer } from "../core/index.ts";
import { complain, print, UsageError } from "./command.ts";
import { drawFaces } from "./draw.ts";
import { readPicture, writePicture } from "./picture.ts";
import { type Report, reportOf, tableOf } from "./report.ts";

/** What `visage analyze --help` prints. */
export const help = `Usage: visage analyze PHOTO... [--json] [--vectors] [--draw OUT.png]

Finds the faces in each photo (JPEG or PNG) and prints where each is, how sure the detector is, age
range, gender, pose in degrees and light (mean brightness, 0 to 255). Places are in pixels of the
upright photo; the first face is the most prominent one.

  --json           print one JSON array instead, an entry for each photo, with the 68 landmarks
  --vectors        with --json: also each face's vector of 128 numbers
  --draw OUT.png   also write the photo with rectangles, landmarks and labels; takes one photo only

  VISAGE_MODELS_DIR   folder of the networks, models/ of the package by default

A photo that cannot be read is told on stderr and passed over; the exit code is then 1.
`;

const OPTIONS = {
  json: { type: "boolean", default: false },
  vectors: { type: "boolean", default: false },
  draw: { type: "string" },
} as const;

/** Analyses photos and prints what was found. */
export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals: files } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  const { json, vectors, draw } = values;
  if (files.length === 0) throw new UsageError("No photo is given");
  if (vectors && !json) throw new UsageError("Option '--vectors' needs '--json'");
  if (draw !== undefined) checkDrawing(draw, files);

  const analyzer = await openAnalyzer({ modelsDir: readConfig().modelsDir });
  const reports: Report[] = [];
  for (const file of files) {
    try {
      const bytes = await readFile(file);
      const analysis = await analyzer.analyze(bytes, { vectors });
      if (!json) print(`${reports.length > 0 ? "\n" : ""}${tableOf(file, analysis)}`);
      reports.push(reportOf(file, analyzer.identity, analysis));
      if (draw !== undefined) await drawPhoto(draw, bytes, analysis.faces);
    } catch (fault) {
      complain(`${file}: ${reasonOf(fault)}`);
    }
  }
  if (json) print(JSON.stringify(reports));
  await analyzer.close();
}

function checkDrawing(out: string, files: readonly string[]): void {
  if (files.length > 1) throw new UsageError("Option '--draw' takes one photo only");
  if (!/\.png$/i.test(out)) throw new UsageError("Option '--draw' needs a name that ends in .png");
  if (files.some((file) => resolve(file) === resolve(out)))
    throw new UsageError("Option '--draw' would overwrite the photo");
}

async function drawPhoto(out: string, bytes: Uint8Array, faces: readonly Face[]): Promise<void> {
  try {
    await writePicture(out, drawFaces(await readPicture(bytes), faces));
  } catch (fault) {
    complain(`${out}: ${reasonOf(fault)}`);
  }
}

/** What is wrong with a file; the system's own message would name it a second time. */
function reasonOf(fault: unknown): string {
  const { errno, code, message } = fault as NodeJS.ErrnoException;
  if (code === "EISDIR") return "is a folder";
  return (errno !== undefined && getSystemErrorMap().get(errno)?.[1]) || message;
}
