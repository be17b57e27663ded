import type { Rectangle } from "./answers.ts";
import { OPERATIONS, type Operation } from "./operations.ts";
import type { Photo, State } from "./store.ts";

/** What is asked of the service. */
export interface FaceRequest {
  readonly operation: Operation;
  readonly images: readonly RequestImage[];
  readonly detect: boolean;
  readonly quality: boolean;
}

/** An image of a request; without a photo as long as none is given. */
export interface RequestImage {
  /** Which of the page's photos it is. */
  readonly slot: number;
  readonly field: string;
  readonly boxField: string;
  readonly photo?: Photo | undefined;
  readonly box?: Rectangle | undefined;
}

/** The request that the page stands at. */
export function requestFrom({ operation: name, slots, detect, quality }: State): FaceRequest {
  const operation = OPERATIONS[name];
  const images = operation.images.map(({ field, box }, slot) => {
    const photo = slots[slot]?.photo;
    return { slot, field, boxField: box, photo, box: photo?.chosen };
  });
  return { operation, images, detect, quality: operation.hasQuality && quality };
}

/** The request for all faces of one photo. */
export function findingRequest(photo: Photo, slot: number): FaceRequest {
  const operation = OPERATIONS.get_image_attr;
  const { field, box } = operation.images[0]!;
  return { operation, images: [{ slot, field, boxField: box, photo }], detect: true, quality: false };
}

/** Path and query of a request, which has no character that would need an escape. */
export function targetOf({ operation, images, detect, quality }: FaceRequest): string {
  const parameters = [
    ...images.flatMap(({ boxField, box }) => (box ? [`${boxField}=${box.join(",")}`] : [])),
    ...(detect ? [] : ["face_det=0"]),
    ...(quality ? ["quality=1"] : []),
    "detail=1",
  ];
  return `${operation.name}?${parameters.join("&")}`;
}
