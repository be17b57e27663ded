import type { SqlDatabase } from "../../database/sql-database.ts";
import { EngineGalleries } from "./engine-galleries.ts";
import { MilvusClient, type MilvusSettings } from "./milvus-client.ts";
import { MilvusGalleries } from "./milvus-galleries.ts";
import { MilvusTemplates } from "./milvus-templates.ts";
import { MilvusWriter, type MilvusWriterOptions } from "./milvus-writer.ts";

/** How often it is checked whether Milvus still has what it had. */
const VERIFY_INTERVAL_MS = 60_000;

/** The parts that search galleries by Milvus. */
export interface MilvusEngine {
  readonly templates: MilvusTemplates;
  readonly writer: MilvusWriter;
  readonly engineGalleries: EngineGalleries;
  readonly galleries: MilvusGalleries;
  /** Brings Milvus to the state of the database, and checks once in a while what it has. */
  sync(signal: AbortSignal): Promise<void>;
}

/** Makes the parts. Milvus is called when one of them is used. */
export function openMilvus(
  settings: MilvusSettings,
  {
    database,
    ...options
  }: Pick<MilvusWriterOptions, "store" | "onReload" | "onPage"> & { database: SqlDatabase },
): MilvusEngine {
  const templates = new MilvusTemplates(new MilvusClient(settings), settings.index);
  const engineGalleries = new EngineGalleries(database);
  const writer = new MilvusWriter({ templates, engineGalleries, ...options });
  const galleries = new MilvusGalleries(templates, writer);
  let verifiedAtMs = Number.NEGATIVE_INFINITY;
  return {
    templates,
    writer,
    engineGalleries,
    galleries,
    sync: async (signal) => {
      await writer.followAll(signal);
      if (performance.now() - verifiedAtMs < VERIFY_INTERVAL_MS) return;
      for (const model of await engineGalleries.listModels()) await templates.prepare(model);
      await galleries.verify();
      verifiedAtMs = performance.now();
    },
  };
}
