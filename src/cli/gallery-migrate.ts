import { type Galleries, type VisageClient, VisageError } from "../client/visage-client.ts";
import { type Config, readConfig } from "../config.ts";
import { parseArguments } from "./arguments.ts";
import { type CommandContext, EXIT_CODES, print, printError } from "./command.ts";
import { readFaceIds } from "./folder-enrolment.ts";
import { formatCount } from "./format.ts";
import { enrolPeople, facesByPerson, formatTotals, newTotals, readPeople } from "./gallery-enrol.ts";
import { findPeople, readPeopleFolder } from "./person-folders.ts";
import { SERVER_OPTIONS } from "./server-options.ts";
import { LONG_RUN_LIMITS, SERVER_HELP, withClient } from "./service-client.ts";

/** Output of `visage galleries migrate --help`. */
export const MIGRATE_HELP = `Usage: visage galleries migrate ID FOLDER [--skip-quality-check] [--allow-missing]

Enrols the people of the gallery ID again after a change of the service's model. FOLDER has their
photos, as for "visage galleries enrol"; people who are not in the gallery are skipped. The gallery
ID~next gets the new templates, and searches of ID use the old ones meanwhile. When everybody is
enrolled, ID~next takes the place of ID at once, with the same id, alias, name, threshold and
end, and the old templates are erased. Export the gallery before to keep them.

The command can be repeated, also after it was killed: it sends only the photos that are not
enrolled yet. "visage galleries delete ID~next" cancels the migration.

  --skip-quality-check
                 enrol also faces that are unsuited for recognition
  --allow-missing
                 switch although people are missing, for whom there is no photo with a face
${SERVER_HELP}  VISAGE_MAX_IMAGE_BYTES, VISAGE_IMAGE_FORMATS
                 size limit and formats of photos, as the service has them

A photo that cannot be enrolled does not stop the others. Its error is printed on stderr. The exit
code is 1 if somebody is missing.
`;

const OPTIONS = {
  ...SERVER_OPTIONS,
  "skip-quality-check": { type: "boolean", default: false },
  "allow-missing": { type: "boolean", default: false },
} as const;

const SUFFIX = "~next";

/** Migrates a gallery to the model of the service. Returns the exit code. */
export async function migrate(args: readonly string[], context: CommandContext): Promise<number> {
  const [values, id, folder] = parseArguments(args, OPTIONS, "ID", "FOLDER");
  const config = readConfig(context.env);
  const { folders } = await readPeopleFolder(folder, { formats: config.imageFormats });
  const signal = context.interruptSignal();
  // Fails soon if the gallery cannot be reached.
  const gallery = await withClient(context, values, { signal }, async (client) => {
    const found = await client.galleries.get(id, { signal });
    if (found.readOnly) await prepareSuccessor(client, found.galleryId, signal);
    return found;
  });
  const { galleryId } = gallery;
  if (!gallery.readOnly) {
    print(context, `${galleryId}: has the model of the service already`);
    return EXIT_CODES.ok;
  }
  return withClient(context, values, { signal, ...LONG_RUN_LIMITS }, async (client) => {
    const migration = { client, galleryId, config, signal, skipQualityCheck: values["skip-quality-check"] };
    await enrolSuccessor(migration, folders, context);
    return switchToSuccessor(migration, values["allow-missing"], context);
  });
}

interface Migration {
  readonly client: VisageClient;
  readonly galleryId: string;
  readonly config: Config;
  readonly skipQualityCheck: boolean;
  readonly signal: AbortSignal;
}

/** Creates the successor, unless an earlier run did. One of a model between the two is of no use any more. */
async function prepareSuccessor(client: VisageClient, galleryId: string, signal: AbortSignal): Promise<void> {
  const successorId = galleryId + SUFFIX;
  try {
    const { readOnly } = await client.galleries.get(successorId, { signal });
    if (!readOnly) return;
    await client.galleries.delete(successorId, { signal });
  } catch (error) {
    if (!(error instanceof VisageError && error.reason === "GALLERY_NOT_FOUND")) throw error;
  }
  await client.galleries.create(successorId, { signal });
}

/** Enrols the people of the gallery who have a folder. */
async function enrolSuccessor(
  { client: { galleries }, galleryId, ...options }: Migration,
  folders: readonly string[],
  context: CommandContext,
): Promise<void> {
  const successorId = galleryId + SUFFIX;
  const { config, signal } = options;
  const enrolled = await readPeople(galleries, galleryId, signal);
  const found = await findPeople(folders, enrolled, (path) => readFaceIds(path, config, signal));
  const people = Array.from(found, ([folder, person]) => ({ folder, ...person }));
  const skipped = formatCount(folders.length - people.length, "folder", "folders");
  if (people.length < folders.length)
    printError(context, `${galleryId}: ${skipped} skipped of people who are not in the gallery`);
  const known = facesByPerson(await readPeople(galleries, successorId, signal));
  const totals = newTotals();
  try {
    // The photos were enrolled before, so they are not checked again.
    const successor = { galleries, galleryId: successorId, known, checkPerson: false };
    await enrolPeople({ ...options, ...successor }, people, totals, context);
    totals.isComplete = true;
  } finally {
    print(context, formatTotals(successorId, totals));
  }
}

/** Lets the successor take the place of the gallery if nobody is missing. Returns the exit code. */
async function switchToSuccessor(
  { client, galleryId, signal }: Migration,
  allowMissing: boolean,
  context: CommandContext,
): Promise<number> {
  const successorId = galleryId + SUFFIX;
  for (;;) {
    const { revision } = await client.galleries.get(galleryId, { signal });
    const missing = await matchPeople(client.galleries, galleryId, signal);
    for (const personId of missing)
      printError(context, `${personId}: is missing, without a photo that was enrolled`);
    if (missing.length > 0 && !allowMissing) {
      const count = formatCount(missing.length, "person is", "people are");
      print(
        context,
        `${galleryId}: ${count} missing; add photos and repeat the command, or use --allow-missing`,
      );
      return EXIT_CODES.failure;
    }
    try {
      const switched = await client.galleries.replace(galleryId, successorId, { revision, signal });
      const { peopleCount, faceCount, model } = switched;
      const people = formatCount(peopleCount, "person", "people");
      print(
        context,
        `${galleryId}: switched to ${model} with ${people} and ${formatCount(faceCount, "face", "faces")}`,
      );
      return EXIT_CODES.ok;
    } catch (error) {
      // Somebody was deleted or renamed meanwhile.
      if (!(error instanceof VisageError && error.reason === "GALLERY_CHANGED")) throw error;
    }
  }
}

/**
 * Deletes from the successor who is not in the gallery any more, and copies new names and times. Returns who is missing
 * in it.
 */
async function matchPeople(galleries: Galleries, galleryId: string, signal: AbortSignal): Promise<string[]> {
  const successorId = galleryId + SUFFIX;
  const wanted = await readPeopleById(galleries, galleryId, signal);
  const enrolled = await readPeopleById(galleries, successorId, signal);
  for (const { personId, displayName, expireTime } of enrolled.values()) {
    const person = wanted.get(personId);
    if (!person) await galleries.deletePerson(successorId, personId, { signal });
    else if (
      person.displayName !== displayName ||
      (person.expireTime && person.expireTime.getTime() !== expireTime?.getTime())
    )
      await galleries.updatePerson(
        successorId,
        personId,
        { displayName: person.displayName, expireTime: person.expireTime },
        { signal },
      );
  }
  return [...wanted.values()].flatMap(({ personId, faces }) =>
    faces.length === 0 || enrolled.get(personId)?.faces.length ? [] : personId,
  );
}

async function readPeopleById(galleries: Galleries, galleryId: string, signal: AbortSignal) {
  const people = await readPeople(galleries, galleryId, signal);
  return new Map(people.map((person) => [person.personId, person]));
}
