// Fits the table that gives the 68 points from the mesh: `npm run fit:landmarks -- --data DIR`.
// Each point becomes a place between two mesh points, the same for a face and its mirror image.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { mean } from "../../bench/report.ts";
import { turnOf } from "../../src/core/steps/landmarks68.ts";
import { MIRRORED } from "../../src/core/steps/mesh-mirror.ts";
import type { Point } from "../../src/core/types.ts";
import { PACKAGE_ROOT } from "../../src/model-manifest.ts";
import { dataDirFromArguments } from "../support/arguments.ts";
import { readDatasets } from "../support/datasets.ts";
import { type MeshedFace, meshedFacesToFit } from "./meshes.ts";

/** The landmark that each of the 68 becomes in a mirrored photo. */
const MIRRORED_68 = [
  ...range(16, 0),
  ...range(26, 17),
  ...range(27, 30),
  ...range(35, 31),
  ...[45, 44, 43, 42, 47, 46],
  ...[39, 38, 37, 36, 41, 40],
  ...range(54, 48),
  ...range(59, 55),
  ...range(64, 60),
  ...range(67, 65),
];

const GROUPS: readonly (readonly [string, number, number])[] = [
  ["Jaw", 0, 17],
  ["Left eyebrow", 17, 22],
  ["Right eyebrow", 22, 27],
  ["Nose", 27, 36],
  ["Left eye", 36, 42],
  ["Right eye", 42, 48],
  ["Lips", 48, 68],
];

/** Faces whose mesh went astray would drag the fit: those with a mean error of known points above this. */
const ASTRAY = 0.15;
const KNOWN_POINTS = [
  [36, 33],
  [45, 263],
  [48, 61],
  [54, 291],
  [30, 1],
  [8, 152],
] as const;

/** How many mesh points near a landmark are tried as the start of the line, and how near the end must be. */
const STARTS = 30;
const FARTHEST_END = 0.6;

/** How many of the best lines by least squares have their weights polished. */
const FINALISTS = 10;

/** A line between two mesh points may be drawn out, but not far. */
const WEIGHTS = { least: -1, most: 1.5 };

/** The weight is that of a face seen from the front; `turn` times the sine of the yaw is added to it. */
type Row = readonly [from: number, to: number, weight: number, turn: number];

/** The contour that is seen of a turned face is another line of its surface; elsewhere turning changes little. */
const JAW_END = 17;

const { landmarks68 } = readDatasets(dataDirFromArguments());
const samples = (await meshedFacesToFit(landmarks68))
  .map(inEyeDistances)
  .filter((face) => !isAstray(face))
  .flatMap((face) => [face, mirrorImage(face)]);

const table: Row[] = [];
for (let landmark = 0; landmark < MIRRORED_68.length; landmark++) {
  const twin = MIRRORED_68[landmark]!;
  if (twin < landmark) {
    const [from, to, weight, turn] = table[twin]!;
    table[landmark] = [MIRRORED[from]!, MIRRORED[to]!, weight, -turn];
  } else table[landmark] = fitRow(landmark, twin === landmark);
}
const error = mean(table.map((row, landmark) => errorOf(row, landmark)));
writeFileSync(join(PACKAGE_ROOT, "src/core/steps/landmarks68-table.ts"), sourceOf(table));
console.log(`fitted on ${samples.length / 2} faces, mean error ${(100 * error).toFixed(2)} %`);

/** The best line for a landmark; one on the middle line of the face takes mesh points of the middle line. */
function fitRow(landmark: number, isMiddle: boolean): Row {
  const usable = MIRRORED.flatMap((twin, point) => (!isMiddle || twin === point ? [point] : []));
  const alone = usable
    .map((point) => ({ point, error: errorOf([point, point, 0, 0], landmark) }))
    .sort((one, other) => one.error - other.error);
  const rows = alone.slice(0, STARTS).flatMap(({ point: from }) =>
    alone
      .filter(({ point: to, error }) => to !== from && error < FARTHEST_END)
      .map(({ point: to }): Row => [from, to, ...bestWeights(from, to, landmark, isMiddle)])
      .filter(([, , weight]) => weight >= WEIGHTS.least && weight <= WEIGHTS.most),
  );
  return rows
    .map((row) => ({ row, error: errorOf(row, landmark) }))
    .sort((one, other) => one.error - other.error)
    .slice(0, FINALISTS)
    .map(({ row }) => polished(row, landmark))
    .reduce((one, other) => (other.error < one.error ? other : one)).row;
}

/** Moves the weights by hundredths while the mean error, which squares only stand in for, still falls. */
function polished(row: Row, landmark: number): { row: Row; error: number } {
  let best = { row, error: errorOf(row, landmark) };
  for (let improved = true; improved; ) {
    const [from, to, weight, turn] = best.row;
    const steps =
      turn === 0
        ? [[0.01, 0]]
        : [
            [0.01, 0],
            [0, 0.01],
          ];
    const neighbours = steps
      .flatMap(([w, t]) =>
        [1, -1].map((sign): Row => [from, to, hundredths(weight + sign * w!), hundredths(turn + sign * t!)]),
      )
      .map((neighbour) => ({ row: neighbour, error: errorOf(neighbour, landmark) }));
    const next = neighbours.reduce((one, other) => (other.error < one.error ? other : one));
    improved = next.error < best.error;
    if (improved) best = next;
  }
  return best;
}

/** Weight and turn by least squares, rounded so that the table stays readable. */
function bestWeights(from: number, to: number, landmark: number, isMiddle: boolean): [number, number] {
  let [along, alongTurned, length, lengthTurned, lengthTwiceTurned] = [0, 0, 0, 0, 0];
  for (const { mesh, annotated, yawDegrees } of samples) {
    const dx = mesh[to]!.x - mesh[from]!.x;
    const dy = mesh[to]!.y - mesh[from]!.y;
    const share =
      dx * (annotated[landmark]!.x - mesh[from]!.x) + dy * (annotated[landmark]!.y - mesh[from]!.y);
    const square = dx * dx + dy * dy;
    const sine = turnOf(yawDegrees);
    along += share;
    alongTurned += share * sine;
    length += square;
    lengthTurned += square * sine;
    lengthTwiceTurned += square * sine * sine;
  }
  if (isMiddle || landmark >= JAW_END) return [hundredths(along / length), 0];
  const determinant = length * lengthTwiceTurned - lengthTurned ** 2;
  return [
    hundredths((along * lengthTwiceTurned - alongTurned * lengthTurned) / determinant),
    hundredths((alongTurned * length - along * lengthTurned) / determinant),
  ];
}

function errorOf([from, to, weight, turn]: Row, landmark: number): number {
  let sum = 0;
  for (const { mesh, annotated, yawDegrees } of samples) {
    const share = weight + turn * turnOf(yawDegrees);
    const x = mesh[from]!.x + share * (mesh[to]!.x - mesh[from]!.x);
    const y = mesh[from]!.y + share * (mesh[to]!.y - mesh[from]!.y);
    sum += Math.hypot(annotated[landmark]!.x - x, annotated[landmark]!.y - y);
  }
  return sum / samples.length;
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

function inEyeDistances({ annotated, mesh, yawDegrees }: MeshedFace): MeshedFace {
  const unit = Math.hypot(annotated[36]!.x - annotated[45]!.x, annotated[36]!.y - annotated[45]!.y);
  const scaled = ({ x, y }: Point) => ({ x: x / unit, y: y / unit });
  return { annotated: annotated.map(scaled), mesh: mesh.map(scaled), yawDegrees };
}

function isAstray({ annotated, mesh }: MeshedFace): boolean {
  const errors = KNOWN_POINTS.map(([landmark, point]) =>
    Math.hypot(annotated[landmark]!.x - mesh[point]!.x, annotated[landmark]!.y - mesh[point]!.y),
  );
  return mean(errors) > ASTRAY;
}

function mirrorImage({ annotated, mesh, yawDegrees }: MeshedFace): MeshedFace {
  const flip = (points: readonly Point[], twins: readonly number[]) =>
    twins.map((twin) => ({ x: -points[twin]!.x, y: points[twin]!.y }));
  return { annotated: flip(annotated, MIRRORED_68), mesh: flip(mesh, MIRRORED), yawDegrees: -yawDegrees };
}

function range(from: number, to: number): number[] {
  const step = Math.sign(to - from);
  return Array.from({ length: Math.abs(to - from) + 1 }, (_, i) => from + i * step);
}

function sourceOf(rows: readonly Row[]): string {
  const lines = GROUPS.flatMap(([name, first, end]) => [
    `  // ${name}: ${first} to ${end - 1}.`,
    ...rows.slice(first, end).map(([from, to, weight, turn]) => {
      const numbers = turn === 0 ? [from, to, weight] : [from, to, weight, turn];
      return `  [${numbers.join(", ")}],`;
    }),
  ]);
  return `/**
 * Where each of the spec's 68 points (2.6, in its numbering) lies on the mesh: between two mesh
 * points, at from + weight (to - from). On the jaw the weight changes with the yaw, as the contour
 * that is seen does: turn times its sine is added. Written by \`npm run fit:landmarks\` from
 * annotated photographs; the right half mirrors the left.
 */
export const LANDMARKS_68: readonly (readonly [from: number, to: number, weight: number, turn?: number])[] = [
${lines.join("\n")}
];
`;
}
