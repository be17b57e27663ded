import type { Gallery, Person } from "../client/visage-client.ts";
import {
  EXPIRES_HELP,
  JSON_OPTION,
  parseArguments,
  parseExpiration,
  parseOptions,
  parseRate,
} from "./arguments.ts";
import { type CommandContext, EXIT_CODES, print, printError, runSubcommand, UsageError } from "./command.ts";
import { confirm } from "./confirm.ts";
import { formatCount } from "./format.ts";
import { ENROL_HELP, enrol } from "./gallery-enrol.ts";
import { EXPORT_HELP, exportGallery } from "./gallery-export.ts";
import { IDENTIFY_HELP, identify } from "./gallery-identify.ts";
import { IMPORT_HELP, importFaces } from "./gallery-import.ts";
import { MIGRATE_HELP, migrate } from "./gallery-migrate.ts";
import { PERSON_HELP, person } from "./gallery-person.ts";
import { REINDEX_HELP, reindex } from "./gallery-reindex.ts";
import { createGalleryReport, formatGalleries, formatGallery, formatPeople } from "./gallery-report.ts";
import { SERVER_OPTIONS } from "./server-options.ts";
import { isLastingError, SERVER_HELP, withClient } from "./service-client.ts";

/** Output of `visage galleries --help`. */
export const help = `Usage: visage galleries create ID [--name NAME] [--max-distance D] [--expires WHEN] [--json]
       visage galleries list [--json]
       visage galleries show ID [--people] [--json]
       visage galleries enrol ID FOLDER [--ids] [--skip-quality-check] [--skip-person-check]
                                [--expires WHEN]
       visage galleries identify ID PHOTO... [--max-results N] [--max-distance D] [--json|--jsonl]
       visage galleries export ID [--output FILE] [--force]
       visage galleries import ID FILE [--expires WHEN]
       visage galleries migrate ID FOLDER [--skip-quality-check] [--allow-missing]
       visage galleries alias ID [ALIAS]
       visage galleries delete ID [PERSON...] [--yes]
       visage galleries person show|export|delete PERSON [--gallery ID]
       visage galleries reindex [--check]

Manages the galleries of a user in a running service. ID is the id of a gallery, 1 to 128 letters,
digits and . _ ~ -, or its alias. "visage galleries SUBCOMMAND --help" lists the options of each.

  create     create a gallery
  list       print all galleries
  show       print a gallery, or the people in it
  enrol      enrol people from a folder that has a folder of photos for each
  identify   find the people in a gallery whom the faces in photos match
  export     write all faces of a gallery with their templates to a file
  import     enrol the faces of such a file
  migrate    enrol the people of a gallery again after a change of the model
  alias      give a gallery another id, or take it away
  delete     delete a gallery, or people in it, with their templates
  person     show, export or delete what is stored about a person in all galleries
  reindex    write all galleries to Milvus anew, or compare both (for the operator)

${SERVER_HELP}`;

const CREATE_HELP = `Usage: visage galleries create ID [--name NAME] [--max-distance D] [--expires WHEN] [--json]

Creates a gallery for templates of the service's model.

  --name NAME    a name for people
  --max-distance D
                 threshold, above 0 to 0.9; by default the service chooses one that fits the number
                 of faces
  --expires WHEN when the gallery is deleted with everybody in it:
                 ${EXPIRES_HELP}
  --json         print JSON
${SERVER_HELP}`;

const LIST_HELP = `Usage: visage galleries list [--json]

Prints the galleries of the user.

  --json         print JSON
${SERVER_HELP}`;

const SHOW_HELP = `Usage: visage galleries show ID [--people] [--json]

Prints the gallery ID.

  --people       print the people in it instead
  --json         print JSON
${SERVER_HELP}`;

const ALIAS_HELP = `Usage: visage galleries alias ID [ALIAS]

Lets programs use ALIAS as the id of the gallery ID. An alias of another gallery moves at once.
Without ALIAS, the gallery has none any more.

${SERVER_HELP}`;

const DELETE_HELP = `Usage: visage galleries delete ID [PERSON...] [--yes]

Deletes the gallery ID with everybody in it, or only the people with the given ids. Their templates
are erased. Asks for confirmation on a terminal, and fails without a terminal and without --yes.

  --yes          delete without confirmation
${SERVER_HELP}`;

/** Output of `visage galleries SUBCOMMAND --help`. */
export const subcommandHelp = {
  create: CREATE_HELP,
  list: LIST_HELP,
  show: SHOW_HELP,
  enrol: ENROL_HELP,
  identify: IDENTIFY_HELP,
  export: EXPORT_HELP,
  import: IMPORT_HELP,
  migrate: MIGRATE_HELP,
  alias: ALIAS_HELP,
  delete: DELETE_HELP,
  person: PERSON_HELP,
  reindex: REINDEX_HELP,
};

/** Manages galleries, enrols people and identifies faces. */
export function run(args: readonly string[], context: CommandContext): Promise<number> {
  const subcommands = {
    create,
    list,
    show,
    enrol,
    identify,
    export: exportGallery,
    import: importFaces,
    migrate,
    alias: setAlias,
    delete: deleteGallery,
    person,
    reindex,
  };
  return runSubcommand(subcommands, args, context);
}

const CREATE_OPTIONS = {
  ...SERVER_OPTIONS,
  ...JSON_OPTION,
  name: { type: "string" },
  "max-distance": { type: "string" },
  expires: { type: "string" },
} as const;
const LIST_OPTIONS = { ...SERVER_OPTIONS, ...JSON_OPTION } as const;
const SHOW_OPTIONS = { ...LIST_OPTIONS, people: { type: "boolean", default: false } } as const;
const DELETE_OPTIONS = { ...SERVER_OPTIONS, yes: { type: "boolean", default: false } } as const;

async function create(args: readonly string[], context: CommandContext): Promise<void> {
  const [values, galleryId] = parseArguments(args, CREATE_OPTIONS, "ID");
  const { name: displayName, "max-distance": distance } = values;
  const maxDistance = distance === undefined ? undefined : parseRate(distance, "max-distance");
  const expiration = parseExpiration(values.expires);
  const gallery = await withClient(context, values, {}, ({ galleries }) =>
    galleries.create(galleryId, { displayName, maxDistance, ...expiration }),
  );
  printGallery(context, gallery, values.json);
}

async function list(args: readonly string[], context: CommandContext): Promise<void> {
  const [values] = parseArguments(args, LIST_OPTIONS);
  const found = await withClient(context, values, {}, ({ galleries }) => collect<Gallery>(galleries.list()));
  print(context, values.json ? JSON.stringify(found.map(createGalleryReport)) : formatGalleries(found));
}

async function show(args: readonly string[], context: CommandContext): Promise<void> {
  const [values, galleryId] = parseArguments(args, SHOW_OPTIONS, "ID");
  await withClient(context, values, {}, async ({ galleries }) => {
    if (!values.people) return printGallery(context, await galleries.get(galleryId), values.json);
    const people = await collect<Person>(galleries.listPeople(galleryId));
    print(context, values.json ? JSON.stringify(people) : formatPeople(people));
  });
}

async function setAlias(args: readonly string[], context: CommandContext): Promise<void> {
  const [values, galleryId, alias = ""] = parseArguments(args, SERVER_OPTIONS, "ID", "[ALIAS]");
  await withClient(context, values, {}, ({ galleries }) => galleries.update(galleryId, { alias }));
  print(context, alias ? `${alias} is an alias of ${galleryId}.` : `${galleryId} has no alias.`);
}

async function deleteGallery(args: readonly string[], context: CommandContext): Promise<number> {
  const { values, positionals } = parseOptions(args, DELETE_OPTIONS);
  const [galleryId, ...personIds] = positionals;
  if (galleryId === undefined) throw new UsageError("The argument ID is missing");
  if (!values.yes && !context.stdin.isTTY)
    throw new UsageError("Option '--yes' is required without a terminal");
  return withClient(context, values, {}, async ({ galleries }) => {
    const { peopleCount, faceCount } = await galleries.get(galleryId);
    const people = formatCount(peopleCount, "person", "people");
    const faces = formatCount(faceCount, "face", "faces");
    const what =
      personIds.length > 0
        ? `${personIds.join(", ")} of the gallery ${galleryId}`
        : `the gallery ${galleryId} with ${people} and ${faces}`;
    if (!values.yes && !(await confirm(context, `Delete ${what}?`))) return EXIT_CODES.ok;
    if (personIds.length > 0) {
      const remove = (personId: string) => galleries.deletePerson(galleryId, personId);
      return deletePeople(personIds, remove, context);
    }
    await galleries.delete(galleryId);
    print(context, `Deleted ${what}.`);
    return EXIT_CODES.ok;
  });
}

/** Deletes people. An error is reported and does not stop the other deletions. Returns the exit code. */
async function deletePeople(
  personIds: readonly string[],
  remove: (personId: string) => Promise<unknown>,
  context: CommandContext,
): Promise<number> {
  let failures = 0;
  for (const personId of personIds)
    try {
      await remove(personId);
      print(context, `Deleted ${personId}.`);
    } catch (error) {
      if (isLastingError(error)) throw error;
      failures++;
      printError(context, (error as Error).message);
    }
  return failures > 0 ? EXIT_CODES.failure : EXIT_CODES.ok;
}

function printGallery(context: CommandContext, gallery: Gallery, isJson: boolean): void {
  print(context, isJson ? JSON.stringify(createGalleryReport(gallery)) : formatGallery(gallery));
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}
