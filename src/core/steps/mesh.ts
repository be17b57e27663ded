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

/** A point of the face's surface. z grows away from the camera, in the unit of x and y. */
export interface MeshPoint extends Point {
  readonly z: number;
}

/** The surface of a face as 468 points, in pixels of its image. */
export interface Mesh {
  readonly points: readonly MeshPoint[];
  /** Probability that the mesh lies on a face, 0 to 1. */
  readonly presence: number;
}

const SIDE = 192;
const NORMALIZATION = { scale: 1 / 255, offset: 0 };

/** Size of the network's square in relation to the face, as in its training. */
const MARGIN = 1.5;

/** Size of the square of the last fit: a closer crop shows more detail once the mesh lies on the face. */
const REFINED_MARGIN = 1.4;

/** Minimum distance of the eyes, as a share of the face's size, from which the roll can be measured. */
const MIN_EYE_DISTANCE = 0.15;

/** Corners of the eyes: first of the eye on the left of an upright image, then of the other. */
const LEFT_EYE_CORNERS = [33, 133] as const;
const RIGHT_EYE_CORNERS = [362, 263] as const;

/** Fits a mesh to the face in each square. */
export async function fitMeshes(
  network: Network,
  image: Pixels,
  squares: readonly Square[],
): Promise<Mesh[]> {
  const transforms = squares.map((square) => cropTransform(square, SIDE));
  const crops = transforms.map((transform) => crop(image, transform, SIDE, NORMALIZATION));
  const { points, presence } = await network.run(crops);
  return transforms.map((transform, i) => ({
    points: decodePoints(transform, points![i]!),
    presence: presence![i]![0]!,
  }));
}

/**
 * Fits each mesh again, in a closer square around its current points, to the crop and its mirror image. The mean of
 * both fits is more stable than either, and a mirrored photo gives the mirrored mesh.
 */
export async function refineMeshes(
  network: Network,
  image: Pixels,
  meshes: readonly Mesh[],
): Promise<Mesh[]> {
  const transforms = meshes.map(({ points }) => cropTransform(levelSquare(points, REFINED_MARGIN), SIDE));
  const crops = transforms.map((transform) => cropAndMirror(image, transform, SIDE, NORMALIZATION));
  const { points, presence } = await network.run(crops);
  return transforms.map((transform, i) => ({
    points: decodePoints(transform, averageWithMirrored(points![2 * i]!, points![2 * i + 1]!)),
    presence: Math.max(presence![2 * i]![0]!, presence![2 * i + 1]![0]!),
  }));
}

/** Returns the square to fit a mesh in, for a face of known centre and size. It is rotated to level the eyes. */
export function squareFor(center: Point, size: number, eyes?: readonly [Point, Point]): Square {
  return { center, side: size * MARGIN, radians: eyes && areApart(eyes, size) ? measureRoll(eyes) : 0 };
}

/** Returns the square to fit a mesh in again, which corrects a poor first square. */
export function squareAround({ points }: Mesh): Square {
  return levelSquare(points, MARGIN);
}

/** In a profile the eyes nearly coincide, and the line between them says nothing about the roll. */
function areApart([left, right]: readonly [Point, Point], size: number): boolean {
  return Math.hypot(right.x - left.x, right.y - left.y) > MIN_EYE_DISTANCE * size;
}

/** Returns the square around mesh points, rotated to level the eyes and enlarged by `margin`. */
export function levelSquare(points: readonly Point[], margin: number): Square {
  const radians = measureRoll(findEyes(points));
  const rotation = { a: Math.cos(radians), b: Math.sin(radians), dx: 0, dy: 0 };
  const inverse = invertTransform(rotation);
  const bounds = boundingBox(points.map((point) => transformPoint(inverse, point)));
  return { center: transformPoint(rotation, boxCenter(bounds)), side: longerSide(bounds) * margin, radians };
}

/** Returns the centres of the eyes: first of the one on the left of an upright image, then of the other. */
function findEyes(points: readonly Point[]): readonly [Point, Point] {
  return [midpoint(points, LEFT_EYE_CORNERS), midpoint(points, RIGHT_EYE_CORNERS)];
}

/** Returns the angle of the line between the eyes in radians, clockwise on screen. */
function measureRoll([left, right]: readonly [Point, Point]): number {
  return Math.atan2(right.y - left.y, right.x - left.x);
}

function midpoint(points: readonly Point[], [one, other]: readonly [number, number]): Point {
  return centroid([points[one]!, points[other]!]);
}

/** Converts the network's output (x, y, z of each point, in pixels of its input) to points of the image. */
function decodePoints(transform: SimilarityTransform, values: Float32Array): MeshPoint[] {
  const scale = Math.hypot(transform.a, transform.b);
  const points: MeshPoint[] = [];
  for (let i = 0; i < values.length; i += 3) {
    const { x, y } = transformPoint(transform, { x: values[i]!, y: values[i + 1]! });
    points.push({ x, y, z: values[i + 2]! * scale });
  }
  return points;
}

function averageWithMirrored(values: Float32Array, mirrored: Float32Array): Float32Array {
  return values.map((value, i) => {
    const axis = i % 3;
    const other = mirrored[MIRRORED[(i - axis) / 3]! * 3 + axis]!;
    return (value + (axis === 0 ? SIDE - other : other)) / 2;
  });
}
