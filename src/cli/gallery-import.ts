import { type Expiration, type NewGalleryFace, VisageError } from "../client/visage-client.ts";
import { EXPIRES_HELP, parseArguments, parseExpiration } from "./arguments.ts";
import { type CommandContext, print } from "./command.ts";
import { formatCount } from "./format.ts";
import { parseFace, readFaceLines } from "./gallery-lines.ts";
import { fileErrorReason } from "./photo-file.ts";
import { countItems, ProgressBar } from "./progress-bar.ts";
import { SERVER_OPTIONS } from "./server-options.ts";
import { LONG_RUN_LIMITS, SERVER_HELP, withClient } from "./service-client.ts";

/** Output of `visage galleries import --help`. */
export const IMPORT_HELP = `Usage: visage galleries import ID FILE [--expires WHEN]

Enrols the faces of FILE, which "visage galleries export" has written, in the gallery ID. Faces with
the same ids are replaced, so the command can be repeated. The templates must be of the model of the
service; after a change of the model, migrate the gallery instead. People keep the times at which
they expire, as FILE has them; those whose time is over are deleted at once.

  --expires WHEN when the people are deleted, instead of the times in FILE:
                 ${EXPIRES_HELP}
${SERVER_HELP}`;

const OPTIONS = { ...SERVER_OPTIONS, expires: { type: "string" } } as const;

/** Imports faces. */
export async function importFaces(args: readonly string[], context: CommandContext): Promise<void> {
  const [values, galleryId, file] = parseArguments(args, OPTIONS, "ID", "FILE");
  const expiration = values.expires === undefined ? undefined : parseExpiration(values.expires);
  const signal = context.interruptSignal();
  /** The numbers of the lines that have been read and are not imported yet. */
  let lines: number[] = [];
  const read = (stop: AbortSignal) => readFaceLines(file, stop);
  // Fails before a request if the file cannot be read.
  for await (const _ of namingFile(file, read(signal))) break;
  // Fails soon if the gallery cannot be reached.
  await withClient(context, values, { signal }, ({ galleries }) => galleries.get(galleryId, { signal }));
  await withClient(context, values, { signal, ...LONG_RUN_LIMITS }, async ({ galleries }) => {
    const progress = new ProgressBar(context.stderr, "faces");
    const counting = context.stderr.isTTY ? countItems(read, progress) : undefined;
    let imported = 0;
    const onProgress = (faceCount: number) => {
      progress.advance(faceCount - imported);
      imported = faceCount;
      lines = [];
    };
    try {
      const faces = readFaces(file, expiration, signal, (line) => lines.push(line));
      const { faceCount } = await galleries.importFaces(galleryId, faces, { signal, onProgress });
      progress.close();
      print(context, `${galleryId}: ${formatCount(faceCount, "face", "faces")} imported`);
    } catch (error) {
      const isAnswer = error instanceof VisageError && error.code !== undefined;
      if (!isAnswer) throw error;
      const line = lines[(error.position ?? 0) - imported - 1];
      const place = line === undefined ? `lines ${lines[0]} to ${lines.at(-1)}` : `line ${line}`;
      throw new Error(`${file}: ${place}: ${error.message.replace(/^Face \d+: /, "")}`, { cause: error });
    } finally {
      counting?.abort();
      progress.close();
    }
  });
}

async function* readFaces(
  file: string,
  expiration: Expiration | undefined,
  signal: AbortSignal,
  onLine: (number: number) => void,
): AsyncGenerator<NewGalleryFace> {
  for await (const { number, text } of namingFile(file, readFaceLines(file, signal))) {
    onLine(number);
    try {
      const { expireTime, ...face } = parseFace(text);
      yield { ...face, ...(expiration ?? { expireTime }) };
    } catch (error) {
      throw new Error(`${file}: line ${number} ${(error as Error).message}`, { cause: error });
    }
  }
}

/** Adds the name of the file to its errors. */
async function* namingFile<T>(file: string, items: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (error) {
    throw new Error(`${file}: ${fileErrorReason(error)}`, { cause: error });
  }
}
