import { crop, cropAndMirror } from "../crop/crop.ts";
import {
  boundingBox,
  boxCenter,
  centroid,
  cropTransform,
  longerSide,
  type Pixels,
  type Point,
  type SimilarityTransform,
  type Square,
  transformPoint,
} from "../geometry.ts";
import type { Network } from "../networks.ts";
import { rollOf } from "./align.ts";
import type { Detection, FivePoints } from "./detect.ts";
import { MIRRORED } from "./mesh-mirror.ts";

/** A point of the face's surface. z grows away from the camera, in the unit of x and y. */
export interface MeshPoint extends Point {
  readonly z: number;
}

/** The surface of a face as 468 points, in pixels of its image. */
export type Mesh = readonly MeshPoint[];

const SIDE = 192;
const SIZE = { width: SIDE, height: SIDE };

/** Size of the square in relation to the face: to the detector's box, and to the first mesh. */
const MARGIN = 1.4;

/** Tip of the nose, and corners of the mouth: first the one on the left of an upright image. */
const NOSE_AND_MOUTH = [4, 61, 291];

/** Corners of the eyes: first of the eye on the left of an upright image, then of the other. */
const EYE_CORNERS = [
  [33, 133],
  [362, 263],
];

/** Fits a mesh to each face, in a square around it as the detector sees it upright. */
export async function fitMeshes(
  network: Network,
  image: Pixels,
  faces: readonly Detection[],
): Promise<Mesh[]> {
  const squares = faces.map(({ box, points }) =>
    cropTransform({ center: boxCenter(box), side: longerSide(box) * MARGIN, radians: rollOf(points) }, SIDE),
  );
  const { points } = await network.run(squares.map((square) => crop(image, square, SIZE)));
  return squares.map((square, i) => decodePoints(square, points![i]!));
}

/**
 * Fits each mesh again, in a square placed by it. This fit is the mean of the crop and its mirror image, which is more
 * stable than either.
 */
export async function refineMeshes(
  network: Network,
  image: Pixels,
  meshes: readonly Mesh[],
): Promise<Mesh[]> {
  const squares = meshes.map((mesh) => cropTransform(levelSquare(mesh), SIDE));
  const { points } = await network.run(squares.map((square) => cropAndMirror(image, square, SIZE)));
  return squares.map((square, i) =>
    decodePoints(square, averageWithMirrored(points![2 * i]!, points![2 * i + 1]!)),
  );
}

/** Returns the five points by which a face is aligned, as its mesh has them. */
export function fivePointsOf(mesh: Mesh): FivePoints {
  const [left, right] = EYE_CORNERS.map((corners) => centroid(corners.map((i) => mesh[i]!)));
  const [nose, ...mouth] = NOSE_AND_MOUTH.map((i) => mesh[i]!);
  return [left!, right!, nose!, mouth[0]!, mouth[1]!];
}

/** Returns the square around a mesh, rotated to level the eyes. */
function levelSquare(points: Mesh): Square {
  const [left, right] = fivePointsOf(points);
  const radians = Math.atan2(right.y - left.y, right.x - left.x);
  const rotate = (angle: number, point: Point) =>
    transformPoint({ a: Math.cos(angle), b: Math.sin(angle), dx: 0, dy: 0 }, point);
  const bounds = boundingBox(points.map((point) => rotate(-radians, point)));
  return { center: rotate(radians, boxCenter(bounds)), side: longerSide(bounds) * MARGIN, radians };
}

function averageWithMirrored(values: Float32Array, mirrored: Float32Array): Float32Array {
  return values.map((value, i) => {
    const axis = i % 3;
    const other = mirrored[MIRRORED[(i - axis) / 3]! * 3 + axis]!;
    return (value + (axis === 0 ? SIDE - other : other)) / 2;
  });
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
