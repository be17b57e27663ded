// The recorded results of the core for a few fixed photos: test/core/golden-faces.json. `npm run generate:samples`
// writes the file, and test/core/golden-faces.service.test.ts compares it with what the core measures.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAnalyzer } from "../../src/core/analyzer.ts";
import { decode } from "../../src/core/image/decode.ts";
import { DEFAULT_LIMITS } from "../../src/core/image/limits.ts";
import { type Point, poseOf } from "../../src/core/index.ts";
import type { Networks } from "../../src/core/networks.ts";
import { chooseTargets, settleFaces } from "../../src/core/steps/choose.ts";
import { fitMeshes, fivePointsOf } from "../../src/core/steps/mesh.ts";
import { PACKAGE_ROOT } from "../../src/package-root.ts";
import { readSamplePhoto } from "./sample-photos.ts";

const FILE = join(PACKAGE_ROOT, "test/core/golden-faces.json");

/** The photos: group photos of a package, and the portraits of the playground. Together they have 24 faces. */
const PHOTOS: Readonly<Record<string, () => Buffer>> = {
  ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((n) => [`sample ${n}`, () => readSamplePhoto(n)])),
  ...Object.fromEntries(["collins", "hopper"].map((name) => [name, () => readPortrait(name)])),
};

/** Decimals of each recorded quantity. */
const DECIMALS = {
  /** Left, top, right and bottom edge in pixels. */
  box: 2,
  /** x and y of the five points by which the face is aligned, in pixels. */
  points: 2,
  /** x and y of the 68 landmarks in pixels. */
  landmarks: 1,
  /** Yaw, pitch and roll in degrees. */
  pose: 2,
  /** Score in the photo, and score of the upright face in a crop of its own. */
  scores: 4,
  /** Mean luma, 0 to 255. */
  light: 2,
  /** Probability of each of the network's nine ages. */
  ages: 4,
  /** Probability of a man. */
  male: 4,
  /** The embedding. */
  embedding: 5,
};

export type Quantity = keyof typeof DECIMALS;

/** What the core measures of one face. */
export type GoldenFace = Readonly<Record<Quantity, readonly number[]>>;

/** What the core measures in all photos. */
export interface GoldenFaces {
  readonly identity: string;
  /** The faces by photo, the most prominent first. */
  readonly photos: Readonly<Record<string, readonly GoldenFace[]>>;
}

/** Measures the faces of all photos. */
export async function measureGoldenFaces(networks: Networks): Promise<GoldenFaces> {
  const photos: Record<string, readonly GoldenFace[]> = {};
  for (const [name, read] of Object.entries(PHOTOS)) photos[name] = await measureFaces(networks, read());
  return { identity: createAnalyzer(networks).identity, photos };
}

async function measureFaces(networks: Networks, bytes: Buffer): Promise<GoldenFace[]> {
  let probabilities: Readonly<Record<string, readonly Float32Array[]>> = {};
  const run: Networks["attributes"]["run"] = async (inputs) => {
    probabilities = await networks.attributes.run(inputs);
    return probabilities;
  };
  const analyzer = createAnalyzer({ ...networks, attributes: { run } });
  const { faces } = await analyzer.analyze(bytes, { embeddings: true });
  const points = await findPoints(networks, bytes);
  return faces.map((face, i) => {
    const { yawDegrees, pitchDegrees, rollDegrees } = poseOf(face);
    return {
      box: [face.box.x1, face.box.y1, face.box.x2, face.box.y2],
      points: points[i]!,
      landmarks: coordinatesOf(face.landmarks),
      pose: [yawDegrees, pitchDegrees, rollDegrees],
      scores: [face.score!, face.presence],
      light: [face.light],
      ages: [...probabilities.age![i]!],
      male: [...probabilities.male![i]!],
      embedding: [...face.embedding!],
    };
  });
}

/** The five points of each face. They are no result of an analysis, but decide the alignment. */
async function findPoints({ detect, mesh }: Networks, bytes: Buffer): Promise<number[][]> {
  const photo = await decode(bytes, DEFAULT_LIMITS);
  const { targets } = await chooseTargets(detect, photo, {}, "all");
  const faces = await settleFaces(detect, photo, targets, {});
  const scale = photo.width / photo.pixels.width;
  const seen = faces.map((face) => face.seen);
  const meshes = await fitMeshes(mesh, photo.pixels, seen);
  return meshes.map((one) => coordinatesOf(fivePointsOf(one)).map((value) => value * scale));
}

function coordinatesOf(points: readonly Point[]): number[] {
  return points.flatMap(({ x, y }) => [x, y]);
}

function readPortrait(name: string): Buffer {
  return readFileSync(join(PACKAGE_ROOT, `src/web/playground/samples/${name}.jpg`));
}

/** Writes measured faces: the numbers of each quantity as one text, separated by spaces. */
export function writeGoldenFaces(faces: GoldenFaces): void {
  const format = (key: string, value: unknown) =>
    isQuantity(key) ? (value as number[]).map((n) => n.toFixed(DECIMALS[key])).join(" ") : value;
  writeFileSync(FILE, `${JSON.stringify(faces, format, 2)}\n`);
}

/** Reads the recorded faces. */
export function readGoldenFaces(): GoldenFaces {
  const parse = (key: string, value: unknown) =>
    isQuantity(key) ? (value as string).split(" ").map(Number) : value;
  return JSON.parse(readFileSync(FILE, "utf8"), parse) as GoldenFaces;
}

function isQuantity(key: string): key is Quantity {
  return Object.hasOwn(DECIMALS, key);
}
