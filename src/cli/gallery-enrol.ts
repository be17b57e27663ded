import type { Galleries, Person } from "../client/visage-client.ts";
import { readConfig } from "../config.ts";
import { EXPIRES_HELP, parseArguments, parseExpiration } from "./arguments.ts";
import { type CommandContext, EXIT_CODES, print, printError } from "./command.ts";
import type { FindOptions, FoundPhoto } from "./find-photos.ts";
import { FolderEnrolment, type FolderEnrolmentOptions, readFaceIds } from "./folder-enrolment.ts";
import { formatCount } from "./format.ts";
import {
  findPeople,
  findPersonPhotos,
  newPerson,
  type PersonFolder,
  readPeopleFolder,
} from "./person-folders.ts";
import { countItems, ProgressBar } from "./progress-bar.ts";
import { SERVER_OPTIONS } from "./server-options.ts";
import { LONG_RUN_LIMITS, SERVER_HELP, withClient } from "./service-client.ts";

/** Output of `visage galleries enrol --help`. */
export const ENROL_HELP = `Usage: visage galleries enrol ID FOLDER [--ids] [--skip-quality-check]
                                [--skip-person-check] [--expires WHEN]

Enrols the people of a folder in the gallery ID. FOLDER has a folder for each person, with photos
(JPEG or PNG) of this person, also in folders inside it. The most prominent face of each photo is
enrolled. The name of the folder is the id or the name of the person. A person who is not enrolled
yet gets the name of the folder and a random id, because ids stay in logs.

The id of a face is derived from the digest of its file. So the command can be repeated, also after
it was killed: it sends only the photos that are not enrolled yet.

A face is compared with the gallery before it is enrolled. It fails if it does not look like the
other faces of the person, or if it looks more like somebody else; the error has the distances.
A key without the permission identify enrols without this check.

  --ids          the names of the folders are the ids of people who are not enrolled yet
  --skip-quality-check
                 enrol also faces that are unsuited for recognition
  --skip-person-check
                 enrol also faces that seem to be of somebody else
  --expires WHEN when the people of the new photos are deleted:
                 ${EXPIRES_HELP};
                 by default, people keep their time, and new ones get the default of the plan
${SERVER_HELP}  VISAGE_MAX_IMAGE_BYTES, VISAGE_IMAGE_FORMATS
                 size limit and formats of photos, as the service has them

A photo that cannot be enrolled does not stop the others. Its error is printed on stderr, and the
exit code is then 1.
`;

const OPTIONS = {
  ...SERVER_OPTIONS,
  ids: { type: "boolean", default: false },
  "skip-quality-check": { type: "boolean", default: false },
  "skip-person-check": { type: "boolean", default: false },
  expires: { type: "string" },
} as const;

/** Enrols the people of a folder. Returns the exit code. */
export async function enrol(args: readonly string[], context: CommandContext): Promise<number> {
  const [values, galleryId, folder] = parseArguments(args, OPTIONS, "ID", "FOLDER");
  const expiration = parseExpiration(values.expires);
  const config = readConfig(context.env);
  const search = { formats: config.imageFormats };
  const { folders, strayPhotos } = await readPeopleFolder(folder, search);
  if (folders.length === 0) throw new Error(`${folder}: has no folders of people`);
  const signal = context.interruptSignal();
  const enrolled = await withClient(context, values, { signal }, ({ galleries }) =>
    readPeople(galleries, galleryId, signal),
  );
  const found = await findPeople(folders, enrolled, (path) => readFaceIds(path, config, signal));
  const people = folders.map((path): PersonFolder => {
    const person = found.get(path);
    return person ? { folder: path, ...person } : newPerson(path, values.ids);
  });
  const known = facesByPerson(enrolled);
  for (const file of strayPhotos) printError(context, `${file}: is in no folder of a person`);
  const totals = newTotals(strayPhotos.length);
  const checks = {
    skipQualityCheck: values["skip-quality-check"],
    checkPerson: !values["skip-person-check"],
  };
  try {
    await withClient(context, values, { signal, ...LONG_RUN_LIMITS }, ({ galleries }) =>
      enrolPeople(
        { galleries, galleryId, known, ...checks, expiration, config, signal },
        people,
        totals,
        context,
      ),
    );
    totals.isComplete = true;
  } finally {
    print(context, formatTotals(galleryId, totals));
  }
  return totals.failures > 0 ? EXIT_CODES.failure : EXIT_CODES.ok;
}

/** What became of the photos of a run. */
export interface Totals {
  enrolled: number;
  known: number;
  failures: number;
  isComplete: boolean;
}

/** The totals at the start of a run. */
export function newTotals(failures = 0): Totals {
  return { enrolled: 0, known: 0, failures, isComplete: false };
}

/** Enrols people and counts the results. Throws the error that ends the run early. */
export async function enrolPeople(
  options: Omit<FolderEnrolmentOptions, "progress">,
  people: readonly PersonFolder[],
  totals: Totals,
  context: CommandContext,
): Promise<void> {
  const { signal, config } = options;
  const progress = new ProgressBar(context.stderr);
  const enrolment = new FolderEnrolment({ ...options, progress });
  const find = (stop: AbortSignal) => findAllPhotos(people, { formats: config.imageFormats, signal: stop });
  const counting = context.stderr.isTTY ? countItems(find, progress) : undefined;
  try {
    for await (const { enrolled, known, failures } of enrolment.run(people)) {
      totals.enrolled += enrolled;
      totals.known += known;
      totals.failures += failures.length;
      if (failures.length > 0) progress.erase();
      for (const { file, error } of failures) printError(context, `${file}: ${error}`);
    }
  } finally {
    counting?.abort();
    progress.close();
  }
  signal.throwIfAborted();
  if (enrolment.failure) throw enrolment.failure;
}

/** Reads the people of a gallery. */
export async function readPeople(
  galleries: Galleries,
  galleryId: string,
  signal: AbortSignal,
): Promise<Person[]> {
  const people: Person[] = [];
  for await (const person of galleries.listPeople(galleryId, { signal })) people.push(person);
  return people;
}

/** Returns the ids of the faces of each person. */
export function facesByPerson(people: readonly Person[]): ReadonlyMap<string, ReadonlySet<string>> {
  return new Map(people.map(({ personId, faces }) => [personId, new Set(faces.map(({ faceId }) => faceId))]));
}

async function* findAllPhotos(
  people: readonly PersonFolder[],
  options: FindOptions,
): AsyncGenerator<FoundPhoto> {
  for (const { folder } of people) yield* findPersonPhotos(folder, options);
}

/** Formats the totals of a run as one line. */
export function formatTotals(galleryId: string, { enrolled, known, failures, isComplete }: Totals): string {
  const advice = isComplete ? "" : "; repeat the command to continue";
  const faces = formatCount(enrolled, "face", "faces");
  const failed = formatCount(failures, "photo", "photos");
  return `${galleryId}: ${faces} enrolled, ${known} enrolled before, ${failed} failed${advice}`;
}
