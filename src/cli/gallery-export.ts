import { randomUUID } from "node:crypto";
import { type FileHandle, lstat, mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Galleries } from "../client/visage-client.ts";
import { parseOptions, requirePositionals } from "./arguments.ts";
import { type CommandContext, UsageError } from "./command.ts";
import { formatFace } from "./gallery-lines.ts";
import { ProgressBar } from "./progress-bar.ts";
import { throwFileError } from "./result-file.ts";
import { SERVER_OPTIONS } from "./server-options.ts";
import { SERVER_HELP, withClient } from "./service-client.ts";

/** Output of `visage galleries export --help`. */
export const EXPORT_HELP = `Usage: visage galleries export ID [--output FILE] [--force]

Prints all faces of the gallery ID with their templates: a face as JSON in each line, as "visage
galleries import" reads it. This is biometric data: protect the file as you protect the database.

  --output FILE  write to a file that only you can read; it appears when the export is complete
  --force        replace FILE if it exists
${SERVER_HELP}`;

const OPTIONS = {
  ...SERVER_OPTIONS,
  output: { type: "string" },
  force: { type: "boolean", default: false },
} as const;

/** Only the user may read the file. */
const FILE_MODE = 0o600;

/** Exports a gallery. */
export async function exportGallery(args: readonly string[], context: CommandContext): Promise<void> {
  const { values, positionals } = parseOptions({ args, options: OPTIONS, allowPositionals: true });
  const [galleryId] = requirePositionals(positionals, "ID");
  const { output, force } = values;
  if (force && output === undefined) throw new UsageError("Option '--force' requires '--output'");
  if (output !== undefined) await checkOutput(output, force);
  const signal = context.interruptSignal();
  await withClient(context, values, { signal }, async ({ galleries }) => {
    // Fails before a file is created.
    const { faceCount } = await galleries.get(galleryId, { signal });
    if (output === undefined)
      return pipeline(readLines(galleries, galleryId, signal), context.stdout, { end: false });
    const progress = new ProgressBar(context.stderr, "faces");
    progress.total = faceCount;
    const lines = readLines(galleries, galleryId, signal, progress);
    try {
      await writeFileAtOnce(output, lines);
    } finally {
      progress.close();
    }
    context.stderr.write(`Wrote ${output}\n`);
  });
}

/** Checks that a file can be created, or replaced by force. A device or a link must not be replaced by a file. */
async function checkOutput(path: string, force: boolean): Promise<void> {
  const status = await lstat(path).catch(() => undefined);
  if (status && !status.isFile()) throw new Error(`${path}: exists and is not a regular file`);
  if (status && !force) throw new Error(`${path}: exists already; replace it by --force`);
}

async function* readLines(
  galleries: Galleries,
  galleryId: string,
  signal: AbortSignal,
  progress?: ProgressBar,
): AsyncGenerator<string> {
  for await (const face of galleries.exportFaces(galleryId, { signal })) {
    progress?.advance();
    yield formatFace(face);
  }
}

/** Writes a file under another name and renames it at the end, so that it never has half of its content. */
async function writeFileAtOnce(path: string, lines: AsyncIterable<string>): Promise<void> {
  const partial = join(dirname(path), `.${basename(path)}.${randomUUID()}.partial`);
  const file = await createFile(partial).catch((error: unknown) => throwFileError(path, error));
  try {
    await pipeline(Readable.from(lines), file.createWriteStream({ flush: true }));
    await rename(partial, path).catch((error: unknown) => throwFileError(path, error));
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function createFile(path: string): Promise<FileHandle> {
  await mkdir(dirname(path), { recursive: true });
  return open(path, "wx", FILE_MODE);
}
