import type { MeshPoint } from "./mesh.ts";
import { MIRRORED } from "./mesh-mirror.ts";

/** Head pose in degrees. All angles are 0 for a face that looks straight into the camera. */
export interface Pose {
  /** Positive when turned towards the right side of the image. */
  readonly yawDegrees: number;
  /** Positive when looking up. */
  readonly pitchDegrees: number;
  /** Positive when leaning clockwise as seen on screen. */
  readonly rollDegrees: number;
}

type Vector3 = MeshPoint;

const ORIGIN: Vector3 = { x: 0, y: 0, z: 0 };

/** Top of the forehead and tip of the chin. */
const FOREHEAD = 10;
const CHIN = 152;

/** Pitch of the line between them on a face that looks straight ahead (median of 290 portraits). */
const NEUTRAL_PITCH_DEGREES = -7;

/** Measures the pose of a mesh. One axis joins the mirrored points of both halves, another runs from forehead to chin. */
export function measurePose(points: readonly MeshPoint[]): Pose {
  const acrossSum = points.reduce((total: Vector3, point, i) => {
    const other = MIRRORED[i]!;
    return other > i ? sum(total, difference(point, points[other]!)) : total;
  }, ORIGIN);
  const across = normalize(acrossSum);
  const forward = normalize(cross(across, difference(points[FOREHEAD]!, points[CHIN]!)));
  return {
    yawDegrees: degrees(Math.atan2(-forward.x, forward.z)),
    pitchDegrees: degrees(Math.asin(forward.y)) - NEUTRAL_PITCH_DEGREES,
    rollDegrees: degrees(Math.atan2(across.y, across.x)),
  };
}

function difference(from: Vector3, to: Vector3): Vector3 {
  return { x: to.x - from.x, y: to.y - from.y, z: to.z - from.z };
}

function sum(one: Vector3, other: Vector3): Vector3 {
  return { x: one.x + other.x, y: one.y + other.y, z: one.z + other.z };
}

function cross(one: Vector3, other: Vector3): Vector3 {
  return {
    x: one.y * other.z - one.z * other.y,
    y: one.z * other.x - one.x * other.z,
    z: one.x * other.y - one.y * other.x,
  };
}

function normalize({ x, y, z }: Vector3): Vector3 {
  const length = Math.hypot(x, y, z);
  return { x: x / length, y: y / length, z: z / length };
}

function degrees(radians: number): number {
  return (radians * 180) / Math.PI;
}
