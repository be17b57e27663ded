// The messages between the service and the search process.
import type { Calibration } from "../core/index.ts";
import type { DatabaseLocation } from "../database/database-location.ts";
import type { LoadOutcome } from "./gallery-indexes.ts";
import type { SearchRequest, SearchResult } from "./gallery-search.ts";
import { GalleryError, type GalleryErrorKind, type ReloadCause } from "./gallery-store.ts";
import type { MilvusSettings } from "./milvus/milvus-client.ts";
import type { IndexesSize } from "./searchable-galleries.ts";
import type { Expiry } from "./sql-expiry.ts";

/** Settings of the search process. They are sent as the first message, because it has secrets. */
export interface SearchSettings {
  readonly location: DatabaseLocation;
  readonly calibration: Calibration;
  /** Of the previous model, if its galleries are searched. */
  readonly previousCalibration?: Calibration | undefined;
  readonly maxBytes: number;
  readonly graceMs: number;
  readonly maxWaitMs: number;
  /** The master keys of templates, as VISAGE_TEMPLATE_KEY has them. */
  readonly templateKey?: string | undefined;
  /** Whether searched galleries are marked, for a preload after a restart. */
  readonly marksSearched?: boolean | undefined;
  /** The Milvus that searches; undefined to search in memory. */
  readonly milvus?: MilvusSettings | undefined;
}

/** What the search process is sent. */
export type SearchMessage =
  | { readonly type: "open"; readonly settings: SearchSettings }
  | { readonly type: "search"; readonly id: number; readonly request: SearchRequest }
  | { readonly type: "preload"; readonly id: number; readonly count: number }
  | { readonly type: "sync"; readonly id: number }
  | { readonly type: "cancel"; readonly id: number }
  /** The answer to `due`. */
  | { readonly type: "remove"; readonly id: number }
  | { readonly type: "ping" };

/** What the search process sends. */
export type SearchProcessMessage =
  | { readonly type: "response"; readonly response: SearchResponse }
  | { readonly type: "report"; readonly report: IndexesReport }
  /** What the process is going to remove, because its time is over. It waits for `remove`. */
  | { readonly type: "due"; readonly id: number; readonly due: readonly Expiry[] }
  /** What the process has removed. */
  | { readonly type: "expired"; readonly expired: readonly Expiry[] }
  | { readonly type: "pong" };

/** What has changed in the memory of the search process. It precedes the response of a search that changed it. */
export interface IndexesReport {
  readonly size: IndexesSize;
  /** The reads of galleries since the last report. */
  readonly loads: readonly { readonly outcome: LoadOutcome; readonly durationMs: number }[];
  /** The galleries that had to be read again since the last report. */
  readonly reloads: readonly { readonly galleryId: string; readonly cause: ReloadCause }[];
  /** Indexes dropped since the last report because their memory was needed. */
  readonly evictions: number;
}

/** The result of one search; undefined for other tasks. */
export type SearchResponse = { readonly id: number } & (
  | { readonly ok: true; readonly result: SearchResult | undefined }
  | { readonly ok: false; readonly error: SearchFailure }
);

/** An error as plain data; the kind of a GalleryError, if it was one. */
export interface SearchFailure {
  readonly message: string;
  readonly kind: GalleryErrorKind | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** Serializes anything that was thrown. */
export function serializeFailure(error: unknown): SearchFailure {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof GalleryError)) return { message, kind: undefined };
  return { message, kind: error.kind, retryAfterMs: error.retryAfterMs };
}

/** Restores a GalleryError if it was one, otherwise an Error with the same message. */
export function deserializeFailure({ message, kind, retryAfterMs }: SearchFailure): Error {
  return kind ? new GalleryError(kind, message, retryAfterMs) : new Error(message);
}
