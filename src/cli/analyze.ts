import { mkdir, open } from "node:fs/promises";
import { dirname, extname, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { readConfig } from "../config.ts";
import { parseOptions } from "./arguments.ts";
import {
  type CommandContext,
  EXIT_CODES,
  type Interruption,
  type Output,
  printError,
  UsageError,
} from "./command.ts";
import { type FindOptions, type FoundPhoto, findPhotos } from "./find-photos.ts";
import { replaceControlCharacters } from "./format.ts";
import { mapInOrder } from "./map-in-order.ts";
import { type AnalyzedPhoto, isDrawingFile, openPhotoAnalyzer } from "./photo-analyzer.ts";
import { ANALYZER_HELP, fileErrorReason } from "./photo-file.ts";
import { ProgressBar } from "./progress-bar.ts";
import { type FormatName, REPORT_FORMATS, type ReportFormat } from "./report-formats.ts";

/** Output of `visage analyze --help`. */
export const help = `Usage: visage analyze PHOTO... [--json|--jsonl|--csv] [--vectors] [--output FILE] [--draw OUT]

Finds the faces in photos (JPEG or PNG) and prints the rectangle, detection score, age range,
gender, pose in degrees and light (mean brightness, 0 to 255) of each. Coordinates are pixels of the
upright photo. The first face is the most prominent one. Needs no service.

PHOTO is a file, a folder, which is searched recursively for .jpg, .jpeg and .png, or a pattern in
quotes such as 'photos/**/*.jpg'. Photos are analyzed in parallel and printed in order.

  --json          print a JSON array with an entry for each photo, including the 68 landmarks
  --jsonl         print such an entry on each line
  --csv           print a row for each face, without landmarks
  --vectors       with --json or --jsonl: include the vector of 128 numbers of each face
  --output FILE   write to a file; its name may also choose the format: .json, .jsonl or .csv
  --draw OUT      draw rectangles, landmarks and labels on a copy of each photo: OUT is a file that
                  ends in .png for a single photo, or a folder

${ANALYZER_HELP}  VISAGE_WORKERS            number of processes; default: the number of cores

A photo that cannot be analyzed does not stop the others. Its error is printed on stderr, or is the
field "error" of its entry. The exit code is then 1. Ctrl-C keeps what is written so far.
`;

const OPTIONS = {
  json: { type: "boolean", default: false },
  jsonl: { type: "boolean", default: false },
  csv: { type: "boolean", default: false },
  vectors: { type: "boolean", default: false },
  output: { type: "string" },
  draw: { type: "string" },
} as const;

/** A valid command line. */
interface AnalyzeOptions {
  readonly args: readonly string[];
  readonly format: FormatName;
  readonly vectors: boolean;
  readonly output: string | undefined;
  readonly draw: string | undefined;
}

/** Analyzes photos and prints the results. */
export async function run(args: readonly string[], context: CommandContext): Promise<number> {
  const options = parseAnalyzeOptions(args);
  const config = readConfig(context.env);
  const signal = context.interruptSignal();
  const search = {
    excludedFolder: options.draw && resolve(options.draw),
    formats: config.imageFormats,
    signal,
  };
  const photos = findPhotos(options.args, search);
  const first = await takeFirst(photos, Math.max(2, config.workers));
  signal.throwIfAborted();
  checkDrawing(options.draw, first);

  const output = options.output === undefined ? undefined : await openOutput(options.output);
  // More workers than photos would only take time to start.
  const workers = Math.min(config.workers, first.length);
  const analyzer = await openPhotoAnalyzer(config, { ...options, workers, signal }).catch(
    (error: unknown) => {
      output?.destroy();
      throw error;
    },
  );
  const limits = {
    // Drawing needs the pixels of a whole photo in this process.
    concurrency: options.draw === undefined ? JOBS_PER_WORKER * workers : workers,
    maxPending: PENDING_PER_WORKER * workers,
  };
  const progress = new ProgressBar(context.stderr);
  const totals: Totals = { photos: 0, faces: 0, failures: 0, drawingFailures: 0 };
  const counting = context.stderr.isTTY ? countPhotos(options.args, search, progress) : undefined;
  try {
    const results = mapInOrder(prepend(first, photos), limits, analyzer.analyze);
    const text = formatResults(results, { ...options, model: analyzer.identity, context, progress, totals });
    if (output)
      await pipeline(text, output).catch((error: unknown) => throwOutputError(options.output, error));
    else await pipeline(text, context.stdout, { end: false });
  } finally {
    counting?.abort();
    progress.close();
    await analyzer.close();
  }
  return reportTotals(totals, options, context, signal);
}

/** Limits the photos in the queues of the workers. With a photo in advance, a worker need not wait for the next. */
const JOBS_PER_WORKER = 3;
/** Limits the results that wait for that of an earlier photo, which may have many faces. */
const PENDING_PER_WORKER = 32;

interface Totals {
  photos: number;
  faces: number;
  /** Photos that could not be analyzed. */
  failures: number;
  drawingFailures: number;
}

interface ReportOptions {
  readonly format: FormatName;
  readonly model: string;
  readonly context: CommandContext;
  readonly progress: ProgressBar;
  readonly totals: Totals;
}

/** Formats results as they come and counts them. Ends early if the command is interrupted. */
async function* formatResults(
  results: AsyncIterable<AnalyzedPhoto | undefined>,
  { format: name, model, context, progress, totals }: ReportOptions,
): AsyncGenerator<string> {
  const format: ReportFormat = REPORT_FORMATS[name];
  if (format.start) yield format.start;
  let separator = "";
  for await (const photo of results) {
    if (!photo) break;
    progress.advance();
    progress.erase();
    const { result, drawing, drawingError } = photo;
    countResult(photo, totals);
    if ("error" in result && !format.hasErrors) printError(context, `${result.file}: ${result.error}`);
    else {
      yield separator + format.format(result, model);
      separator = format.separator;
    }
    if (drawing !== undefined) context.stderr.write(`Wrote ${replaceControlCharacters(drawing)}\n`);
    if (drawingError !== undefined) printError(context, drawingError);
  }
  if (format.end) yield format.end;
}

function countResult({ result, drawingError }: AnalyzedPhoto, totals: Totals): void {
  totals.photos++;
  if ("error" in result) totals.failures++;
  else totals.faces += result.analysis.faces.length;
  if (drawingError !== undefined) totals.drawingFailures++;
}

/** Prints a summary if the results are not all on the screen. Returns the exit code. */
function reportTotals(
  { photos, faces, failures, drawingFailures }: Totals,
  { format, output }: AnalyzeOptions,
  context: CommandContext,
  signal: AbortSignal,
): number {
  if (output !== undefined) context.stderr.write(`Wrote ${output}: ${photos} photos, ${faces} faces\n`);
  if (failures > 0 && REPORT_FORMATS[format].hasErrors)
    printError(context, `${failures} of ${photos} photos failed; "error" in the output has the reasons`);
  if (signal.aborted) {
    printError(context, `Interrupted after ${photos} photos`);
    return (signal.reason as Interruption).exitCode;
  }
  return failures + drawingFailures > 0 ? EXIT_CODES.failure : EXIT_CODES.ok;
}

/** Counts the photos for the progress bar while they are analyzed. Returns how to stop. */
function countPhotos(args: readonly string[], search: FindOptions, progress: ProgressBar): AbortController {
  const stop = new AbortController();
  const count = async () => {
    let total = 0;
    for await (const _ of findPhotos(args, { ...search, signal: stop.signal })) total++;
    if (!stop.signal.aborted) progress.total = total;
  };
  // Without a total, the bar only shows what is done.
  count().catch(() => {});
  return stop;
}

/** Takes up to a number of items from a generator, which stays open. */
async function takeFirst<T>(items: AsyncGenerator<T>, count: number): Promise<T[]> {
  const first: T[] = [];
  while (first.length < count) {
    const { done, value } = await items.next();
    if (done) break;
    first.push(value);
  }
  return first;
}

async function* prepend<T>(first: readonly T[], rest: AsyncGenerator<T>): AsyncGenerator<T> {
  yield* first;
  yield* rest;
}

function checkDrawing(draw: string | undefined, first: readonly FoundPhoto[]): void {
  if (draw === undefined || !isDrawingFile(draw)) return;
  if (first.length > 1) throw new UsageError("Option '--draw' requires a folder for more than one photo");
  if (first.some(({ file }) => resolve(file) === resolve(draw)))
    throw new UsageError(`Option '--draw' would overwrite '${draw}'`);
}

function parseAnalyzeOptions(args: readonly string[]): AnalyzeOptions {
  const { values, positionals } = parseOptions({ args, options: OPTIONS, allowPositionals: true });
  const { vectors, output, draw } = values;
  if (positionals.length === 0) throw new UsageError("The argument PHOTO is missing");
  const flags = (["json", "jsonl", "csv"] as const).filter((name) => values[name]);
  if (flags.length > 1)
    throw new UsageError(`Options '--${flags[0]}' and '--${flags[1]}' exclude each other`);
  const format = flags[0] ?? formatFromName(output);
  if (vectors && format !== "json" && format !== "jsonl")
    throw new UsageError("Option '--vectors' requires '--json' or '--jsonl'");
  if (/^\.jpe?g$/i.test(extname(draw ?? "")))
    throw new UsageError("Option '--draw' requires a folder or a file name that ends in .png");
  for (const [name, out] of Object.entries({ output, draw }))
    if (out !== undefined && positionals.some((file) => resolve(file) === resolve(out)))
      throw new UsageError(`Option '--${name}' would overwrite '${out}'`);
  return { args: positionals, format, vectors, output, draw };
}

function formatFromName(output = ""): FormatName {
  const name = extname(output).slice(1).toLowerCase();
  return name === "json" || name === "jsonl" || name === "csv" ? name : "text";
}

/** Creates the output file and its folder. */
async function openOutput(path: string): Promise<Output> {
  try {
    await mkdir(dirname(path), { recursive: true });
    return (await open(path, "w")).createWriteStream();
  } catch (error) {
    return throwOutputError(path, error);
  }
}

function throwOutputError(path: string | undefined, cause: unknown): never {
  throw new Error(`${path}: ${fileErrorReason(cause)}`, { cause });
}
