import type { Point } from "../geometry.ts";
import { LANDMARKS_68 } from "./landmarks68-table.ts";

/** The table is fitted up to this yaw. Beyond it there were too few faces, so the yaw is clamped. */
const MAX_YAW_DEGREES = 40;

/** Computes the 68 landmarks of a face, in the order of docs/api.md, from its mesh and yaw. */
export function landmarks68(mesh: readonly Point[], yawDegrees: number): Point[] {
  const yawSine = clampedYawSine(yawDegrees);
  return LANDMARKS_68.map(([from, to, weight, turn = 0]) => {
    const start = mesh[from]!;
    const end = mesh[to]!;
    const share = weight + turn * yawSine;
    return { x: start.x + share * (end.x - start.x), y: start.y + share * (end.y - start.y) };
  });
}

/** Returns the sine of the yaw, clamped to the range of the table. */
export function clampedYawSine(yawDegrees: number): number {
  const degrees = Math.min(MAX_YAW_DEGREES, Math.max(-MAX_YAW_DEGREES, yawDegrees));
  return Math.sin((degrees * Math.PI) / 180);
}
