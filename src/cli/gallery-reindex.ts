import { readConfig } from "../config.ts";
import type { SqlDatabase } from "../database/sql-database.ts";
import { requireMasterKeys } from "../galleries/data-keys.ts";
import type { GalleryStore } from "../galleries/gallery-store.ts";
import { parseMasterKeys } from "../galleries/master-keys.ts";
import { type MilvusEngine, openMilvus } from "../galleries/milvus/open-milvus.ts";
import { compareGalleries, type GalleryDifference, rebuild } from "../galleries/milvus/reindex.ts";
import { createSqlGalleryStore } from "../galleries/sql-gallery-store.ts";
import { milvusSettingsFrom } from "../gallery-searching.ts";
import { openConfiguredDatabase } from "./account-command.ts";
import { parseArguments } from "./arguments.ts";
import { type CommandContext, EXIT_CODES, print, UsageError } from "./command.ts";
import { formatCount } from "./format.ts";
import { ProgressBar } from "./progress-bar.ts";

/** Output of `visage galleries reindex --help`. */
export const REINDEX_HELP = `Usage: visage galleries reindex [--check]

Writes the templates of all galleries to Milvus anew. For the operator: it uses the database and Milvus
like the service, which may run meanwhile; searches wait or fail until their gallery is written. Needed
after a change of VISAGE_MILVUS_INDEX, and after a restore of the database or of Milvus.

  --check        compare what Milvus has with the database instead, after writing what has changed since
                 the last search; the exit code is 1 if there are differences

  VISAGE_GALLERY_ENGINE, VISAGE_MILVUS_*   as for the service
  VISAGE_DATA_DIR       data folder with the galleries; default: ./data
  VISAGE_DATABASE_URL   PostgreSQL database with the galleries, instead of the folder
  VISAGE_TEMPLATE_KEY   the master keys, if templates are encrypted
`;

/** Writes all galleries to Milvus, or compares them. */
export async function reindex(args: readonly string[], context: CommandContext): Promise<number> {
  const [values] = parseArguments(args, { check: { type: "boolean" } });
  const config = readConfig(context.env);
  const settings = milvusSettingsFrom(config);
  if (!settings) throw new UsageError("VISAGE_GALLERY_ENGINE must be milvus");
  const database = await openConfiguredDatabase(context, config, { mustExist: true });
  const progress = new ProgressBar(context.stderr, "faces");
  try {
    const keys = parseMasterKeys(config.templateKey);
    await requireMasterKeys(database, keys);
    const store = createSqlGalleryStore(database, { keys });
    const onPage = (_key: string, faces: number) => progress.advance(faces);
    const engine = openMilvus(settings, { database, store, onPage });
    const faces = await countFaces(database);
    progress.total = faces;
    const signal = context.interruptSignal();
    if (values.check) return await check(context, engine, store, { progress, signal });
    await rebuild(engine, signal);
    progress.close();
    print(context, `Wrote the templates of ${formatCount(faces, "face", "faces")}.`);
    return EXIT_CODES.ok;
  } finally {
    progress.close();
    await database.close();
  }
}

async function check(
  context: CommandContext,
  engine: MilvusEngine,
  store: GalleryStore,
  { progress, signal }: { readonly progress: ProgressBar; readonly signal: AbortSignal },
): Promise<number> {
  const onPage = (faces: number) => progress.advance(faces);
  const { differences, unknownFaces } = await compareGalleries(engine, store, { onPage, signal });
  progress.close();
  for (const difference of differences) print(context, formatDifference(difference));
  if (unknownFaces > 0)
    print(context, `Milvus has ${formatCount(unknownFaces, "face", "faces")} of unknown galleries`);
  if (differences.length > 0 || unknownFaces > 0) return EXIT_CODES.failure;
  print(context, "Milvus has the templates of all galleries, and no others.");
  return EXIT_CODES.ok;
}

function formatDifference({ gallery, missing, different, extra }: GalleryDifference): string {
  return `gallery ${gallery.id} (${gallery.key}): ${missing} missing, ${different} different, ${extra} too many`;
}

async function countFaces(database: SqlDatabase): Promise<number> {
  const [row] = await database.query({
    sql: "select coalesce(sum(faces), 0) as faces from galleries where id is not null",
  });
  return Number(row!.faces);
}
