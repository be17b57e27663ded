// The exact distances of candidates, by the templates in the database. The index has them rounded.
import { distanceOf } from "../core/index.ts";
import type { PersonMatch } from "./gallery-index.ts";
import type { FaceIdentity, GalleryStore, StoredFace } from "./gallery-store.ts";

/** The candidates for one embedding. */
export interface Scan {
  readonly embedding: Float32Array;
  readonly candidates: readonly PersonMatch[];
  /** The revision of the index. */
  readonly revision: number;
}

/** Faces of the database by their ids. */
export type StoredFaces = ReadonlyMap<string, StoredFace>;

/** Faces of one query. SQLite runs it on the event loop. */
const BATCH_SIZE = 500;

/** Reads the candidates of scans. */
export async function readStoredFaces(
  store: Pick<GalleryStore, "findFaces">,
  galleryKey: string,
  scans: readonly Scan[],
): Promise<StoredFaces> {
  const ids = [...new Map(scans.flatMap(({ candidates }) => candidates.map((face) => [keyOf(face), face])))];
  const stored = new Map<string, StoredFace>();
  for (let i = 0; i < ids.length; i += BATCH_SIZE) {
    const batch = ids.slice(i, i + BATCH_SIZE).map(([, face]) => face);
    for (const face of await store.findFaces(galleryKey, batch)) stored.set(keyOf(face), face);
  }
  return stored;
}

/** Whether a candidate has been removed or replaced since the scan. */
export function isOutdated({ candidates, revision }: Scan, stored: StoredFaces): boolean {
  return candidates.some(
    (face) => (stored.get(keyOf(face))?.revision ?? Number.POSITIVE_INFINITY) > revision,
  );
}

/** Returns the candidates that still exist, with exact distances and names. */
export function withStored(
  { embedding, candidates }: Scan,
  stored: StoredFaces,
): (PersonMatch & { readonly displayName: string })[] {
  return candidates.flatMap(({ personId, faceId }) => {
    const face = stored.get(keyOf({ personId, faceId }));
    if (!face) return [];
    return [
      { personId, faceId, distance: distanceOf(embedding, face.embedding), displayName: face.displayName },
    ];
  });
}

function keyOf({ personId, faceId }: FaceIdentity): string {
  return `${personId}/${faceId}`;
}
