import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { getSystemErrorMap } from "node:util";
import type { Config } from "../config.ts";
import { type AnalyzerOptions, readDigests } from "../core/index.ts";

/** Help text on the settings of commands that run the networks. */
export const ANALYZER_HELP = `  VISAGE_MODELS_DIR         folder of the networks; default: models/ of the package
  VISAGE_ORT_PROVIDERS      execution providers of onnxruntime; default: cpu
  VISAGE_MAX_IMAGE_BYTES    size limit of a photo in bytes; default: 10 MiB
  VISAGE_MAX_IMAGE_PIXELS   size limit of a photo in pixels; default: 40 megapixels
  VISAGE_IMAGE_FORMATS      formats of photos; default: jpeg,png
`;

const CHUNK_BYTES = 1024 * 1024;

/** Returns the options of an analyzer for local photos. */
export function analyzerOptions(config: Config): AnalyzerOptions {
  const { modelsDir, ortProviders, batchSize, maxImageBytes, maxImagePixels, imageFormats } = config;
  return {
    modelsDir,
    digests: readDigests(),
    providers: ortProviders,
    batchSize,
    limits: { maxBytes: maxImageBytes, maxPixels: maxImagePixels, formats: imageFormats },
  };
}

/** Reads a photo. Throws if it is larger than the limit, without reading it. */
export async function readPhoto(file: string, { maxImageBytes }: Config): Promise<Uint8Array> {
  const { size } = await stat(file);
  if (size > maxImageBytes)
    throw new Error(`has ${size} bytes, more than VISAGE_MAX_IMAGE_BYTES allows (${maxImageBytes})`);
  // The size of a pipe is unknown. One byte too many is enough for the analyzer to reject the image.
  const stream = createReadStream(file, { end: maxImageBytes, highWaterMark: CHUNK_BYTES });
  return Buffer.concat(await stream.toArray());
}

/** Returns the reason of a file error. The message of a system error would repeat the file name. */
export function fileErrorReason(error: unknown): string {
  const { errno, code, message } = error as NodeJS.ErrnoException;
  if (code === "EISDIR") return "is a folder";
  return (errno !== undefined && getSystemErrorMap().get(errno)?.[1]) || message;
}
