import { FaceError } from "../errors.ts";
import { type Box, boxArea, intersectBoxes, scaleBox } from "../geometry.ts";
import type { Network } from "../networks.ts";
import type { Photo } from "../types.ts";
import type { Detection } from "./detect.ts";
import { findFaceInBox, mostOverlapping, takeBoxAsFace } from "./face-in-box.ts";
import { type FoundFace, findFaces } from "./find.ts";
import { lookAgain } from "./look-again.ts";
import { MAX_FACES, type Selection } from "./selection.ts";

/** A face to be measured: one that was found, or the caller's box. It is plain data that another process can use. */
export type Target = FoundFace | BoxTarget;

/** A box of the caller, with its position among the boxes. */
interface BoxTarget {
  readonly given: Box;
  readonly index: number;
  /** The face in the photo that overlaps the box most. */
  readonly nearest?: Detection | undefined;
}

/** A face whose place and angle are settled. */
export interface SettledFace {
  readonly box: Box;
  /** The upright face in a crop of its own. Its box lies level in that crop. */
  readonly seen: Detection;
  /** Missing if the caller gave the box. */
  readonly found?: Pick<FoundFace, "score" | "prominence">;
}

/** The faces of an image that are to be measured, in order. */
export interface Targets {
  readonly targets: readonly Target[];
  /** Number of faces in the image, including those above MAX_FACES. */
  readonly facesFound: number;
}

/**
 * Chooses what to measure: the caller's boxes, in their order, or the detected faces, the most prominent first. Throws
 * FaceError `badBox` for a box that is empty or outside the image.
 */
export async function chooseTargets(
  network: Network,
  photo: Photo,
  { boxes = [], detect = true }: Selection,
  wanted: "all" | "first",
  signal?: AbortSignal,
): Promise<Targets> {
  const { width, height, pixels } = photo;
  const given = boxes.length > 0 || detect ? boxes : [{ x1: 0, y1: 0, x2: width, y2: height }];
  const scaled = given.map((box, index) => toWorkingSize(box, index, photo));
  const faces = detect ? await findFaces(network, pixels, given.length > 0 ? scaled : wanted, signal) : [];
  if (given.length === 0) return { targets: faces.slice(0, MAX_FACES), facesFound: faces.length };
  return {
    targets: given.map((box, index) => ({
      given: box,
      index,
      nearest: mostOverlapping(scaled[index]!, faces),
    })),
    facesFound: given.length,
  };
}

/**
 * Finds the faces in boxes and settles place and angle of all faces. Throws FaceError `noFaceInBox` for the first box
 * without a face, unless detection is off.
 */
export async function settleFaces(
  network: Network,
  photo: Photo,
  targets: readonly Target[],
  { detect: mayDetect = true }: Selection,
  signal?: AbortSignal,
): Promise<SettledFace[]> {
  const faces: Detection[] = [];
  for (const target of targets) {
    faces.push("given" in target ? await faceInBox(network, photo, target, mayDetect) : target);
    signal?.throwIfAborted();
  }
  const settled = await lookAgain(network, photo.pixels, faces, { signal });
  signal?.throwIfAborted();
  return targets.map((target, i) => ({
    box: faces[i]!.box,
    seen: settled[i]!,
    ...("given" in target ? {} : { found: { score: target.score, prominence: target.prominence } }),
  }));
}

async function faceInBox(
  network: Network,
  photo: Photo,
  { given, index, nearest }: BoxTarget,
  mayDetect: boolean,
): Promise<Detection> {
  const box = toWorkingSize(given, index, photo);
  if (!mayDetect) return takeBoxAsFace(network, photo.pixels, box);
  const found = await findFaceInBox(network, photo.pixels, box, nearest);
  if (found) return found;
  throw new FaceError("noFaceInBox", `No face was found in the box ${formatBox(given)}.`, {
    box: given,
    boxIndex: index,
  });
}

/** Clips a caller's box to the image and scales it to the decoded pixels. */
function toWorkingSize(box: Box, index: number, { pixels, width, height }: Photo): Box {
  if (!(boxArea(box) > 0)) throw badBox("is empty", box, index);
  // Clipped before it is scaled: rounding would leave a sliver of a box that begins at the edge.
  const clipped = intersectBoxes(box, { x1: 0, y1: 0, x2: width, y2: height });
  if (!(boxArea(clipped) > 0)) throw badBox("lies outside the image", box, index);
  return scaleBox(clipped, pixels.width / width, pixels.height / height);
}

function badBox(problem: string, box: Box, boxIndex: number): FaceError {
  return new FaceError("badBox", `The box ${formatBox(box)} ${problem}.`, { box, boxIndex });
}

function formatBox({ x1, y1, x2, y2 }: Box): string {
  return `from ${x1} ${y1} to ${x2} ${y2}`;
}
