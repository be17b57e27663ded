import { createContextKey } from "@connectrpc/connect";
import type { RequestRecord } from "./request-record.ts";

/** One request message of a stream. It is limited, counted and logged like a request of its own. */
export interface StreamItem {
  /** The id of the stream's request. */
  readonly requestId: string;
  readonly record: RequestRecord;
  /** Aborted when the stream or the item ends. */
  readonly signal: AbortSignal;
  /** Waits until the user's limits and the queue have room for the item. Throws ServiceError. */
  admit(): Promise<void>;
  /** Frees what the item holds. Must be called for every item. The outcome is `ok` or the reason of an error. */
  end(outcome: string): void;
}

/** The items of a stream, in the order of its messages. */
export interface StreamItems {
  /** How many items may be in progress at the same time. */
  readonly window: number;
  /** Takes the item of the next message. */
  take(): StreamItem;
}

/** The context value with the items of a stream. */
export const STREAM_ITEMS = createContextKey<StreamItems | undefined>(undefined);
