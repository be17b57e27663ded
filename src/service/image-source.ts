import type { Image } from "../../gen/ts/face/v1/face_pb.ts";
import type { Image as TypedImage } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import type { ImageFetcher } from "../fetch/image-fetcher.ts";
import type { Caller } from "./request-record.ts";
import { ServiceError } from "./service-error.ts";

/** An image of any of the APIs. */
export type ImageMessage = Image | TypedImage;

/** How to load an image. */
export interface LoadOptions {
  readonly fetcher: ImageFetcher;
  readonly caller: Caller | undefined;
  readonly signal: AbortSignal;
  /** Called with the duration of a fetch, successful or not. */
  readonly onFetched: (milliseconds: number) => void;
}

/**
 * Returns the bytes of an image that was sent or is named by a URL.
 *
 * Throws ServiceError `badRequest` if there is none and `imageTooLarge` if it exceeds the limit of the caller's plan,
 * and what the fetcher throws. The core enforces the limit of the service.
 */
export async function loadImage(
  field: string,
  image: ImageMessage | undefined,
  options: LoadOptions,
): Promise<Uint8Array> {
  switch (image?.source.case) {
    case "content":
      requireSizeWithinPlan(field, image.source.value.length, options.caller);
      return image.source.value;
    case "url":
      return fetchImage(image.source.value, options);
    default:
      throw new ServiceError("badRequest", `The field ${field} is missing.`, { field });
  }
}

function requireSizeWithinPlan(field: string, bytes: number, caller: Caller | undefined): void {
  const maxBytes = caller?.plan.maxImageBytes;
  if (maxBytes === undefined || bytes <= maxBytes) return;
  const text = `The image has ${bytes} bytes and the limit of the plan is ${maxBytes}.`;
  throw new ServiceError("imageTooLarge", text, { field });
}

async function fetchImage(
  url: string,
  { fetcher, caller, signal, onFetched }: LoadOptions,
): Promise<Uint8Array> {
  const startMs = performance.now();
  try {
    const maxBytes = caller?.plan.maxImageBytes;
    return await fetcher.fetch(url, { signal, maxBytes, caller: caller?.fingerprint });
  } finally {
    onFetched(performance.now() - startMs);
  }
}
