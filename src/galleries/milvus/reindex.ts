// Writes all galleries to Milvus anew, and compares what it has with the database.
import { setTimeout as sleep } from "node:timers/promises";
import { DIMENSIONS } from "../../search/assembly/constants.ts";
import { type Gallery, GalleryError, type GalleryProgress, type GalleryStore } from "../gallery-store.ts";
import type { MilvusEngine } from "./open-milvus.ts";

/** How often it is looked whether other processes have written what they write. */
const POLL_MS = 500;
/** A gallery that changes while it is compared is compared again, but not for ever. */
const MAX_ATTEMPTS = 5;

/** What Milvus has of a gallery that differs from the database, in faces. */
export interface GalleryDifference {
  readonly gallery: Gallery;
  readonly missing: number;
  readonly different: number;
  readonly extra: number;
}

/** Deletes everything from Milvus, and writes all galleries. Other processes may help. Throws the reason of the signal. */
export async function rebuild(
  { templates, engineGalleries, writer }: MilvusEngine,
  signal: AbortSignal,
): Promise<void> {
  for (const model of await engineGalleries.listModels()) await templates.drop(model);
  // Processes that search know what Milvus had. Now they look again.
  await engineGalleries.renewVersions();
  while ((await engineGalleries.listOutdated(1)).length > 0) {
    await writer.followAll(signal);
    signal.throwIfAborted();
    await sleep(POLL_MS);
  }
}

/** Compares all galleries. `unknownFaces` is the number of faces in Milvus that are of none of them. */
export async function compareGalleries(
  engine: MilvusEngine,
  store: Pick<GalleryStore, "readChanges">,
  { onPage, signal }: { readonly onPage: (faces: number) => void; readonly signal: AbortSignal },
): Promise<{ readonly differences: readonly GalleryDifference[]; readonly unknownFaces: number }> {
  const { engineGalleries, templates } = engine;
  const differences: GalleryDifference[] = [];
  let known = 0;
  for await (const gallery of engineGalleries.listAll()) {
    signal.throwIfAborted();
    const { rows, ...difference } = await compareGallery(engine, store, gallery, onPage);
    known += rows;
    if (difference.missing + difference.different + difference.extra > 0) differences.push(difference);
  }
  let total = 0;
  for (const model of await engineGalleries.listModels()) {
    await templates.prepare(model);
    total += await templates.countFaces({ model });
  }
  return { differences, unknownFaces: Math.max(0, total - known) };
}

/** Compares a gallery while no process writes it. */
async function compareGallery(
  { writer, templates }: MilvusEngine,
  store: Pick<GalleryStore, "readChanges">,
  gallery: Gallery,
  onPage: (faces: number) => void,
): Promise<GalleryDifference & { readonly rows: number }> {
  const nothing = { gallery, missing: 0, different: 0, extra: 0, rows: 0 };
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const found = await writer
      .hold(gallery, async ({ version }, renew) => {
        let [faces, present, equal] = [0, 0, 0];
        let since: GalleryProgress = { until: -1, version: undefined };
        do {
          const changes = await store.readChanges(gallery.key, since);
          if (typeof changes === "string") return undefined;
          await renew();
          const page = await templates.compare(gallery, changes.added);
          const pageFaces = changes.added.embeddings.length / DIMENSIONS;
          faces += pageFaces;
          present += page.present;
          equal += page.equal;
          since = changes;
          onPage(pageFaces);
        } while (since.until < since.version!.revision);
        if (since.version!.token !== version!.token) return undefined;
        await renew();
        const rows = await templates.countFaces(gallery);
        return { gallery, missing: faces - present, different: present - equal, extra: rows - present, rows };
      })
      .catch((error: unknown) => {
        // It has been deleted meanwhile.
        if (error instanceof GalleryError) return nothing;
        throw error;
      });
    if (found) return found;
  }
  throw new Error(`The gallery ${gallery.id} changes too often to be compared. Repeat the command later`);
}
