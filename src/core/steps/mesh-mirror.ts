/** Number of mesh points. */
const POINTS = 468;

/** Points on the midline of the face, from forehead to chin and inside the lips. Mirroring maps each to itself. */
const MIDLINE = [
  0, 1, 2, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 94, 151, 152, 164, 168, 175, 195, 197, 199,
  200,
];

/** First point of the right half. The points of the right half have the same order as those of the left. */
const FIRST_RIGHT_POINT = 248;

/** The counterpart of each of the 468 points in the mirrored face. */
export const MIRRORED: readonly number[] = pairPoints();

function pairPoints(): number[] {
  const pairs = Array.from({ length: POINTS }, (_, point) => point);
  let right = FIRST_RIGHT_POINT;
  for (let left = 0; left < FIRST_RIGHT_POINT; left++) {
    if (MIDLINE.includes(left)) continue;
    pairs[left] = right;
    pairs[right++] = left;
  }
  return pairs;
}
