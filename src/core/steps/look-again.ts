// The detector looks at a face again, in a crop of its own. This tells whether a doubtful detection is a face, and which
// way up the face is.
import { type Box, boxCenter, cropTransform, iou, longerSide, type Pixels } from "../geometry.ts";
import type { Network } from "../networks.ts";
import { rollOf } from "./align.ts";
import { type Detection, detect, type View } from "./detect.ts";

/** From this score on, a detection is a face. */
export const SURE_SCORE = 0.8;

/** Of clear faces that are upright in the crop, 99 % score more; of those at another angle, 99 % score less. */
const UPRIGHT_SCORE = 0.907;

/** Size of the crop in relation to the face, and in pixels. */
const MARGIN = 2.2;
const SIDE = 160;

/** The crops in which a face is tried at other angles are smaller: they tell the angle only. */
const TURNED_SIDE = 96;

/**
 * The points of a tilted face lean towards upright: at 20, 30 and 40 degrees they are at 17, 22 and 25. The tilt is about
 * s (1 + (s / LEAN)^2), where s is the angle of the points, up to 2 s.
 */
const LEAN = (32 * Math.PI) / 180;

/** Angles between two crops in which a face that does not look upright is tried. */
const TURNS = Array.from({ length: 8 }, (_, i) => (i * Math.PI) / 4);

/** By how much a turned face must score better than the upright one. */
const TURN_GAIN = 0.015;

/** A crop shows a face if the centre is at most this far from it, in relation to its size, and the boxes overlap. */
const MAX_OFFSET = 0.3;
const MIN_IOU = 0.2;

/** Candidates of another look. The best of them is taken, however low its score. */
const MIN_SCORE = 0.05;

/**
 * Looks at each face again. Returns it as seen upright, and with a score of 0 if it cannot be seen again. If the mean of
 * both scores is at least `enough`, no other angle is tried.
 */
export async function lookAgain(
  network: Network,
  image: Pixels,
  faces: readonly Detection[],
  { signal, enough = 1 }: { signal?: AbortSignal | undefined; enough?: number } = {},
): Promise<Detection[]> {
  const seen = await lookAtEach(network, image, faces);
  const upright: Detection[] = [];
  for (const [i, face] of faces.entries()) {
    signal?.throwIfAborted();
    const isEnough = (face.score + (seen[i]?.score ?? 0)) / 2 >= enough;
    const best = isEnough ? seen[i] : await turnUpright(network, image, face, seen[i]);
    upright.push(best ?? { ...face, score: 0 });
  }
  return upright;
}

/** Returns the face as seen, or at the angle at which it scores best if that is clearly better. */
async function turnUpright(
  network: Network,
  image: Pixels,
  face: Detection,
  seen: Detection | undefined,
): Promise<Detection | undefined> {
  const score = seen?.score ?? 0;
  if (score >= UPRIGHT_SCORE) return seen;
  const copies = TURNS.map(() => face);
  const [upright, ...turned] = await lookAtEach(network, image, copies, TURNS, TURNED_SIDE);
  const [best] = turned.flatMap((one) => one ?? []).toSorted((a, b) => b.score - a.score);
  if (!best || best.score <= (upright?.score ?? 0)) return seen;
  const [closer] = await lookAtEach(network, image, [best]);
  return closer && closer.score > score + TURN_GAIN ? closer : seen;
}

/** Looks at each face in a crop whose top is `turns[i]` clockwise from the top of the face, as far as its eyes tell. */
async function lookAtEach(
  network: Network,
  image: Pixels,
  faces: readonly Detection[],
  turns: readonly number[] = [],
  side = SIDE,
): Promise<(Detection | undefined)[]> {
  const views = faces.map((face, i) => viewAround(face.box, levelOf(face) + (turns[i] ?? 0), side));
  const found = await detect(network, image, views, MIN_SCORE);
  return faces.map(({ box }, i) => found[i]!.find((other) => isSameFace(box, other.box)));
}

/** Returns a view of a face and what surrounds it. */
export function viewAround(box: Box, radians: number, side = SIDE): View {
  const square = { center: boxCenter(box), side: longerSide(box) * MARGIN, radians };
  return { transform: cropTransform(square, side), width: side, height: side };
}

/** Whether two boxes are about equal in place and size. */
export function isSameFace(one: Box, other: Box): boolean {
  const [a, b] = [boxCenter(one), boxCenter(other)];
  const offset = Math.hypot(a.x - b.x, a.y - b.y) / longerSide(one);
  return offset <= MAX_OFFSET && iou(one, other) >= MIN_IOU;
}

/** The angle at which the face is level. */
function levelOf({ points, viewRadians }: Detection): number {
  const tilt = normalizeAngle(rollOf(points) - viewRadians);
  return viewRadians + tilt * (1 + Math.min(1, (tilt / LEAN) ** 2));
}

/** Returns the same angle between -π and π. */
function normalizeAngle(radians: number): number {
  return Math.atan2(Math.sin(radians), Math.cos(radians));
}
