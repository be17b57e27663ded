import { LANDMARKS_68 } from "./landmarks68-table.ts";
import type { Point } from "./types.ts";

/** The 68 landmarks of a face, in the spec's numbering (2.6), from its mesh and how far it is turned. */
export function landmarks68(mesh: readonly Point[], yawDegrees: number): Point[] {
  const sine = Math.sin((yawDegrees * Math.PI) / 180);
  return LANDMARKS_68.map(([from, to, weight, turn = 0]) => {
    const start = mesh[from]!;
    const end = mesh[to]!;
    const share = weight + turn * sine;
    return { x: start.x + share * (end.x - start.x), y: start.y + share * (end.y - start.y) };
  });
}
