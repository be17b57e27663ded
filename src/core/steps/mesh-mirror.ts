/** Number of points of the mesh. */
const POINTS = 468;

/** The points on the middle line of the face, from forehead to chin or inside the lips; mirroring leaves them. */
const MIDDLE_LINE = [
  0, 1, 2, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 94, 151, 152, 164, 168, 175, 195, 197, 199,
  200,
];

/** The points are numbered so that those of the right half follow, from here on, in the order of the left half's. */
const FIRST_OF_RIGHT_HALF = 248;

/** The point that each of the 468 becomes when the face is mirrored. */
export const MIRRORED: readonly number[] = twinsOf(POINTS);

function twinsOf(points: number): number[] {
  const twins = Array.from({ length: points }, (_, point) => point);
  let right = FIRST_OF_RIGHT_HALF;
  for (let left = 0; left < FIRST_OF_RIGHT_HALF; left++) {
    if (MIDDLE_LINE.includes(left)) continue;
    twins[left] = right;
    twins[right++] = left;
  }
  return twins;
}
