import type { Box } from "../photos/geometry.ts";
import type { Offer } from "./offer.ts";
import { OPERATIONS, type Operation, type OperationName } from "./operations.ts";
import type { Photo, Slot } from "./photo.ts";

/** What the form contains. */
export interface RequestForm {
  readonly offer: Offer;
  readonly operation: OperationName;
  readonly slots: readonly [Slot, Slot];
  /** Whether large photos are scaled down before they are sent. */
  readonly mayScale: boolean;
}

/** A request to the service. */
export interface FaceRequest {
  readonly operation: Operation;
  readonly images: readonly RequestImage[];
  readonly features: readonly string[];
  readonly mayScale: boolean;
}

/** One image of a request. Its photo is missing until the user adds one. */
export interface RequestImage {
  /** Index of the slot that holds the photo. */
  readonly slot: number;
  readonly field: string;
  readonly photo?: Photo | undefined;
  /** Selects a face, in whole pixels of the photo. */
  readonly box?: Box | undefined;
}

/** Builds the request that the form describes. */
export function requestFrom({ operation: name, slots, mayScale, offer }: RequestForm): FaceRequest {
  const operation = OPERATIONS[name];
  const images = operation.images.map((field, slot) => {
    const photo = slots[slot]?.photo;
    return { slot, field, photo, box: photo?.selectedBox && wholePixels(photo.selectedBox) };
  });
  return { operation, images, features: offer.permitted(operation.features), mayScale };
}

/** Builds the request that finds every face of one photo, with its quality. */
export function detectionRequest(photo: Photo, slot: number, mayScale: boolean): FaceRequest {
  const images = [{ slot, field: "image", photo }];
  return { operation: OPERATIONS.attributes, images, features: ["FEATURE_QUALITY"], mayScale };
}

function wholePixels({ x1, y1, x2, y2 }: Box): Box {
  return { x1: Math.round(x1), y1: Math.round(y1), x2: Math.round(x2), y2: Math.round(y2) };
}
