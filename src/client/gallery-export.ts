import type { CallOptions } from "@connectrpc/connect";
import type { ExportGalleryResponse } from "../../gen/ts/visage/v1/gallery_pb.ts";
import { sleep } from "./abort.ts";
import type { CallLimits } from "./call-runner.ts";
import { StreamRetry } from "./stream-retry.ts";
import { connectionError, visageErrorFromCause } from "./visage-error.ts";

/** What an export needs. */
export interface ExportOptions {
  /** Opens a stream of all faces. */
  readonly open: (options: CallOptions) => AsyncIterable<ExportGalleryResponse>;
  readonly limits: CallLimits;
  /** Cancels the export. Its reason is the error of the export. */
  readonly signal: AbortSignal;
}

/**
 * Yields all faces of a gallery. When a stream breaks, opens a new one, which has the same order, and skips the faces up
 * to the last one that came. Throws VisageError.
 */
export async function* exportFaces(options: ExportOptions): AsyncGenerator<ExportGalleryResponse> {
  const { limits, signal } = options;
  const retry = new StreamRetry(limits);
  let last: ExportGalleryResponse | undefined;
  for (;;) {
    const attempt = new AbortController();
    const stop = () => attempt.abort(signal.reason);
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    let isSkipping = last !== undefined;
    try {
      for await (const face of readStream(options, attempt)) {
        if (isSkipping) {
          isSkipping = !isSame(face, last!);
          continue;
        }
        last = face;
        retry.succeed();
        yield face;
      }
    } catch (cause) {
      const error = attempt.signal.aborted ? attempt.signal.reason : visageErrorFromCause(cause);
      if (signal.aborted) throw error;
      await sleep(retry.delayAfter(error), signal);
      continue;
    } finally {
      signal.removeEventListener("abort", stop);
      attempt.abort();
    }
    if (isSkipping) throw changedError();
    return;
  }
}

/** Reads a stream. Aborts the attempt if the next face is overdue; the time of the caller does not count. */
async function* readStream(
  { open, limits }: ExportOptions,
  attempt: AbortController,
): AsyncGenerator<ExportGalleryResponse> {
  const faces = open({ signal: attempt.signal })[Symbol.asyncIterator]();
  for (;;) {
    const timer = setTimeout(() => attempt.abort(overdueError()), limits.timeoutMs);
    const next = await faces.next().finally(() => clearTimeout(timer));
    if (next.done) return;
    yield next.value;
  }
}

function isSame(one: ExportGalleryResponse, other: ExportGalleryResponse): boolean {
  return one.personId === other.personId && one.faceId === other.faceId;
}

/** The error of an export that cannot continue, because the last face that came was deleted. */
function changedError() {
  return connectionError("UNREACHABLE", "The stream broke, and the gallery has changed since.", {
    retryable: true,
  });
}

function overdueError() {
  return connectionError("DEADLINE_PASSED", "No face came within the deadline.", { retryable: true });
}
