import { FaceError } from "../errors.ts";
import { boxArea, boxCenter, intersectBoxes, scaleBox } from "../geometry.ts";
import type { Networks } from "../networks.ts";
import { type Checkpoint, type PartLimits, packMesh, unpackMesh } from "../partial-work.ts";
import type { Box, Photo, Pixels } from "../types.ts";
import { detectFaceNearBox, fitFaceToBox, takeBoxAsFace } from "./face-in-box.ts";
import {
  CONFIDENT_SCORE,
  continueSearch,
  type FoundFace,
  placeFace,
  refineFaces,
  type UnrefinedFace,
} from "./find.ts";
import { type Rank, sortByRank } from "./rank.ts";
import { MAX_FACES, type Selection } from "./selection.ts";

/** A chosen face and its rank. */
export interface ChosenFace extends FoundFace {
  readonly rank: Rank;
}

/** The result of one part of choosing. */
export interface ChosenFaces {
  /** The faces of this part. */
  readonly faces: readonly ChosenFace[];
  /** Number of faces in the image, including those above MAX_FACES; 0 until the search is complete. */
  readonly facesFound: number;
  /** Where to resume; missing in the last part. */
  readonly checkpoint?: Checkpoint;
}

/** Rank of every face in a caller's box, so that these faces keep the order of the boxes. */
const BOX_RANK: Rank = { isConfident: true, prominence: 0 };

/**
 * Chooses the faces of one part, from the start or from a checkpoint: the faces in the caller's boxes, in the order of
 * the boxes, or all detected faces, to be ordered by rank.
 *
 * Throws FaceError `badBox` for a box that is empty or outside the image, before any network runs, and `noFaceInBox`
 * for the first box without a face unless detection is off.
 */
export async function chooseFaces(
  networks: Networks,
  photo: Photo,
  selection: Selection,
  { checkpoint, limits }: { readonly checkpoint?: Checkpoint | undefined; readonly limits: PartLimits },
  signal?: AbortSignal,
): Promise<ChosenFaces> {
  const { boxes = [], detect: mayDetect = true } = selection;
  const { pixels: image } = photo;
  const frame = frameOf(image);
  if (boxes.length > 0) {
    const boxesDone = checkpoint?.phase === "boxes" ? checkpoint.boxesDone : 0;
    return chooseFromBoxes(
      networks,
      photo,
      { boxes, detect: mayDetect },
      { boxesDone, maxFaces: limits.maxFaces },
      signal,
    );
  }
  if (!mayDetect) {
    const face = await takeBoxAsFace(networks, image, frame, signal);
    return { faces: [{ ...face, rank: BOX_RANK }], facesFound: 1 };
  }
  const search = await findUnrefinedFaces(networks, image, checkpoint, limits, signal);
  if ("checkpoint" in search) return { faces: [], facesFound: 0, checkpoint: search.checkpoint };
  const { unrefined, facesFound } = search;
  const faces = await refineFaces(networks, image, unrefined.slice(0, limits.maxFaces));
  const ranked = faces.map((face) => ({ ...face, rank: rankFace(face, frame) }));
  const remaining = unrefined
    .slice(limits.maxFaces)
    .map(({ box, score, mesh }) => ({ box, score, mesh: packMesh(mesh) }));
  return {
    faces: ranked,
    facesFound,
    ...(remaining.length > 0 && { checkpoint: { phase: "faces", facesFound, remaining } }),
  };
}

/** Finds the faces to be refined: those of the checkpoint, or the search's MAX_FACES most prominent. */
async function findUnrefinedFaces(
  networks: Networks,
  image: Pixels,
  checkpoint: Checkpoint | undefined,
  limits: PartLimits,
  signal?: AbortSignal,
): Promise<{ unrefined: readonly UnrefinedFace[]; facesFound: number } | { checkpoint: Checkpoint }> {
  if (checkpoint?.phase === "faces") {
    const unrefined = checkpoint.remaining.map(({ mesh, ...face }) => ({ ...face, mesh: unpackMesh(mesh) }));
    return { unrefined, facesFound: checkpoint.facesFound };
  }
  const searchCheckpoint = checkpoint?.phase === "search" ? checkpoint : undefined;
  const result = await continueSearch(networks, image, searchCheckpoint, limits, signal);
  if ("checkpoint" in result) return result;
  const facesFound = result.found.length;
  return {
    unrefined: facesFound > MAX_FACES ? keepMostProminent(result.found, image) : result.found,
    facesFound,
  };
}

function keepMostProminent(faces: readonly UnrefinedFace[], image: Pixels): UnrefinedFace[] {
  const frame = frameOf(image);
  const ranked = faces.map((face) => ({
    face,
    rank: rankFace(placeFace(face.box, face.score, face.mesh), frame),
  }));
  return sortByRank(ranked)
    .slice(0, MAX_FACES)
    .map(({ face }) => face);
}

/** Chooses the faces in the next boxes. */
async function chooseFromBoxes(
  networks: Networks,
  photo: Photo,
  { boxes, detect: mayDetect }: { readonly boxes: readonly Box[]; readonly detect: boolean },
  { boxesDone, maxFaces }: { readonly boxesDone: number; readonly maxFaces: number },
  signal?: AbortSignal,
): Promise<ChosenFaces> {
  const { pixels: image } = photo;
  const workingBoxes = boxes.map((box, i) => toWorkingSize(box, i, photo));
  const end = Math.min(boxes.length, boxesDone + maxFaces);
  const faces: ChosenFace[] = [];
  for (let i = boxesDone; i < end; i++) {
    const box = workingBoxes[i]!;
    const face = mayDetect
      ? ((await fitFaceToBox(networks, image, box, signal)) ??
        (await detectFaceNearBox(networks, image, box, signal)))
      : await takeBoxAsFace(networks, image, box, signal);
    if (!face) throw noFaceInBox(boxes[i]!, i);
    faces.push({ ...face, rank: BOX_RANK });
  }
  return {
    faces,
    facesFound: boxes.length,
    ...(end < boxes.length && { checkpoint: { phase: "boxes", boxesDone: end } }),
  };
}

function frameOf({ width, height }: Pixels): Box {
  return { x1: 0, y1: 0, x2: width, y2: height };
}

function rankFace({ box, score = 1 }: FoundFace, frame: Box): Rank {
  return { isConfident: score >= CONFIDENT_SCORE, prominence: measureProminence(box, frame) };
}

/** How fast prominence falls with the distance from the photo's center; measured on LFW and HELEN. */
const CENTER_FALLOFF = 1;

/**
 * Visible area as a share of the photo, weighted by the visible share, as a face cut off by the edge counts less, and by
 * exp(-k (offset / half the shorter side)^2), where the offset is the distance between the centers of face and photo.
 */
function measureProminence(box: Box, frame: Box): number {
  const visible = boxArea(intersectBoxes(box, frame));
  const [face, photo] = [boxCenter(box), boxCenter(frame)];
  const offset = Math.hypot(face.x - photo.x, face.y - photo.y);
  const halfShorterSide = Math.min(frame.x2, frame.y2) / 2;
  const size = visible ** 2 / (boxArea(box) * boxArea(frame));
  return size * Math.exp(-CENTER_FALLOFF * (offset / halfShorterSide) ** 2);
}

/** Clips a caller's box to the image and scales it to the decoded pixels. */
function toWorkingSize(box: Box, index: number, { pixels, width, height }: Photo): Box {
  if (!(boxArea(box) > 0)) throw badBox("is empty", box, index);
  // Clipped before it is scaled: rounding would leave a sliver of a box that begins at the edge.
  const clipped = intersectBoxes(box, { x1: 0, y1: 0, x2: width, y2: height });
  if (!(boxArea(clipped) > 0)) throw badBox("lies outside the image", box, index);
  return scaleBox(clipped, pixels.width / width, pixels.height / height);
}

function noFaceInBox(box: Box, boxIndex: number): FaceError {
  return new FaceError("noFaceInBox", `No face was found in the box ${formatBox(box)}.`, { box, boxIndex });
}

function badBox(problem: string, box: Box, boxIndex: number): FaceError {
  return new FaceError("badBox", `The box ${formatBox(box)} ${problem}.`, { box, boxIndex });
}

function formatBox({ x1, y1, x2, y2 }: Box): string {
  return `from ${x1} ${y1} to ${x2} ${y2}`;
}
