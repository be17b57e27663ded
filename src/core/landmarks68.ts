import type { Point } from "./types.ts";

/**
 * Where each of the spec's 68 points (2.6, in its numbering) lies on the mesh: between two mesh
 * points, at from + weight (to - from). Fitted by `npm run fit:landmarks` on annotated photographs; the right
 * half mirrors the left.
 */
// biome-ignore format: a table
const TABLE: readonly (readonly [from: number, to: number, weight: number])[] = [
  // Jaw: 0 to 16.
  [127, 222, -0.03], [137, 213, -0.38], [213, 177, 1.42], [177, 137, -1], [187, 138, 1.22], [135, 192, -0.6],
  [170, 186, -0.22], [148, 395, -0.1], [0, 175, 1.15], [377, 170, -0.1], [395, 410, -0.22], [364, 416, -0.6],
  [411, 367, 1.22], [401, 366, -1], [433, 401, 1.42], [366, 433, -0.38], [356, 442, -0.03],
  // Left eyebrow: 17 to 21.
  [70, 104, -0.17], [63, 145, 0.03], [105, 285, 0.07], [107, 63, 0.27], [55, 233, -0.23],
  // Right eyebrow: 22 to 26.
  [285, 453, -0.23], [336, 293, 0.27], [334, 55, 0.07], [293, 374, 0.03], [300, 333, -0.17],
  // Nose: 27 to 35.
  [9, 168, 1.14], [168, 1, 0.32], [1, 168, 0.41], [94, 13, -0.5], [75, 248, -0.08], [99, 115, -0.14],
  [152, 2, 0.97], [328, 344, -0.14], [305, 3, -0.08],
  // Left eye: 36 to 41.
  [113, 33, 1.3], [246, 159, 0.72], [157, 256, -0.1], [133, 189, -0.23], [133, 441, -0.28], [144, 216, 0.01],
  // Right eye: 42 to 47.
  [362, 413, -0.23], [384, 26, -0.1], [466, 386, 0.72], [342, 263, 1.3], [373, 436, 0.01], [362, 221, -0.28],
  // Lips: 48 to 67.
  [61, 44, -0.03], [72, 40, 0.73], [0, 39, 0.42], [0, 19, -0.12], [0, 269, 0.42], [302, 270, 0.73],
  [291, 274, -0.03], [321, 436, -0.18], [314, 402, -0.1], [234, 17, 1.01], [84, 178, -0.1], [91, 216, -0.18],
  [62, 206, -0.07], [13, 271, -0.54], [12, 152, 0.04], [13, 41, -0.54], [292, 426, -0.07], [316, 275, 0.04],
  [234, 14, 1.02], [86, 45, 0.04],
];

/** The 68 landmarks of a face from its mesh. */
export function landmarks68(mesh: readonly Point[]): Point[] {
  return TABLE.map(([from, to, weight]) => {
    const start = mesh[from]!;
    const end = mesh[to]!;
    return { x: start.x + weight * (end.x - start.x), y: start.y + weight * (end.y - start.y) };
  });
}
