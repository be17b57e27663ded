import { ATTRIBUTE_NAMES, ATTRIBUTES } from "../../photos/attributes.ts";
import { type Cell, writeCsv } from "../../site/csv.ts";
import type { Face } from "../responses.ts";
import type { BatchItem } from "./batch-item.ts";

/** What a row of the CSV tells about a photo. */
const PHOTO_COLUMNS = ["file", "width", "height", "faces", "error_code", "error"];

/** What a row of the CSV tells about a face. */
const FACE_COLUMNS: Readonly<Record<string, (face: Face) => Cell>> = {
  x1: ({ box }) => box.x1,
  y1: ({ box }) => box.y1,
  x2: ({ box }) => box.x2,
  y2: ({ box }) => box.y2,
  detection_score: ({ detectionScore }) => detectionScore,
  ...Object.fromEntries(
    ATTRIBUTE_NAMES.flatMap((name) => [
      [name, ATTRIBUTES[name].text],
      [`${name}_confidence`, (face: Face) => face[name]?.confidence],
    ]),
  ),
  yaw: ({ pose }) => pose?.yaw,
  pitch: ({ pose }) => pose?.pitch,
  roll: ({ pose }) => pose?.roll,
  brightness: ({ quality }) => quality?.brightness,
  usable: ({ quality }) => quality?.usable,
  issues: ({ quality }) => quality?.issues?.join(" "),
  model: ({ embedding }) => embedding?.model,
  vector: ({ embedding }) => embedding?.values.join(" "),
};

/** Writes one row for each face. A photo that failed or has no face gets one row without a face. */
export function batchCsv(items: readonly BatchItem[]): string {
  const header = [...PHOTO_COLUMNS, "face", ...Object.keys(FACE_COLUMNS)];
  const rows = items.flatMap((item): Cell[][] => {
    const faces = facesOf(item);
    const photo = photoCells(item);
    if (!faces || faces.length === 0) return [[...photo, ...header.slice(photo.length).map(() => undefined)]];
    return faces.map((face, i) => [
      ...photo,
      i + 1,
      ...Object.values(FACE_COLUMNS).map((column) => column(face)),
    ]);
  });
  return writeCsv(header, rows);
}

/** Writes the photos with the responses of the service, in which positions are pixels of the original photo. */
export function batchJson(items: readonly BatchItem[]): string {
  const photos = items.map(({ file, size, state }) => ({
    file: file.name,
    ...(size && { width: size.width, height: size.height }),
    ...(state.name === "done" && { response: state.analysis }),
    ...(state.name === "failed" && { error: state.error }),
    ...((state.name === "waiting" || state.name === "running") && { pending: true }),
  }));
  return JSON.stringify({ photos }, null, 2);
}

function facesOf({ state }: BatchItem): readonly Face[] | undefined {
  return state.name === "done" ? state.analysis.faces : undefined;
}

function photoCells(item: BatchItem): Cell[] {
  const { file, size, state } = item;
  const error = state.name === "failed" ? state.error : undefined;
  const pending = state.name === "waiting" || state.name === "running" ? "not analysed" : undefined;
  return [
    file.name,
    size?.width,
    size?.height,
    facesOf(item)?.length,
    error?.code,
    error?.message ?? pending,
  ];
}
