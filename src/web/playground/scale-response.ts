import type { Scale } from "../photos/geometry.ts";
import type { FaceEntry, Rectangle, ResponseData } from "./responses.ts";

/** Converts a box from pixels of the original photo to pixels of the sent one. */
export function toSent(box: Rectangle, { x, y }: Scale): Rectangle {
  return scaled(box, { x: 1 / x, y: 1 / y });
}

/** Converts the positions of a response from pixels of the sent photos to those of the originals, one scale each. */
export function toOriginal(data: ResponseData, scales: readonly Scale[]): ResponseData {
  const images = data.detail.images.map(({ faces, ...image }, i) => ({
    ...image,
    faces: faces.map((face) => ({
      ...face,
      face_rectangle: scaled(face.face_rectangle, scales[i]!),
      face_size: scaled(face.face_size, scales[i]!),
    })),
  }));
  const attributes = data.attributes && scaleAttributes(data.attributes, scales[0]!);
  return { ...data, ...(attributes && { attributes }), detail: { ...data.detail, images } };
}

type Attributes = NonNullable<ResponseData["attributes"]>;

/** Among the faces is the size of the photo, height first. */
function scaleAttributes({ image_size, ...entries }: Attributes, scale: Scale): Attributes {
  const size = scaled(image_size as unknown as readonly [number, number], { x: scale.y, y: scale.x });
  return { ...mapValues(entries, (entry) => scaleEntry(entry, scale)), image_size: size as never };
}

function scaleEntry({ face_rectangle, landmarks, ...entry }: FaceEntry, scale: Scale): FaceEntry {
  const faceLandMark = mapValues(landmarks.faceLandMark, ({ x, y, ...point }) => ({
    ...point,
    x: Math.round(x * scale.x),
    y: Math.round(y * scale.y),
  }));
  return {
    ...entry,
    face_rectangle: scaled(face_rectangle, scale),
    landmarks: { ...landmarks, faceLandMark },
  };
}

/** Scales numbers that are across and down by turns. */
function scaled<Numbers extends readonly number[]>(numbers: Numbers, { x, y }: Scale): Numbers {
  return numbers.map((number, i) => Math.round(number * (i % 2 === 0 ? x : y))) as unknown as Numbers;
}

function mapValues<Value>(object: Readonly<Record<string, Value>>, map: (value: Value) => Value) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]));
}
