import { readConfig } from "../config.ts";
import {
  type Analyzer,
  confidenceOf,
  distanceOf,
  type EmbeddedFace,
  MATCH_DISTANCE,
  openAnalyzer,
} from "../core/index.ts";
import { JSON_OPTION, parseArguments } from "./arguments.ts";
import { type CommandContext, print } from "./command.ts";
import { roundBox } from "./face-columns.ts";
import { replaceControlCharacters } from "./format.ts";
import { ANALYZER_HELP, analyzerOptions, fileErrorReason, readPhoto } from "./photo-file.ts";

/** Output of `visage match --help`. */
export const help = `Usage: visage match PHOTO PHOTO [--json]

Compares the most prominent face of two photos (JPEG or PNG). Prints whether they show the same
person, and the distance of the faces: 0 to 0.9, a match below ${MATCH_DISTANCE}. Needs no service.

  --json   print JSON

${ANALYZER_HELP}
The exit code is 0 for a match, 1 if there is none, and 2 on an error.
`;

/** Exit codes as those of grep: a script can use the command as a condition. */
const EXIT_CODES = { match: 0, noMatch: 1, error: 2 };

export const failureCode = EXIT_CODES.error;

/** The decimals of a distance and a confidence, as the service rounds them. */
const DECIMALS = 4;

/** A photo and the face that was compared. */
interface ComparedPhoto {
  readonly file: string;
  readonly face: EmbeddedFace;
}

/** Compares two photos. */
export async function run(args: readonly string[], context: CommandContext): Promise<number> {
  const [values, ...files] = parseArguments(args, JSON_OPTION, "PHOTO", "PHOTO");
  const config = readConfig(context.env);
  // Read both first: a missing file is found before the networks are loaded.
  const photos = await Promise.all(files.map((file) => naming(file, () => readPhoto(file, config))));
  const analyzer = await openAnalyzer(analyzerOptions(config));
  const compared: ComparedPhoto[] = [];
  try {
    for (const [i, file] of files.entries())
      compared.push({ file, face: await naming(file, () => analyzer.embed(photos[i]!)) });
  } finally {
    await analyzer.close();
  }

  const [one, other] = compared as [ComparedPhoto, ComparedPhoto];
  // The verdict is that of the rounded distance, as the service's.
  const distance = Number(distanceOf(one.face.embedding, other.face.embedding).toFixed(DECIMALS));
  const isMatch = distance < MATCH_DISTANCE;
  print(
    context,
    values.json
      ? JSON.stringify(createReport(distance, isMatch, analyzer, compared))
      : formatReport(distance, isMatch, compared),
  );
  return isMatch ? EXIT_CODES.match : EXIT_CODES.noMatch;
}

/** Adds the file name to an error. */
async function naming<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Error(`${file}: ${fileErrorReason(error)}`, { cause: error });
  }
}

function formatReport(distance: number, isMatch: boolean, photos: readonly ComparedPhoto[]): string {
  const lines = photos.map(({ file, face }) => {
    const { x1, y1, x2, y2 } = roundBox(face.box);
    const faces = face.facesFound === 1 ? "1 face" : `the first of ${face.facesFound} faces`;
    return `  ${replaceControlCharacters(file)}  ${faces} at ${x1},${y1},${x2},${y2}`;
  });
  const verdict = isMatch ? "match" : "not a match";
  return [`${verdict}  distance ${distance.toFixed(DECIMALS)}`, ...lines].join("\n");
}

function createReport(
  distance: number,
  isMatch: boolean,
  { identity }: Analyzer,
  photos: readonly ComparedPhoto[],
) {
  return {
    match: isMatch,
    distance,
    confidence: Number(confidenceOf(distance).toFixed(DECIMALS)),
    model: identity,
    photos: photos.map(({ file, face }) => ({
      file,
      facesFound: face.facesFound,
      box: roundBox(face.box),
    })),
  };
}
