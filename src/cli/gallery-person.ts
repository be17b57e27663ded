import type { ExportedPerson } from "../client/visage-client.ts";
import { JSON_OPTION, parseArguments } from "./arguments.ts";
import { type CommandContext, print, runSubcommand, UsageError } from "./command.ts";
import { confirm } from "./confirm.ts";
import { formatCount, formatTable, replaceControlCharacters } from "./format.ts";
import { embeddingJson } from "./gallery-lines.ts";
import { formatDate } from "./gallery-report.ts";
import { checkOutput, writePrivateFile } from "./private-file.ts";
import { SERVER_OPTIONS } from "./server-options.ts";
import { SERVER_HELP, withClient } from "./service-client.ts";

/** Output of `visage galleries person --help`. */
export const PERSON_HELP = `Usage: visage galleries person show PERSON [--gallery ID] [--json]
       visage galleries person export PERSON [--gallery ID] [--output FILE] [--force]
       visage galleries person delete PERSON [--gallery ID] [--receipt FILE] [--force] [--yes]

Shows, exports or deletes what is stored about the person with the id PERSON, in all galleries of the
user or in the gallery ID.

  show       print the galleries that have the person
  export     print everything that is stored about the person with the templates, as JSON. This is
             biometric data
  delete     delete the person; prints a receipt. Asks for confirmation on a terminal, and fails
             without a terminal and without --yes

  --gallery ID    only this gallery
  --json          print JSON
  --output FILE   write to a file that only you can read
  --receipt FILE  write the receipt, as JSON, to a file that only you can read
  --force         replace FILE if it exists
  --yes           delete without confirmation
${SERVER_HELP}`;

const ALL_GALLERIES = "-";
const COLUMNS = ["gallery", "name", "faces", "enrolled", "expires"];

const OPTIONS = { ...SERVER_OPTIONS, gallery: { type: "string", default: ALL_GALLERIES } } as const;
const FORCE_OPTION = { force: { type: "boolean", default: false } } as const;
const SHOW_OPTIONS = { ...OPTIONS, ...JSON_OPTION } as const;
const EXPORT_OPTIONS = { ...OPTIONS, ...FORCE_OPTION, output: { type: "string" } } as const;
const DELETE_OPTIONS = {
  ...OPTIONS,
  ...FORCE_OPTION,
  receipt: { type: "string" },
  yes: { type: "boolean", default: false },
} as const;

/** Shows, exports or deletes what is stored about a person. */
export function person(args: readonly string[], context: CommandContext): Promise<number> {
  return runSubcommand({ show, export: exportPerson, delete: deletePerson }, args, context);
}

async function show(args: readonly string[], context: CommandContext): Promise<void> {
  const [values, personId] = parseArguments(args, SHOW_OPTIONS, "PERSON");
  const found = await withClient(context, values, {}, ({ galleries }) =>
    galleries.exportPerson(values.gallery, personId),
  );
  const withoutTemplates = found.map(({ faces, ...person }) => ({
    ...person,
    faces: faces.map(({ template: _, ...face }) => face),
  }));
  print(context, values.json ? JSON.stringify(withoutTemplates) : formatPerson(found));
}

async function exportPerson(args: readonly string[], context: CommandContext): Promise<void> {
  const [values, personId] = parseArguments(args, EXPORT_OPTIONS, "PERSON");
  const { output, force } = values;
  if (output !== undefined) await checkOutput(output, force);
  const found = await withClient(context, values, {}, ({ galleries }) =>
    galleries.exportPerson(values.gallery, personId),
  );
  const text = JSON.stringify({ exportTime: new Date(), galleries: found.map(personJson) }, undefined, 2);
  if (output === undefined) return print(context, text);
  await writePrivateFile(output, [`${text}\n`]);
  context.stderr.write(`Wrote ${output}\n`);
}

async function deletePerson(args: readonly string[], context: CommandContext): Promise<void> {
  const [values, personId] = parseArguments(args, DELETE_OPTIONS, "PERSON");
  const { gallery, receipt: file, force, yes } = values;
  if (!yes && !context.stdin.isTTY) throw new UsageError("Option '--yes' is required without a terminal");
  if (file !== undefined) await checkOutput(file, force);
  const place = gallery === ALL_GALLERIES ? "all galleries" : `the gallery ${gallery}`;
  if (!yes && !(await confirm(context, `Delete ${personId} from ${place}?`))) return;
  const receipt = await withClient(context, values, {}, ({ galleries }) =>
    galleries.deletePerson(gallery, personId),
  );
  if (!receipt) throw new Error(`${personId} is deleted, but the receipt was lost with the connection`);
  if (file !== undefined) await writePrivateFile(file, [`${JSON.stringify(receipt, undefined, 2)}\n`]);
  for (const { galleryId, faceCount } of receipt.deletions)
    print(context, `Deleted ${personId} with ${formatCount(faceCount, "face", "faces")} from ${galleryId}.`);
  print(context, `Time ${receipt.deleteTime.toISOString()}, request ${receipt.requestId}`);
  if (!receipt.erasureFinished) print(context, "The service is still erasing the templates from its files.");
}

function formatPerson(found: readonly ExportedPerson[]): string {
  const rows = found.map(({ galleryId, displayName, faces, createTime, expireTime }) => [
    galleryId,
    replaceControlCharacters(displayName),
    `${faces.length}`,
    formatDate(createTime),
    formatDate(expireTime),
  ]);
  return formatTable(COLUMNS, rows, ["gallery", "name", "enrolled", "expires"]).join("\n");
}

function personJson({ faces, ...person }: ExportedPerson) {
  const templates = faces.map(({ template, ...face }) => ({ ...face, embedding: embeddingJson(template) }));
  return { ...person, faces: templates };
}
