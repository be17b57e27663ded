import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, normalize, parse, resolve, sep } from "node:path";
import type { Config } from "../config.ts";
import { type Analysis, type Face, openAnalyzer } from "../core/index.ts";
import { openPool } from "../workers/pool.ts";
import type { FoundPhoto } from "./find-photos.ts";
import { analyzerOptions, fileErrorReason, readPhoto } from "./photo-file.ts";
import type { PhotoResult } from "./report-formats.ts";

/** The result of a photo and what became of its drawing. */
export interface AnalyzedPhoto {
  readonly result: PhotoResult;
  /** The file of the drawing, if there is one. */
  readonly drawing?: string;
  /** Why the drawing could not be written. */
  readonly drawingError?: string;
}

/** Options of the analysis of photos. */
export interface PhotoAnalyzerOptions {
  /** Number of processes; with one, the networks run in this process. */
  readonly workers: number;
  readonly embeddings: boolean;
  /** A file that ends in .png, or a folder. */
  readonly draw: string | undefined;
  readonly signal: AbortSignal;
}

/** Analyzes photos of the file system. */
export interface PhotoAnalyzer {
  /** Why no further photo can be analyzed; undefined as long as they can. */
  readonly failure?: Error | undefined;
  /**
   * Analyzes a photo and draws its faces. Returns undefined if the signal was aborted before, or after a failure. Never
   * rejects.
   */
  analyze(photo: FoundPhoto): Promise<AnalyzedPhoto | undefined>;
  close(): Promise<void>;
}

/** The queue must not reject photos: the caller limits their number. */
const MAX_QUEUE_WAIT_MS = 24 * 3_600_000;

/** Loads the networks. */
export async function openPhotoAnalyzer(
  config: Config,
  { workers, embeddings, draw, signal }: PhotoAnalyzerOptions,
): Promise<PhotoAnalyzer> {
  const options = analyzerOptions(config);
  const analyzer =
    workers > 1
      ? await openPool({ ...options, workers, maxQueueWaitMs: MAX_QUEUE_WAIT_MS })
      : await openAnalyzer(options);

  async function analyzeFile(file: string): Promise<AnalyzedPhoto> {
    const bytes = await readPhoto(file, config);
    const analysis = await analyzer.analyze(bytes, { embeddings, signal });
    return drawPhoto(draw, bytes, { file, analysis, model: analyzer.identity });
  }

  return {
    analyze: async ({ file, error }) => {
      if (error !== undefined) return { result: { file, error } };
      try {
        return await analyzeFile(file);
      } catch (cause) {
        return signal.aborted ? undefined : { result: { file, error: fileErrorReason(cause) } };
      }
    },
    close: () => analyzer.close(),
  };
}

/** Draws the faces of an analyzed photo, if drawings are wanted. */
export async function drawPhoto(
  draw: string | undefined,
  photo: Uint8Array,
  result: Extract<PhotoResult, { readonly analysis: Analysis }>,
): Promise<AnalyzedPhoto> {
  if (draw === undefined) return { result };
  const drawing = drawingPath(draw, result.file);
  try {
    await writeDrawing(drawing, photo, result.analysis.faces);
    return { result, drawing };
  } catch (error) {
    return { result, drawingError: `${drawing}: ${fileErrorReason(error)}` };
  }
}

/** Returns whether drawings go to a single file. */
export function isDrawingFile(draw: string | undefined): boolean {
  return /\.png$/i.test(draw ?? "");
}

/**
 * Returns where the drawing of a photo is written. In a folder, it has the path and name of the photo, with .png
 * appended, so that no two photos share a drawing.
 */
export function drawingPath(draw: string, file: string): string {
  if (isDrawingFile(draw)) return draw;
  const parts = normalize(file).split(sep);
  // Stay inside the folder, whatever the path of the photo.
  const path = resolve(sep, parts.map((part) => (part === ".." ? "_" : part)).join(sep));
  return join(draw, `${path.slice(parse(path).root.length)}.png`);
}

async function writeDrawing(path: string, photo: Uint8Array, faces: readonly Face[]): Promise<void> {
  // Loaded late, because only drawings need the image library in this process.
  const { drawFacesOnPhoto } = await import("./draw-faces.ts");
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, await drawFacesOnPhoto(photo, faces));
}
