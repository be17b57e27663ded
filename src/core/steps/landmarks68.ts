import type { Point } from "../types.ts";
import { LANDMARKS_68 } from "./landmarks68-table.ts";

/** Faces turned farther than this were too few to fit on: beyond it the table stays as it is here. */
const FARTHEST_YAW_DEGREES = 40;

/** The 68 landmarks of a face, in the spec's numbering (2.6), from its mesh and how far it is turned. */
export function landmarks68(mesh: readonly Point[], yawDegrees: number): Point[] {
  const sine = turnOf(yawDegrees);
  return LANDMARKS_68.map(([from, to, weight, turn = 0]) => {
    const start = mesh[from]!;
    const end = mesh[to]!;
    const share = weight + turn * sine;
    return { x: start.x + share * (end.x - start.x), y: start.y + share * (end.y - start.y) };
  });
}

/** The sine of the yaw as the table counts it. */
export function turnOf(yawDegrees: number): number {
  const degrees = Math.min(FARTHEST_YAW_DEGREES, Math.max(-FARTHEST_YAW_DEGREES, yawDegrees));
  return Math.sin((degrees * Math.PI) / 180);
}
