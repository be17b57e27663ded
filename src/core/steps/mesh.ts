import { crop, cropAndMirror } from "../crop/crop.ts";
import {
  boundingBox,
  boxCenter,
  centroid,
  cropTransform,
  longerSide,
  type SimilarityTransform,
  type Square,
  transformPoint,
} from "../geometry.ts";
import type { Network } from "../networks.ts";
import type { Box, Pixels, Point } from "../types.ts";
import { rollOf } from "./align.ts";
import type { FivePoints } from "./detect.ts";
import { MIRRORED } from "./mesh-mirror.ts";

/** A point of the face's surface. z grows away from the camera, in the unit of x and y. */
export interface MeshPoint extends Point {
  readonly z: number;
}

/** The surface of a face as 468 points, in pixels of its image. */
export type Mesh = readonly MeshPoint[];

const SIDE = 192;
const SIZE = { width: SIDE, height: SIDE };

/** Sizes of the network's square: of the first fit in relation to the box, of the second to the first mesh. */
const BOX_MARGIN = 1.45;
const MESH_MARGIN = 1.4;

/** Corners of the eyes: first of the eye on the left of an upright image, then of the other. */
export const EYE_CORNERS = [
  [33, 133],
  [362, 263],
];

/**
 * Fits a mesh to each face: first in an upright square around its box, then in one placed by that first mesh. The second
 * fit is the mean of the crop and its mirror image, which is more stable than either.
 */
export async function fitMeshes(
  network: Network,
  image: Pixels,
  faces: readonly { readonly box: Box; readonly points: FivePoints }[],
): Promise<Mesh[]> {
  const squares = faces.map(({ box, points }) =>
    cropTransform(
      { center: boxCenter(box), side: longerSide(box) * BOX_MARGIN, radians: rollOf(points) },
      SIDE,
    ),
  );
  const first = await network.run(squares.map((square) => crop(image, square, SIZE)));
  const closer = squares.map((square, i) =>
    cropTransform(levelSquare(decodePoints(square, first.points![i]!)), SIDE),
  );
  const second = await network.run(closer.map((square) => cropAndMirror(image, square, SIZE)));
  return closer.map((square, i) =>
    decodePoints(square, averageWithMirrored(second.points![2 * i]!, second.points![2 * i + 1]!)),
  );
}

/** Returns the square around a mesh, rotated to level the eyes. */
function levelSquare(points: Mesh): Square {
  const [left, right] = EYE_CORNERS.map((corners) => centroid(corners.map((i) => points[i]!)));
  const radians = Math.atan2(right!.y - left!.y, right!.x - left!.x);
  const rotate = (angle: number, point: Point) =>
    transformPoint({ a: Math.cos(angle), b: Math.sin(angle), dx: 0, dy: 0 }, point);
  const bounds = boundingBox(points.map((point) => rotate(-radians, point)));
  return { center: rotate(radians, boxCenter(bounds)), side: longerSide(bounds) * MESH_MARGIN, radians };
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
