import { resolve } from "node:path";
import { finished, pipeline } from "node:stream/promises";
import { type Config, readConfig } from "../config.ts";
import { type AnalyzeOptions, parseAnalyzeOptions } from "./analyze-options.ts";
import { countResult, reportEnd, type Totals } from "./analyze-summary.ts";
import { type CommandContext, printError, UsageError } from "./command.ts";
import { type FindOptions, type FoundPhoto, findPhotos } from "./find-photos.ts";
import { replaceControlCharacters } from "./format.ts";
import { type MapLimits, mapInOrder } from "./map-in-order.ts";
import {
  type AnalyzedPhoto,
  isDrawingFile,
  openPhotoAnalyzer,
  type PhotoAnalyzer,
} from "./photo-analyzer.ts";
import { ANALYZER_HELP } from "./photo-file.ts";
import { countItems, ProgressBar } from "./progress-bar.ts";
import { type FormatName, REPORT_FORMATS, type ReportFormat } from "./report-formats.ts";
import { openResultFile, readWrittenResults, throwFileError } from "./result-file.ts";
import { readCertificates } from "./server-options.ts";

/** Output of `visage analyze --help`. */
export const help = `Usage: visage analyze PHOTO... [--json|--jsonl|--csv] [--embeddings] [--output FILE] [--draw OUT]
       visage analyze PHOTO... --jsonl --output FILE --resume
       visage analyze PHOTO... --server URL [--key KEY] [--ca FILE]

Finds the faces in photos (JPEG or PNG) and prints the rectangle, detection score, attributes such as
age range and gender, pose in degrees and light (mean brightness, 0 to 255) of each. Coordinates are
pixels of the upright photo. The first face is the most prominent one. Needs no service, except with
--server or VISAGE_URL.

PHOTO is a file, a folder, which is searched recursively for .jpg, .jpeg and .png, or a pattern in
quotes such as 'photos/**/*.jpg'. Photos are analyzed in parallel and printed in order.

  --json          print a JSON array with an entry for each photo, including the 68 landmarks
  --jsonl         print such an entry on each line
  --csv           print a row for each face, without landmarks
  --embeddings    with --json or --jsonl: include the embedding of 128 numbers of each face
  --output FILE   write to a file; its name may also choose the format: .json, .jsonl or .csv
  --resume        with --jsonl: keep the lines that FILE has, and analyze only the other photos
  --draw OUT      draw rectangles, landmarks and labels on a copy of each photo: OUT is a file that
                  ends in .png for a single photo, or a folder

  --server URL    let the running service at URL, such as https://visage.example, analyze the
                  photos, over one gRPC stream; reconnects if the stream is lost
  --key KEY       key for the service; VISAGE_KEY is safer, because other users of this machine can
                  see arguments in the list of processes
  --ca FILE       PEM file of the authorities to trust, for https

  VISAGE_URL                URL of a service, as with --server
  VISAGE_KEY                key for the service
${ANALYZER_HELP}  VISAGE_WORKERS            number of processes; default: the number of cores

A photo that cannot be analyzed does not stop the others. Its error is printed on stderr, or is the
field "error" of its entry. The exit code is then 1. Ctrl-C keeps what is written so far.
`;

/** Analyzes photos and prints the results. */
export async function run(args: readonly string[], context: CommandContext): Promise<number> {
  const config = readConfig(context.env);
  const options = parseAnalyzeOptions(args, config);
  const signal = context.interruptSignal();
  const written = options.resume ? await readWrittenResults(options.output!) : undefined;
  const search = {
    excludedFolder: options.draw && resolve(options.draw),
    formats: config.imageFormats,
    signal,
  };
  const findNew = (stop: AbortSignal) =>
    findPhotosExcept(written?.files, options.args, { ...search, signal: stop });
  const photos = findNew(signal);
  const first = await takeFirst(photos, Math.max(2, config.workers));
  signal.throwIfAborted();
  checkDrawing(options.draw, first);

  const output =
    options.output === undefined ? undefined : await openResultFile(options.output, written?.bytes);
  const totals: Totals = { photos: 0, faces: 0, failures: 0, drawingFailures: 0 };
  const end = { totals, written, options, context, signal };
  if (first.length === 0) {
    if (output) await finished(output.end());
    return reportEnd(end);
  }
  const progress = new ProgressBar(context.stderr);
  const { analyzer, limits } = await openAnalyzer(first.length, {
    ...{ options, config, signal },
    onRetry: (error, delayMs) => {
      progress.erase();
      printError(context, `${error.message}; trying again in ${(delayMs / 1000).toFixed(1)} s`);
    },
  }).catch((error: unknown) => {
    output?.destroy();
    progress.close();
    throw error;
  });
  const counting = context.stderr.isTTY ? countItems(findNew, progress) : undefined;
  try {
    const results = mapInOrder(prepend(first, photos), limits, analyzer.analyze);
    const text = formatResults(results, { ...options, context, progress, totals });
    if (output)
      await pipeline(text, output).catch((error: unknown) => throwFileError(options.output!, error));
    else await pipeline(text, context.stdout, { end: false });
  } finally {
    counting?.abort();
    progress.close();
    await analyzer.close();
  }
  return reportEnd(end, analyzer.failure);
}

/** Limits the photos that wait for a worker or are with one. While photos wait, no worker is idle. */
const JOBS_PER_WORKER = 3;
/** Limits the results that wait for that of an earlier photo, which may have many faces. */
const PENDING_PER_WORKER = 32;
/** More than a service takes from one stream at the same time. Those that are not sent yet are not in memory. */
const REMOTE_LIMITS: MapLimits = { concurrency: 32, maxPending: 256 };

interface OpenOptions {
  readonly options: AnalyzeOptions;
  readonly config: Config;
  readonly signal: AbortSignal;
  readonly onRetry: (error: Error, delayMs: number) => void;
}

/** Opens the analyzer that the command line chooses, and the limits for its calls. */
async function openAnalyzer(
  photos: number,
  { options, config, signal, onRetry }: OpenOptions,
): Promise<{ readonly analyzer: PhotoAnalyzer; readonly limits: MapLimits }> {
  const { server, embeddings, draw } = options;
  if (server) {
    const { address, key, caFile } = server;
    const ca = await readCertificates(caFile);
    // Loaded late, because only a service needs the library of gRPC.
    const { createRemoteAnalyzer } = await import("./remote-analyzer.ts");
    const remote = { address, key, ca, embeddings, draw, signal, onRetry };
    return { analyzer: createRemoteAnalyzer(config, remote), limits: REMOTE_LIMITS };
  }
  // More workers than photos would only take time to start.
  const workers = Math.min(config.workers, photos);
  const limits = {
    // Drawing needs the pixels of a whole photo in this process.
    concurrency: draw === undefined ? JOBS_PER_WORKER * workers : workers,
    maxPending: PENDING_PER_WORKER * workers,
  };
  return { analyzer: await openPhotoAnalyzer(config, { embeddings, draw, workers, signal }), limits };
}

interface ReportOptions {
  readonly format: FormatName;
  readonly context: CommandContext;
  readonly progress: ProgressBar;
  readonly totals: Totals;
}

/** Formats results as they come and counts them. Ends early if the command is interrupted. */
async function* formatResults(
  results: AsyncIterable<AnalyzedPhoto | undefined>,
  { format: name, context, progress, totals }: ReportOptions,
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
      yield separator + format.format(result);
      separator = format.separator;
    }
    if (drawing !== undefined) context.stderr.write(`Wrote ${replaceControlCharacters(drawing)}\n`);
    if (drawingError !== undefined) printError(context, drawingError);
  }
  if (format.end) yield format.end;
}

/** Finds the photos that have no result yet. */
async function* findPhotosExcept(
  written: ReadonlySet<string> | undefined,
  args: readonly string[],
  options: FindOptions,
): AsyncGenerator<FoundPhoto> {
  for await (const photo of findPhotos(args, options)) if (!written?.has(photo.file)) yield photo;
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
