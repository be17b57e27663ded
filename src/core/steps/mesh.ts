import { crop, cropAndMirror } from "../crop/crop.ts";
import {
  boundingBox,
  boxCenter,
  centroid,
  cropTransform,
  invertTransform,
  longerSide,
  type SimilarityTransform,
  type Square,
  transformPoint,
} from "../geometry.ts";
import type { Network } from "../networks.ts";
import type { Pixels, Point } from "../types.ts";
import { MIRRORED } from "./mesh-mirror.ts";

/** A point of the face's surface; z grows away from the camera, in the unit of x and y. */
export interface MeshPoint extends Point {
  readonly z: number;
}

/** The surface of a face as 468 points, in pixels of its image. */
export interface Mesh {
  readonly points: readonly MeshPoint[];
  /** Probability that there is a face where the points are. */
  readonly presence: number;
}

const SIDE = 192;
const RANGE = { scale: 1 / 255, offset: 0 };

/** The network was made for a square this much larger than the face. */
const MARGIN = 1.5;

/** Once the mesh lies on the face, a closer crop shows more of its detail. */
const CLOSER_MARGIN = 1.4;

/** Least distance of two eyes, as a share of the face's size, that tells how the face is turned. */
const EYES_APART = 0.15;

/** Corners of the two eyes, in the order in which they stand in an upright image. */
const LEFT_EYE_CORNERS = [33, 133] as const;
const RIGHT_EYE_CORNERS = [362, 263] as const;

/** Lays the mesh over the face in each square. */
export async function fitMeshes(
  network: Network,
  image: Pixels,
  squares: readonly Square[],
): Promise<Mesh[]> {
  const maps = squares.map((square) => cropTransform(square, SIDE));
  const { points, presence } = await network.run(maps.map((map) => crop(image, map, SIDE, RANGE)));
  return maps.map((map, i) => ({
    points: pointsFrom(map, points![i]!),
    presence: presence![i]![0]!,
  }));
}

/**
 * Lays each mesh again, in a square taken from where it lies now, and on the mirrored crop too;
 * the mean of both is steadier than either, and a mirrored photo gives the mirrored mesh.
 */
export async function refineMeshes(
  network: Network,
  image: Pixels,
  meshes: readonly Mesh[],
): Promise<Mesh[]> {
  const maps = meshes.map(({ points }) => cropTransform(levelSquare(points, CLOSER_MARGIN), SIDE));
  const crops = maps.map((map) => cropAndMirror(image, map, SIDE, RANGE));
  const { points, presence } = await network.run(crops);
  return maps.map((map, i) => ({
    points: pointsFrom(map, meanWithMirrored(points![2 * i]!, points![2 * i + 1]!)),
    presence: Math.max(presence![2 * i]![0]!, presence![2 * i + 1]![0]!),
  }));
}

/** The square in which to lay the mesh for a face of known place and size, turned with its eyes if they are known. */
export function squareFor(center: Point, size: number, eyes?: readonly [Point, Point]): Square {
  return { center, side: size * MARGIN, radians: eyes && areApart(eyes, size) ? tiltOf(eyes) : 0 };
}

/** The square in which to lay a mesh again, from where it lies: that corrects a poor first guess. */
export function squareAround({ points }: Mesh): Square {
  return levelSquare(points, MARGIN);
}

/** The eyes of a profile come to lie on each other, and the line between them means nothing. */
function areApart([left, right]: readonly [Point, Point], size: number): boolean {
  return Math.hypot(right.x - left.x, right.y - left.y) > EYES_APART * size;
}

/** The square around some mesh points, turned with the eyes, `margin` times as large as the points need. */
export function levelSquare(points: readonly Point[], margin: number): Square {
  const radians = tiltOf(eyesOf(points));
  const turn = { a: Math.cos(radians), b: Math.sin(radians), dx: 0, dy: 0 };
  const back = invertTransform(turn);
  const level = boundingBox(points.map((point) => transformPoint(back, point)));
  return { center: transformPoint(turn, boxCenter(level)), side: longerSide(level) * margin, radians };
}

/** Middles of the two eyes, in the order in which they stand in an upright image. */
function eyesOf(points: readonly Point[]): readonly [Point, Point] {
  return [middleOf(points, LEFT_EYE_CORNERS), middleOf(points, RIGHT_EYE_CORNERS)];
}

/** Angle of the line between the eyes, clockwise on screen. */
function tiltOf([left, right]: readonly [Point, Point]): number {
  return Math.atan2(right.y - left.y, right.x - left.x);
}

function middleOf(points: readonly Point[], [one, other]: readonly [number, number]): Point {
  return centroid([points[one]!, points[other]!]);
}

/** The network's numbers (x, y, z for each point, in pixels of its input) as points of the image. */
function pointsFrom(map: SimilarityTransform, numbers: Float32Array): MeshPoint[] {
  const scale = Math.hypot(map.a, map.b);
  const points: MeshPoint[] = [];
  for (let i = 0; i < numbers.length; i += 3) {
    const { x, y } = transformPoint(map, { x: numbers[i]!, y: numbers[i + 1]! });
    points.push({ x, y, z: numbers[i + 2]! * scale });
  }
  return points;
}

function meanWithMirrored(numbers: Float32Array, mirrored: Float32Array): Float32Array {
  return numbers.map((value, i) => {
    const axis = i % 3;
    const other = mirrored[MIRRORED[(i - axis) / 3]! * 3 + axis]!;
    return (value + (axis === 0 ? SIDE - other : other)) / 2;
  });
}
