import { pipeline } from "node:stream/promises";
import {
  type Galleries,
  type Identification,
  type IdentifyOptions,
  VisageError,
} from "../client/visage-client.ts";
import { type Config, readConfig } from "../config.ts";
import { parseCount, parseOptions, parseRate } from "./arguments.ts";
import { type CommandContext, EXIT_CODES, printError, UsageError } from "./command.ts";
import { roundBox } from "./face-columns.ts";
import { type FoundPhoto, findPhotos } from "./find-photos.ts";
import { formatCount, formatTable, replaceControlCharacters } from "./format.ts";
import { mapInOrder } from "./map-in-order.ts";
import { fileErrorReason, readPhoto } from "./photo-file.ts";
import { SERVER_OPTIONS } from "./server-options.ts";
import { isLastingError, LONG_RUN_LIMITS, MAX_IN_FLIGHT, SERVER_HELP, withClient } from "./service-client.ts";

/** Output of `visage galleries identify --help`. */
export const IDENTIFY_HELP = `Usage: visage galleries identify ID PHOTO... [--max-results N] [--max-distance D]
       [--assume-adults] [--json|--jsonl]

Identifies the faces in photos: prints the nearest people of the gallery ID with their distance. A
face without a match is "unknown".

PHOTO is a file, a folder or a pattern in quotes, as for "visage analyze".

  --max-results N
                 people to print for each face, the nearest first, 1 to 100; default: 1
  --max-distance D
                 threshold, above 0 to 0.9; default: that of the gallery
  --assume-adults
                 skip the estimate of age and gender; thresholds then hold for adults only
  --json         print a JSON array with an entry for each photo
  --jsonl        print such an entry on each line
${SERVER_HELP}
A photo that cannot be read does not stop the others. Its error is printed on stderr, or is the
field "error" of its entry, and the exit code is then 1. It is 0 for unknown people.
`;

const OPTIONS = {
  ...SERVER_OPTIONS,
  "max-results": { type: "string" },
  "max-distance": { type: "string" },
  "assume-adults": { type: "boolean", default: false },
  json: { type: "boolean", default: false },
  jsonl: { type: "boolean", default: false },
} as const;

const LIMITS = { concurrency: MAX_IN_FLIGHT, maxPending: 8 * MAX_IN_FLIGHT };
const COLUMNS = ["#", "rectangle", "person", "name", "distance", "threshold", "population"];
const TEXT_COLUMNS = ["rectangle", "person", "name", "population"];
const DECIMALS = 4;
/** As the service rounds distances. */
const DISTANCE_DECIMALS = 2;

/** The faces of a photo, or why there are none. */
type IdentifiedPhoto =
  | { readonly file: string; readonly found: Identification }
  | { readonly file: string; readonly error: string };

/** Identifies the faces in photos. Returns the exit code. */
export async function identify(args: readonly string[], context: CommandContext): Promise<number> {
  const { values, positionals } = parseOptions(args, OPTIONS);
  const [galleryId, ...photos] = positionals;
  if (galleryId === undefined) throw new UsageError("The argument ID is missing");
  if (photos.length === 0) throw new UsageError("The argument PHOTO is missing");
  if (values.json && values.jsonl) throw new UsageError("Options '--json' and '--jsonl' exclude each other");
  const { "max-results": results, "max-distance": distance } = values;
  const limits = {
    maxResults: results === undefined ? undefined : parseCount(results, "max-results"),
    maxDistance: distance === undefined ? undefined : parseRate(distance, "max-distance"),
    assumeAdults: values["assume-adults"],
  };
  const config = readConfig(context.env);
  const signal = context.interruptSignal();
  return withClient(
    context,
    values,
    { signal, timeoutMs: LONG_RUN_LIMITS.timeoutMs },
    async ({ galleries }) => {
      // Fails before the first photo if the gallery cannot be reached.
      await galleries.get(galleryId, { signal });
      const identifyOne = createIdentifier(galleries, { galleryId, limits, config, signal });
      const found = findPhotos(photos, { formats: config.imageFormats, signal });
      const totals = { failures: 0 };
      const text = formatPhotos(mapInOrder(found, LIMITS, identifyOne), totals, values, context);
      await pipeline(text, context.stdout, { end: false });
      return totals.failures > 0 ? EXIT_CODES.failure : EXIT_CODES.ok;
    },
  );
}

interface IdentifierOptions {
  readonly galleryId: string;
  readonly limits: Pick<IdentifyOptions, "maxResults" | "maxDistance" | "assumeAdults">;
  readonly config: Config;
  readonly signal: AbortSignal;
}

/** The result of a photo, or the error that ends the run. */
type Outcome = IdentifiedPhoto | { readonly fatal: unknown };

/** Creates a function that identifies the faces in a photo. It never rejects. */
function createIdentifier(
  galleries: Galleries,
  { galleryId, limits, config, signal }: IdentifierOptions,
): (photo: FoundPhoto) => Promise<Outcome> {
  return async ({ file, error }) => {
    if (error !== undefined) return { file, error };
    try {
      const bytes = await readPhoto(file, config);
      return { file, found: await galleries.identify(galleryId, bytes, { ...limits, signal }) };
    } catch (cause) {
      if (isLastingError(cause) || isInvalidOption(cause)) return { fatal: cause };
      return { file, error: fileErrorReason(cause) };
    }
  };
}

/** Whether the service has rejected an option of the command. */
function isInvalidOption(error: unknown): boolean {
  return error instanceof VisageError && error.reason === "BAD_REQUEST";
}

/** Formats photos as they come and counts the failures. Throws the error that ends the run. */
async function* formatPhotos(
  photos: AsyncIterable<Outcome>,
  totals: { failures: number },
  { json, jsonl }: { readonly json: boolean; readonly jsonl: boolean },
  context: CommandContext,
): AsyncGenerator<string> {
  let separator = "";
  if (json) yield "[";
  for await (const photo of photos) {
    if ("fatal" in photo) throw photo.fatal;
    if ("error" in photo) totals.failures++;
    if (json || jsonl) {
      yield `${separator}${JSON.stringify(createReport(photo))}${jsonl ? "\n" : ""}`;
      separator = json ? ",\n" : "";
    } else if ("error" in photo) printError(context, `${photo.file}: ${photo.error}`);
    else yield `${formatPhoto(photo.file, photo.found)}\n`;
  }
  if (json) yield "]\n";
}

/** Formats a photo as a heading and a table with a row for each person whom a face resembles. */
function formatPhoto(file: string, { faces, candidatesOnly, stale }: Identification): string {
  const count = formatCount(faces.length, "face", "faces");
  const notes = [candidatesOnly && "candidates only", stale && "stale"].filter(Boolean);
  const heading = [replaceControlCharacters(file), count, ...notes];
  const rows = faces.flatMap(({ box, matches, threshold, population }, i) => {
    const { x1, y1, x2, y2 } = roundBox(box!);
    const face = [`${i + 1}`, `${x1},${y1},${x2},${y2}`];
    const rule = [threshold.toFixed(3), population.replaceAll("_", " ")];
    if (matches.length === 0) return [[...face, "unknown", "", "", ...rule]];
    return matches.map(({ personId, displayName, distance }) => [
      ...face,
      personId,
      replaceControlCharacters(displayName),
      distance.toFixed(DISTANCE_DECIMALS),
      ...rule,
    ]);
  });
  const table = rows.length > 0 ? formatTable(COLUMNS, rows, TEXT_COLUMNS) : [];
  return [heading.join("  "), ...table.map((line) => `  ${line}`)].join("\n");
}

function createReport(photo: IdentifiedPhoto) {
  if ("error" in photo) return photo;
  const { faces, threshold, falsePositiveRate, ...rest } = photo.found;
  return {
    file: photo.file,
    faces: faces.map((face) => ({
      ...face,
      box: roundBox(face.box!),
      matches: face.matches.map((match) => ({ ...match, distance: round(match.distance) })),
      threshold: round(face.threshold),
      falsePositiveRate: roundRate(face.falsePositiveRate),
    })),
    threshold: round(threshold),
    falsePositiveRate: roundRate(falsePositiveRate),
    ...rest,
  };
}

function roundRate(rate: number | undefined): number | null {
  return rate === undefined ? null : Number(rate.toPrecision(3));
}

function round(value: number): number {
  return Number(value.toFixed(DECIMALS));
}
