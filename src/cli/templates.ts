import { readConfig } from "../config.ts";
import type { SqlDatabase } from "../database/sql-database.ts";
import { requireMasterKeys } from "../galleries/data-keys.ts";
import { type MasterKeys, parseMasterKeys } from "../galleries/master-keys.ts";
import {
  convertTemplates,
  deleteUnusedDataKeys,
  readTemplateStatus,
  rewrapDataKeys,
} from "../galleries/template-encryption.ts";
import { openConfiguredDatabase } from "./account-command.ts";
import { JSON_OPTION, parseArguments } from "./arguments.ts";
import { type CommandContext, print, runSubcommand } from "./command.ts";
import { formatCount } from "./format.ts";
import { ProgressBar } from "./progress-bar.ts";

/** Output of `visage templates --help`. */
export const help = `Usage: visage templates status [--json]
       visage templates encrypt
       visage templates decrypt

Encrypts the templates of all galleries in the database, or decrypts them. Both can be done while
services use the database, and repeated after an interruption. docs/privacy.md describes when.

  status     count the templates that are and are not encrypted, and the data keys of users by the
             master key that encrypts them
  encrypt    encrypt the templates that are not, and all data keys with the first master key
  decrypt    decrypt all templates, and delete the data keys; VISAGE_TEMPLATE_KEY must start with the
             word "plain", also for the services, so that they encrypt no new templates

  --json     print JSON

  VISAGE_TEMPLATE_KEY   the master keys, or VISAGE_TEMPLATE_KEY_FILE a file that has them
  VISAGE_DATA_DIR       data folder with the galleries; default: ./data
  VISAGE_DATABASE_URL   PostgreSQL database with the galleries, instead of the folder
`;

/** Encrypts or decrypts stored templates. */
export function run(args: readonly string[], context: CommandContext): Promise<number> {
  return runSubcommand({ status, encrypt, decrypt }, args, context);
}

async function status(args: readonly string[], context: CommandContext): Promise<void> {
  const [values] = parseArguments(args, JSON_OPTION);
  await withTemplates(context, async (database, keys) => {
    const { plain, encrypted, dataKeys } = await readTemplateStatus(database);
    const masterKeys = [...dataKeys].map(([fingerprint, users]) => ({
      fingerprint,
      users,
      state: stateOf(fingerprint, keys),
    }));
    if (values.json) return print(context, JSON.stringify({ plain, encrypted, master_keys: masterKeys }));
    print(context, `${formatCount(plain, "template is", "templates are")} plain, ${encrypted} encrypted`);
    for (const { fingerprint, users, state } of masterKeys)
      print(
        context,
        `${formatCount(users, "data key", "data keys")} by master key ${fingerprint} (${state})`,
      );
  });
}

function stateOf(fingerprint: string, { first, all }: MasterKeys): string {
  if (fingerprint === first?.fingerprint) return "first";
  return all.has(fingerprint) ? "configured" : "missing";
}

async function encrypt(args: readonly string[], context: CommandContext): Promise<void> {
  parseArguments(args, {});
  await withTemplates(context, async (database, keys) => {
    const { first } = keys;
    if (!first) throw new Error('VISAGE_TEMPLATE_KEY must be set, and not start with "plain"');
    await requireMasterKeys(database, keys);
    const rewrapped = await rewrapDataKeys(database, first, keys);
    const changed = await convert(context, database, keys, true);
    await erase(database);
    const counts = `${formatCount(changed, "template", "templates")} and ${formatCount(rewrapped, "data key", "data keys")}`;
    print(context, `Encrypted ${counts}. The master key is ${first.fingerprint}.`);
  });
}

async function decrypt(args: readonly string[], context: CommandContext): Promise<void> {
  parseArguments(args, {});
  await withTemplates(context, async (database, keys) => {
    if (keys.first || keys.all.size === 0)
      throw new Error('VISAGE_TEMPLATE_KEY must be set, and start with "plain"');
    await requireMasterKeys(database, keys);
    const changed = await convert(context, database, keys, false);
    const left = await deleteUnusedDataKeys(database);
    await erase(database);
    if (left > 0)
      throw new Error(
        `A service has encrypted templates of ${formatCount(left, "user", "users")} meanwhile; let its VISAGE_TEMPLATE_KEY start with "plain", and repeat the command`,
      );
    print(context, `Decrypted ${formatCount(changed, "template", "templates")}.`);
  });
}

/** Converts all templates and shows the progress. Returns how many were changed. */
async function convert(
  { stderr, interruptSignal }: CommandContext,
  database: SqlDatabase,
  keys: MasterKeys,
  isEncryption: boolean,
): Promise<number> {
  const signal = interruptSignal();
  const progress = new ProgressBar(stderr, "templates");
  let total = 0;
  try {
    const [row] = await database.query({
      sql: "select sum(faces) as faces from galleries where id is not null",
    });
    progress.total = Number(row!.faces);
    for await (const { seen, changed } of convertTemplates(database, keys, isEncryption)) {
      progress.advance(seen);
      total += changed;
      signal.throwIfAborted();
    }
  } catch (error) {
    progress.erase();
    const done = `${formatCount(total, "template", "templates")} ${isEncryption ? "encrypted" : "decrypted"}`;
    stderr.write(`Stopped with ${done}. Repeat the command for the others.\n`);
    throw error;
  } finally {
    progress.close();
  }
  return total;
}

/** Erases what the rows were before from the files. Also what an interrupted command has left. */
async function erase(database: SqlDatabase): Promise<void> {
  database.startErasure("rows");
  await database.waitForErasure(Number.POSITIVE_INFINITY);
}

/** Runs work with the configured database and master keys. */
async function withTemplates(
  context: CommandContext,
  work: (database: SqlDatabase, keys: MasterKeys) => Promise<void>,
): Promise<void> {
  const config = readConfig(context.env);
  const onErasureDelay = (cause: unknown) =>
    context.stderr.write(
      `The former templates are not yet erased from the file (${(cause as Error).message}) Waiting. If you stop this command, the next start of the service erases them.\n`,
    );
  const database = await openConfiguredDatabase(context, config, { mustExist: true, onErasureDelay });
  try {
    await work(database, parseMasterKeys(config.templateKey));
  } finally {
    await database.close();
  }
}
