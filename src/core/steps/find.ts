import {
  type Box,
  boxArea,
  boxCenter,
  cropTransform,
  intersectBoxes,
  iou,
  longerSide,
  type Pixels,
} from "../geometry.ts";
import type { Network } from "../networks.ts";
import { CELL, type Detection, detect, suppressNonMaxima, type View } from "./detect.ts";
import { lookAgain, SURE_SCORE } from "./look-again.ts";

/** A face with its place in the order of an image's faces. */
export interface FoundFace extends Detection {
  /** How much of the photo it takes, less if it is cut off or far from the centre. */
  readonly prominence: number;
}

/** The longer side of the image, in pixels, as the detector gets it first, and at most. */
const FIRST_SIDE = 320;
const MAX_SIDE = 1024;

/** Detections below this score are not followed up. A face that lies on its side may score less than others. */
const MIN_SCORE = 0.5;

/** A doubtful detection is a face if the mean of its score and that of a second look is at least this. */
const CONFIRMED_SCORE = 0.72;

/** How many doubtful detections of a run get a second look, the best first. Further ones need the score above. */
const MAX_SECOND_LOOKS = { all: 32, first: 8 };

/** A run sees faces of about 10 pixels. If one is smaller than this, there may be others that it does not see. */
const SMALL_FACE = 16;
/** The size that the smallest face then gets in the second run. */
const LARGER_FACE = 32;

/** Size of the view in relation to the photo when looking for a face that fills the photo. */
const CLOSE_UP_MARGIN = 2;

/** The faces that are looked for: all, the most prominent one, or those that overlap a box. */
export type Wanted = "all" | "first" | readonly Box[];

/**
 * Finds the faces of an image, the most prominent first: those that the detector is sure of, then doubtful ones. If not
 * all are wanted, others may be among them, but no time is spent on doubtful and small ones: the cost does not grow with
 * the number of faces.
 */
export async function findFaces(
  network: Network,
  image: Pixels,
  wanted: Wanted,
  signal?: AbortSignal,
): Promise<FoundFace[]> {
  const first = await findInViews(network, image, [wholeView(image, FIRST_SIDE)], wanted, signal);
  const further = wanted === "first" && first.length > 0 ? [] : furtherViews(image, first, wanted);
  const second = further.length > 0 ? await findInViews(network, image, further, wanted, signal) : [];
  const frame = { x1: 0, y1: 0, x2: image.width, y2: image.height };
  return suppressNonMaxima([...first, ...second])
    .map((face) => ({ ...face, prominence: prominenceOf(face.box, frame) }))
    .sort((one, other) => Number(isSure(other)) - Number(isSure(one)) || other.prominence - one.prominence);
}

async function findInViews(
  network: Network,
  image: Pixels,
  views: readonly View[],
  wanted: Wanted,
  signal?: AbortSignal,
): Promise<Detection[]> {
  const found: Detection[] = [];
  for (const view of views) {
    const [detections] = await detect(network, image, [view], MIN_SCORE);
    signal?.throwIfAborted();
    found.push(...detections!);
  }
  const sure = found.filter(isSure);
  const doubtful = found.filter((detection) => !isSure(detection) && isWanted(detection, wanted));
  // Doubtful faces come after the sure ones, so none of them is the first.
  const looks = wanted !== "first" ? MAX_SECOND_LOOKS.all : sure.length > 0 ? 0 : MAX_SECOND_LOOKS.first;
  const toLookAt = doubtful.slice(0, looks);
  const again = await lookAgain(network, image, toLookAt, { signal, enough: CONFIRMED_SCORE });
  signal?.throwIfAborted();
  const confirmed = doubtful.filter(
    ({ score }, i) => (score + (again[i]?.score ?? score)) / 2 >= CONFIRMED_SCORE,
  );
  return [...sure, ...confirmed];
}

function isWanted({ box }: Detection, wanted: Wanted): boolean {
  return typeof wanted === "string" || wanted.some((other) => iou(box, other) > 0);
}

function isSure({ score }: Detection): boolean {
  return score >= SURE_SCORE;
}

/** Where to look in a second run: more closely if a face is small, and in every way if there is none. */
function furtherViews(image: Pixels, faces: readonly Detection[], wanted: Wanted): View[] {
  const imageSide = Math.max(image.width, image.height);
  const closer = (side: number) => wholeView(image, Math.min(imageSide, MAX_SIDE, side));
  if (faces.length === 0)
    return [
      ...(imageSide > FIRST_SIDE ? [closer(MAX_SIDE)] : []),
      squareView(image, Math.PI / 2, 1),
      squareView(image, 0, CLOSE_UP_MARGIN),
    ];
  const sizes = faces.filter((face) => isWanted(face, wanted)).map(({ box }) => longerSide(box));
  const smallest = Math.min(...sizes) * (FIRST_SIDE / imageSide);
  if (smallest >= SMALL_FACE || imageSide <= FIRST_SIDE) return [];
  return [closer(Math.max(2, LARGER_FACE / smallest) * FIRST_SIDE)];
}

/** Shows the whole image with a longer side of `side` pixels. */
function wholeView({ width, height }: Pixels, side: number): View {
  const scale = Math.max(width, height) / side;
  const roundUp = (length: number) => CELL * Math.max(1, Math.ceil(length / scale / CELL - 1e-6));
  return {
    transform: { a: scale, b: 0, dx: 0, dy: 0 },
    width: roundUp(width),
    height: roundUp(height),
  };
}

/** Shows the whole image in a square, turned and with black around it. */
function squareView({ width, height }: Pixels, radians: number, margin: number): View {
  const square = { center: { x: width / 2, y: height / 2 }, side: Math.max(width, height) * margin, radians };
  return { transform: cropTransform(square, FIRST_SIDE), width: FIRST_SIDE, height: FIRST_SIDE };
}

/** How fast prominence falls with the distance from the photo's centre; measured on LFW and HELEN. */
const CENTER_FALLOFF = 1;

/**
 * Visible area as a share of the photo, weighted by the visible share, as a face cut off by the edge counts less, and by
 * exp(-k (offset / half the shorter side)^2), where the offset is the distance between the centres of face and photo.
 */
function prominenceOf(box: Box, frame: Box): number {
  const visible = boxArea(intersectBoxes(box, frame));
  const [face, photo] = [boxCenter(box), boxCenter(frame)];
  const offset = Math.hypot(face.x - photo.x, face.y - photo.y);
  const halfShorterSide = Math.min(frame.x2, frame.y2) / 2;
  const size = visible ** 2 / (boxArea(box) * boxArea(frame));
  return size * Math.exp(-CENTER_FALLOFF * (offset / halfShorterSide) ** 2);
}
