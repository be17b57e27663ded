// What the operations on galleries share.
import { createHash } from "node:crypto";
import type { HandlerContext } from "@connectrpc/connect";
import type { FaceSource } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import type { Box, Embedding, FaceBasics, Population } from "../core/index.ts";
import { GalleryError, type GalleryStore } from "../galleries/gallery-store.ts";
import type { GallerySearcher } from "../galleries/search-process.ts";
import type { FaceCallOptions } from "./face-call.ts";
import { missingError, requireValid } from "./request-checks.ts";
import { admittedRecordFrom } from "./request-record.ts";
import { ServiceError } from "./service-error.ts";

/** What the operations on galleries need. */
export interface GalleryServiceOptions extends FaceCallOptions {
  /** The analyzer of the previous model, if its galleries are searched. */
  readonly previousAnalyzer?: FaceCallOptions["analyzer"] | undefined;
  readonly galleries: GalleryStore;
  readonly searcher: GallerySearcher;
}

/** Characters of a face id that is made from the template. */
const FACE_ID_LENGTH = 16;

/**
 * Runs work that stores faces, unless the client has left. From here on the request counts, also if the client leaves
 * before the faces are stored. It does not if the work fails.
 */
export async function storeFaces<T>({ values, signal }: HandlerContext, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const record = admittedRecordFrom(values);
  const { hasEffect } = record;
  record.hasEffect = true;
  try {
    return await orUnavailable(work);
  } catch (error) {
    record.hasEffect = hasEffect;
    throw error;
  }
}

/** A face of an image, or one that was given as an embedding. */
export interface SourceFace {
  readonly box?: Box;
  readonly embedding: Embedding;
  /** What was measured of the face in an image. */
  readonly measured?: FaceBasics;
}

/** A face to search for, with the populations to which it may belong. */
export interface ProbeFace extends SourceFace {
  readonly populations: readonly Population[];
}

/** The populations of a face whose age and gender are not estimated. */
export const UNESTIMATED_POPULATIONS: readonly Population[] = ["age10Up"];

/** Returns the source of a face. Throws ServiceError `badRequest` if there is none, or a box without an image. */
export function requireSource(from: FaceSource | undefined): FaceSource {
  if (from?.source.case === undefined) throw missingError("source");
  const isBoxAlone = from.source.case === "embedding" && from.box !== undefined;
  requireValid("source.box", !isBoxAlone, "needs an image");
  return from;
}

/** The same photo has the same template, so enrolling it again replaces the face. */
export function faceIdFrom(embedding: Embedding): string {
  const bytes = new Uint8Array(embedding.buffer, embedding.byteOffset, embedding.byteLength);
  return createHash("sha256").update(bytes).digest("hex").slice(0, FACE_ID_LENGTH);
}

/** Runs work on the store. An error that is not a GalleryError means that the store cannot be reached. */
export async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof GalleryError || error instanceof DOMException) throw error;
    throw new ServiceError("galleriesUnavailable", undefined, { cause: error });
  }
}
