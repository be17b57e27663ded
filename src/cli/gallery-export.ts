import { pipeline } from "node:stream/promises";
import type { Galleries } from "../client/visage-client.ts";
import { parseArguments } from "./arguments.ts";
import { type CommandContext, UsageError } from "./command.ts";
import { formatFace } from "./gallery-lines.ts";
import { checkOutput, writePrivateFile } from "./private-file.ts";
import { ProgressBar } from "./progress-bar.ts";
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

/** Exports a gallery. */
export async function exportGallery(args: readonly string[], context: CommandContext): Promise<void> {
  const [values, galleryId] = parseArguments(args, OPTIONS, "ID");
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
      await writePrivateFile(output, lines);
    } finally {
      progress.close();
    }
    context.stderr.write(`Wrote ${output}\n`);
  });
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
