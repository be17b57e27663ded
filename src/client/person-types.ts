import type { Template } from "./analysis-types.ts";

/** When a person or a gallery is deleted: one of the two, or neither. */
export interface Expiration {
  /** A time in the future. */
  readonly expireTime?: Date | undefined;
  /** The seconds from now; 0 for no end. */
  readonly ttlSeconds?: number | undefined;
}

/** Changes of a person. What is undefined keeps its value. */
export interface PersonChanges extends Expiration {
  readonly displayName?: string | undefined;
}

/** A receipt of the deletion of a person. */
export interface DeletionReceipt {
  readonly personId: string;
  /** The galleries that had the person, by id. */
  readonly deletions: readonly { readonly galleryId: string; readonly faceCount: number }[];
  readonly deleteTime: Date;
  /** The id of the request, as in the log of the service. */
  readonly requestId: string;
  /** Whether the service has finished the erasure of the templates; otherwise it goes on. */
  readonly erasureFinished: boolean;
}

/** Everything that a gallery has of a person. */
export interface ExportedPerson {
  readonly galleryId: string;
  readonly galleryDisplayName: string;
  readonly personId: string;
  readonly displayName: string;
  readonly createTime: Date;
  readonly expireTime: Date | undefined;
  readonly faces: readonly {
    readonly faceId: string;
    readonly createTime: Date;
    readonly template: Template;
  }[];
}
