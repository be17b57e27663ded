import type { ImportFacesResponse } from "../../gen/ts/visage/v1/gallery_pb.ts";
import { untilAborted } from "./abort.ts";
import type { ImportOptions, ImportResult, NewGalleryFace } from "./gallery-types.ts";
import { VisageError } from "./visage-error.ts";

/** What an import needs. */
export interface ImportBatchesOptions extends Pick<ImportOptions, "onProgress"> {
  /** Sends the faces of one request. */
  readonly send: (batch: readonly NewGalleryFace[]) => Promise<ImportFacesResponse>;
  /** Cancels the import. Its reason is the error of the import. */
  readonly signal: AbortSignal;
}

/** Faces in one request: few enough for one deadline. The service may store a part of them before an error. */
const BATCH_SIZE = 5_000;

/** Imports faces in batches, one after the other. Returns undefined if there are none. */
export async function importBatches(
  faces: Iterable<NewGalleryFace> | AsyncIterable<NewGalleryFace>,
  { send, onProgress, signal }: ImportBatchesOptions,
): Promise<ImportResult | undefined> {
  let result: ImportResult | undefined;
  for await (const batch of batchesOf(faces, signal)) {
    const before = result?.faceCount ?? 0;
    const { faceCount, revision } = await send(batch).catch((fault: unknown) => {
      throw fault instanceof VisageError ? countInImport(fault, before) : fault;
    });
    result = { faceCount: before + faceCount, revision: Number(revision) };
    onProgress?.(result.faceCount);
  }
  return result;
}

/** The end of an error of the service that has stored a part of a request. */
const STORED = / The first (\d+) faces are stored\.$/;

/** Changes the numbers in an error, which the service has counted in one request, to those of the whole import. */
function countInImport(error: VisageError, before: number): VisageError {
  const position = error.position && before + error.position;
  const stored = before + Number(STORED.exec(error.message)?.[1] ?? 0);
  const text = error.message.replace(STORED, "").replace(/^Message \d+: /, `Face ${position}: `);
  const message = stored > 0 ? `${text} The first ${stored} faces are stored.` : text;
  return new VisageError(message, { ...error, position }, error.cause);
}

/** Collects items in batches. Throws the reason of the signal, also while the source waits for its next item. */
async function* batchesOf<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  signal: AbortSignal,
): AsyncGenerator<readonly Item[]> {
  const source = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let isDone = false;
  let batch: Item[] = [];
  try {
    while (!isDone) {
      const next = await untilAborted(
        Promise.resolve().then(() => source.next()),
        signal,
      );
      if (next.done) isDone = true;
      else batch.push(next.value);
      if (batch.length === BATCH_SIZE || (isDone && batch.length > 0)) {
        yield batch;
        batch = [];
      }
    }
  } finally {
    // Not awaited: a source that waits for its next item would not close before it has one.
    if (!isDone)
      Promise.resolve()
        .then(() => source.return?.())
        .catch(() => {});
  }
}
