import type { FaceEntry, Point, Rectangle, ResponseData } from "./responses.ts";

/** How many pixels of the original photo one pixel of the sent photo is, across and down. */
export interface Scale {
  readonly x: number;
  readonly y: number;
}

/** Converts a box from pixels of the original photo to pixels of the sent one. */
export function toSent([x1, y1, x2, y2]: Rectangle, { x, y }: Scale): Rectangle {
  return [Math.round(x1 / x), Math.round(y1 / y), Math.round(x2 / x), Math.round(y2 / y)];
}

/** Converts the positions of a response from pixels of the sent photos to those of the originals, one scale each. */
export function toOriginal(data: ResponseData, scales: readonly Scale[]): ResponseData {
  if (scales.every(({ x, y }) => x === 1 && y === 1)) return data;
  const images = data.detail.images.map((image, i) => ({
    ...image,
    faces: image.faces.map((face) => ({
      ...face,
      face_rectangle: scaleRectangle(face.face_rectangle, scales[i]!),
      face_size: scaleSize(face.face_size, scales[i]!),
    })),
  }));
  const attributes = data.attributes && scaleAttributes(data.attributes, scales[0]!);
  return { ...data, ...(attributes && { attributes }), detail: { ...data.detail, images } };
}

type Attributes = NonNullable<ResponseData["attributes"]>;

/** Among the faces is the size of the photo, height first. */
function scaleAttributes({ image_size, ...entries }: Attributes, scale: Scale): Attributes {
  const faces = Object.entries(entries).map(([name, entry]) => [name, scaleEntry(entry, scale)]);
  const [height, width] = image_size as unknown as readonly [number, number];
  const size = [Math.round(height * scale.y), Math.round(width * scale.x)];
  return { ...Object.fromEntries(faces), image_size: size };
}

function scaleEntry(entry: FaceEntry, scale: Scale): FaceEntry {
  const points = Object.entries(entry.landmarks.faceLandMark).map(([name, point]) => [
    name,
    scalePoint(point, scale),
  ]);
  return {
    ...entry,
    face_rectangle: scaleRectangle(entry.face_rectangle, scale),
    landmarks: { ...entry.landmarks, faceLandMark: Object.fromEntries(points) },
  };
}

function scaleRectangle([x1, y1, x2, y2]: Rectangle, { x, y }: Scale): Rectangle {
  return [Math.round(x1 * x), Math.round(y1 * y), Math.round(x2 * x), Math.round(y2 * y)];
}

function scaleSize([width, height]: readonly [number, number], { x, y }: Scale): readonly [number, number] {
  return [Math.round(width * x), Math.round(height * y)];
}

function scalePoint(point: Point, scale: Scale): Point {
  return { ...point, x: Math.round(point.x * scale.x), y: Math.round(point.y * scale.y) };
}
