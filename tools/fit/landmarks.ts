// Fits the table that derives the 68 landmarks from the face mesh: `npm run fit:landmarks -- --data DIR`.
// Each landmark is interpolated between two mesh points. The table is symmetric: the right half mirrors the left.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Point } from "../../src/core/geometry.ts";
import { clampedYawSine } from "../../src/core/steps/landmarks68.ts";
import { MIRRORED } from "../../src/core/steps/mesh-mirror.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { readDatasetsFromArguments } from "../support/datasets.ts";
import { mean } from "../support/statistics.ts";
import { computeMeshes, type MeshedFace } from "./meshes.ts";

/** The landmark that each of the 68 becomes in a mirrored image. */
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

/**
 * Faces with a wrong mesh are outliers and are left out. Their mean error exceeds this share of the eye distance at the
 * landmarks that coincide with a mesh point.
 */
const MAX_MESH_ERROR = 0.15;
const KNOWN_POINTS = [
  [36, 33],
  [45, 263],
  [48, 61],
  [54, 291],
  [30, 1],
  [8, 152],
] as const;

/** How many of the nearest mesh points are tried as `from`, and how far away `to` may be, in eye distances. */
const FROM_CANDIDATES = 30;
const MAX_TO_DISTANCE = 0.6;

/** How many of the best rows by least squares are refined. */
const REFINED_ROWS = 10;

/** A weight outside 0 to 1 extrapolates. These bounds limit how far. */
const MIN_WEIGHT = -1;
const MAX_WEIGHT = 1.5;

const ROWS_PER_LINE = 4;

/** `weight` applies to a frontal face. `turn` times the sine of the yaw is added to it. */
type Row = readonly [from: number, to: number, weight: number, turn: number];

/** Only the jaw depends on the yaw: a turned head shows another contour of its surface. */
const JAW_END = 17;

const { landmarks68 } = readDatasetsFromArguments();
const samples = (await computeMeshes(landmarks68))
  .map(scaleToEyeDistance)
  .filter((face) => !hasWrongMesh(face))
  .flatMap((face) => [face, mirror(face)]);

const table: Row[] = [];
for (let landmark = 0; landmark < MIRRORED_68.length; landmark++) {
  const twin = MIRRORED_68[landmark]!;
  if (twin < landmark) {
    const [from, to, weight, turn] = table[twin]!;
    table[landmark] = [MIRRORED[from]!, MIRRORED[to]!, weight, -turn];
  } else table[landmark] = fitRow(landmark, twin === landmark);
}
const error = mean(table.map((row, landmark) => errorOf(row, landmark)));
writeFileSync(join(PACKAGE_ROOT, "src/core/steps/landmarks68-table.ts"), createTableSource(table));
console.log(
  `Fitted on ${samples.length / 2} faces: mean error ${(100 * error).toFixed(2)} % of the eye distance`,
);

/** The best row for a landmark. A landmark on the midline of the face uses mesh points of the midline only. */
function fitRow(landmark: number, isOnMidline: boolean): Row {
  const usable = MIRRORED.flatMap((twin, point) => (!isOnMidline || twin === point ? [point] : []));
  const nearest = usable
    .map((point) => ({ point, error: errorOf([point, point, 0, 0], landmark) }))
    .sort((one, other) => one.error - other.error);
  const rows = nearest.slice(0, FROM_CANDIDATES).flatMap(({ point: from }) =>
    nearest
      .filter(({ point: to, error }) => to !== from && error < MAX_TO_DISTANCE)
      .map(({ point: to }): Row => [from, to, ...solveWeights(from, to, landmark, isOnMidline)])
      .filter(([, , weight]) => weight >= MIN_WEIGHT && weight <= MAX_WEIGHT),
  );
  return rows
    .map((row) => ({ row, error: errorOf(row, landmark) }))
    .sort((one, other) => one.error - other.error)
    .slice(0, REFINED_ROWS)
    .map(({ row }) => refine(row, landmark))
    .reduce((one, other) => (other.error < one.error ? other : one)).row;
}

/** Moves the weights in steps of 0.01 while the mean error falls: least squares minimises the squared error instead. */
function refine(row: Row, landmark: number): { row: Row; error: number } {
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
        [1, -1].map(
          (sign): Row => [
            from,
            to,
            roundToHundredths(weight + sign * w!),
            roundToHundredths(turn + sign * t!),
          ],
        ),
      )
      .map((neighbour) => ({ row: neighbour, error: errorOf(neighbour, landmark) }));
    const next = neighbours.reduce((one, other) => (other.error < one.error ? other : one));
    improved = next.error < best.error;
    if (improved) best = next;
  }
  return best;
}

/** Solves the normal equations for weight and turn. Both are rounded to keep the table readable. */
function solveWeights(from: number, to: number, landmark: number, isOnMidline: boolean): [number, number] {
  let [rhsWeight, rhsTurn, weightWeight, weightTurn, turnTurn] = [0, 0, 0, 0, 0];
  for (const { mesh, landmarks, yawDegrees } of samples) {
    const dx = mesh[to]!.x - mesh[from]!.x;
    const dy = mesh[to]!.y - mesh[from]!.y;
    const projection =
      dx * (landmarks[landmark]!.x - mesh[from]!.x) + dy * (landmarks[landmark]!.y - mesh[from]!.y);
    const square = dx * dx + dy * dy;
    const sine = clampedYawSine(yawDegrees);
    rhsWeight += projection;
    rhsTurn += projection * sine;
    weightWeight += square;
    weightTurn += square * sine;
    turnTurn += square * sine * sine;
  }
  if (isOnMidline || landmark >= JAW_END) return [roundToHundredths(rhsWeight / weightWeight), 0];
  const determinant = weightWeight * turnTurn - weightTurn ** 2;
  return [
    roundToHundredths((rhsWeight * turnTurn - rhsTurn * weightTurn) / determinant),
    roundToHundredths((rhsTurn * weightWeight - rhsWeight * weightTurn) / determinant),
  ];
}

/** Mean distance between a row's landmark and the annotation, in eye distances. */
function errorOf([from, to, weight, turn]: Row, landmark: number): number {
  let sum = 0;
  for (const { mesh, landmarks, yawDegrees } of samples) {
    const position = weight + turn * clampedYawSine(yawDegrees);
    const x = mesh[from]!.x + position * (mesh[to]!.x - mesh[from]!.x);
    const y = mesh[from]!.y + position * (mesh[to]!.y - mesh[from]!.y);
    sum += Math.hypot(landmarks[landmark]!.x - x, landmarks[landmark]!.y - y);
  }
  return sum / samples.length;
}

function roundToHundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

function scaleToEyeDistance({ landmarks, mesh, yawDegrees }: MeshedFace): MeshedFace {
  const unit = Math.hypot(landmarks[36]!.x - landmarks[45]!.x, landmarks[36]!.y - landmarks[45]!.y);
  const scaled = ({ x, y }: Point) => ({ x: x / unit, y: y / unit });
  return { landmarks: landmarks.map(scaled), mesh: mesh.map(scaled), yawDegrees };
}

function hasWrongMesh({ landmarks, mesh }: MeshedFace): boolean {
  const errors = KNOWN_POINTS.map(([landmark, point]) =>
    Math.hypot(landmarks[landmark]!.x - mesh[point]!.x, landmarks[landmark]!.y - mesh[point]!.y),
  );
  return mean(errors) > MAX_MESH_ERROR;
}

function mirror({ landmarks, mesh, yawDegrees }: MeshedFace): MeshedFace {
  const flip = (points: readonly Point[], twins: readonly number[]) =>
    twins.map((twin) => ({ x: -points[twin]!.x, y: points[twin]!.y }));
  return { landmarks: flip(landmarks, MIRRORED_68), mesh: flip(mesh, MIRRORED), yawDegrees: -yawDegrees };
}

function range(from: number, to: number): number[] {
  const step = Math.sign(to - from);
  return Array.from({ length: Math.abs(to - from) + 1 }, (_, i) => from + i * step);
}

function createTableSource(rows: readonly Row[]): string {
  const lines = GROUPS.flatMap(([name, first, end]) => [
    `  // ${name}: ${first} to ${end - 1}.`,
    ...linesOf(rows.slice(first, end)),
  ]);
  return `/**
 * Interpolation table from the face mesh to the 68 landmarks of docs/api.md, in that order. A landmark lies between two
 * mesh points at from + weight * (to - from). On the jaw, \`turn\` times the sine of the yaw is added to the weight,
 * because the visible contour changes with the yaw. Written by \`npm run fit:landmarks\`; the right half mirrors the
 * left.
 */
// biome-ignore format: a table
export const LANDMARKS_68: readonly (readonly [from: number, to: number, weight: number, turn?: number])[] = [
${lines.join("\n")}
];
`;
}

/** Writes four rows of the table in each line. */
function linesOf(rows: readonly Row[]): string[] {
  const texts = rows.map(([from, to, weight, turn]) => {
    const numbers = turn === 0 ? [from, to, weight] : [from, to, weight, turn];
    return `[${numbers.join(", ")}],`;
  });
  return texts.flatMap((_, i) =>
    i % ROWS_PER_LINE === 0 ? [`  ${texts.slice(i, i + ROWS_PER_LINE).join(" ")}`] : [],
  );
}
