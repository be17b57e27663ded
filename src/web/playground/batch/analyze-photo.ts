import { hasAcceptedFormat, unreadable } from "../../photos/open-photo.ts";
import { createUpload, type Upload } from "../../photos/upload.ts";
import { RequestError } from "../../site/request-error.ts";
import { fetchServiceInfo } from "../../site/service-info.ts";
import { analyze } from "../calls.ts";
import type { Analysis } from "../responses.ts";
import type { BatchItem } from "./batch-item.ts";

/** The settings of the form that a batch follows, at the time of a call. */
export interface AnalysisSettings {
  readonly apiKey: string;
  /** Whether large photos are scaled down before they are sent. */
  readonly mayScale: boolean;
  /** What to return of each face, such as `FEATURE_EMBEDDING`. */
  readonly features: readonly string[];
}

/** Longer side of a thumbnail in pixels. */
const THUMBNAIL_SIDE = 96;

/** Sends a photo of a batch. */
export async function analyzePhoto(
  item: BatchItem,
  { apiKey, mayScale, features }: AnalysisSettings,
  signal: AbortSignal,
): Promise<Analysis> {
  if (!apiKey)
    throw new RequestError("Enter an API key.", { kind: "service", code: "4001", isRetryable: false });
  const { file, scale } = await prepare(item, mayScale);
  return (await analyze({ content: file, scale }, features, { key: apiKey, signal })).body;
}

/**
 * Decodes a photo, draws its thumbnail and returns what to send. The pixels are released before anything is sent, so
 * that a batch holds those of the photos in flight at most.
 */
async function prepare(item: BatchItem, mayScale: boolean): Promise<Upload> {
  const { file } = item;
  const limits = await fetchServiceInfo();
  const isAccepted = await hasAcceptedFormat(file, file.name, limits);
  const image = await createImageBitmap(file, { imageOrientation: "from-image" }).catch(async () => {
    throw await unreadable(file, file.name, isAccepted, limits);
  });
  try {
    const { width, height } = image;
    item.size = { width, height };
    item.thumbnail ??= drawThumbnail(image);
    return await createUpload({ file, name: file.name, image, width, height, isAccepted }, mayScale);
  } finally {
    image.close();
  }
}

/** A data URL needs no release, and takes about 3 kB. */
function drawThumbnail(image: ImageBitmap): string {
  const scale = THUMBNAIL_SIDE / Math.max(image.width, image.height);
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(image.width * scale));
  canvas.height = Math.max(1, Math.round(image.height * scale));
  const context = canvas.getContext("2d");
  if (context) context.imageSmoothingQuality = "high";
  context?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/jpeg", 0.7);
}
