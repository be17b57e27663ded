import { OPERATIONS, type Operation, type OperationName } from "./operations.ts";
import type { Photo, Slot } from "./photo.ts";
import type { Rectangle } from "./responses.ts";

interface Options {
  readonly detect: boolean;
  readonly quality: boolean;
  /** Whether large photos are scaled down before they are sent. */
  readonly mayScale: boolean;
}

/** What the form contains. */
export interface RequestForm extends Options {
  readonly operation: OperationName;
  readonly slots: readonly [Slot, Slot];
}

/** A request to the service. */
export interface FaceRequest extends Options {
  readonly operation: Operation;
  readonly images: readonly RequestImage[];
}

/** One image of a request. Its photo is missing until the user adds one. */
export interface RequestImage {
  /** Index of the slot that holds the photo. */
  readonly slot: number;
  readonly field: string;
  readonly boxField: string;
  readonly photo?: Photo | undefined;
  readonly box?: Rectangle | undefined;
}

/** Builds the request that the form describes. */
export function requestFrom({ operation: name, slots, detect, quality, mayScale }: RequestForm): FaceRequest {
  const operation = OPERATIONS[name];
  const images = operation.images.map((fields, slot) => {
    const photo = slots[slot]?.photo;
    return { ...fields, slot, photo, box: photo?.selectedBox };
  });
  return { operation, images, detect, quality: operation.hasQuality && quality, mayScale };
}

/** Builds the request that detects every face of one photo. */
export function detectionRequest(photo: Photo, slot: number, mayScale: boolean): FaceRequest {
  const operation = OPERATIONS.get_image_attr;
  const images = [{ ...operation.images[0]!, slot, photo }];
  return { operation, images, detect: true, quality: false, mayScale };
}

/** Writes the path and query of a request, relative to the page. No character of it needs escaping. */
export function requestPath({ operation, images, detect, quality }: FaceRequest): string {
  const parameters = [
    ...images.flatMap(({ boxField, box }) => (box ? [`${boxField}=${box.join(",")}`] : [])),
    ...(detect ? [] : ["face_det=0"]),
    ...(quality ? ["quality=1"] : []),
    "detail=1",
  ];
  return `${operation.name}?${parameters.join("&")}`;
}
