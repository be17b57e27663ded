import { forget } from "./crop/sample.ts";
import { FaceError } from "./errors.ts";
import { intersectionOf, scaleBox } from "./geometry.ts";
import { identityOf } from "./identity.ts";
import { decode } from "./image/decode.ts";
import { checkBoxCount, DEFAULT_LIMITS, type ImageLimits } from "./limits.ts";
import type { Drawing, Network, Networks } from "./networks.ts";
import { FACES_PER_TURN, ONE_TURN, type Progress, type TurnLimits } from "./progress.ts";
import { byRank } from "./rank.ts";
import { align } from "./steps/align.ts";
import { type Attributes, readAttributes } from "./steps/attributes.ts";
import { type Chosen, type ChosenFace, chooseFaces, type Selection } from "./steps/choose.ts";
import { embed, type Vector } from "./steps/embed.ts";
import type { FoundFace } from "./steps/find.ts";
import { landmarks68 } from "./steps/landmarks68.ts";
import { measureLight } from "./steps/light.ts";
import { measurePose, type Pose } from "./steps/pose.ts";
import {
  type AnalyzeTurn,
  analysisFromTurns,
  type EmbedTurn,
  embeddingFromTurns,
  type RankedFace,
} from "./turns.ts";
import type { Box, Photo, Point } from "./types.ts";

/** A step whose time is told; `queue` is the wait for a worker, where there are any. */
export type Stage = "queue" | "decode" | "detect" | "mesh" | "attributes" | "embed";

/** Settings of an analyzer. */
export interface AnalyzerOptions {
  /** Folder of the prepared networks. */
  readonly modelsDir: string;
  /** SHA-256 that a network's file must have, by the network's name; any file will do where none is given. */
  readonly digests?: Readonly<Record<string, string>>;
  /** What one image may cost; 10 MiB and 40 megapixels unless said otherwise. */
  readonly limits?: Partial<ImageLimits>;
}

/** What to do with one image. */
export interface CallOptions extends Selection {
  /** Ends the work between two steps with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Told how many milliseconds each step took. */
  readonly onStage?: ((stage: Stage, milliseconds: number) => void) | undefined;
}

/** Settings of `analyze`. */
export interface AnalyzeOptions extends CallOptions {
  /** Also computes each face's vector. */
  readonly vectors?: boolean;
}

/** What every face is told by. All places are in pixels of the upright image as sent. */
export interface FaceBasics {
  /** The face from forehead to chin, cut at the image's edges. */
  readonly box: Box;
  /** The detector's score, 0 to 1; missing where the caller gave the box. */
  readonly score?: number;
  /** Probability of a face by the mesh, 0 to 1. */
  readonly presence: number;
  readonly pose: Pose;
  /** Mean luma of the face, 0 to 255. */
  readonly light: number;
}

/** One face of an analysed image. */
export interface Face extends FaceBasics, Attributes {
  /** 68 points in the spec's numbering. */
  readonly landmarks: readonly Point[];
  readonly vector?: Vector;
}

/** All that was found in an image; the first face is the most prominent one. */
export interface Analysis {
  /** Size of the upright image as sent. */
  readonly width: number;
  readonly height: number;
  /** Number of faces in the image; only the 256 most prominent are in `faces`. */
  readonly facesFound: number;
  readonly faces: readonly Face[];
}

/** The chosen face of an image as a vector. */
export interface Embedding extends FaceBasics {
  /** Size of the upright image as sent. */
  readonly width: number;
  readonly height: number;
  /** Number of faces in the image; the 256 most prominent are considered. */
  readonly facesFound: number;
  readonly vector: Vector;
}

/** The four networks, loaded, and what can be asked of them. */
export interface Analyzer {
  /** Names the networks and the preprocessing behind the vectors. */
  readonly identity: string;
  /** Everything about every face; no face is an empty list. */
  analyze(image: Uint8Array, options?: AnalyzeOptions): Promise<Analysis>;
  /** The vector of the one face that is meant; throws FaceError `noFace` if there is none. */
  embed(image: Uint8Array, options?: CallOptions): Promise<Embedding>;
  /** Frees the networks; the analyzer cannot be used afterwards. */
  close(): Promise<void>;
}

/** An analyzer of networks that are loaded already, which it closes in the end. */
export function analyzerFromNetworks(networks: Networks, limits: Partial<ImageLimits> = {}): Analyzer {
  const turns = turnsFromNetworks(networks, limits, ONE_TURN);
  return {
    identity: identityOf(networks.digests),
    analyze: async (image, options) => analysisFromTurns([await turns.analyze(image, options)]),
    embed: async (image, options) => embeddingFromTurns([await turns.embed(image, options)]),
    close: () => networks.close(),
  };
}

/** An analyzer that does its work in turns. */
export interface TurnAnalyzer {
  /** Does the next turn of `analyze`, from the beginning or from the `next` of the turn before. */
  analyze(image: Uint8Array, options?: AnalyzeOptions, progress?: Progress): Promise<AnalyzeTurn>;
  /** Does the next turn of `embed`; throws FaceError `noFace` in the last one if there is none. */
  embed(image: Uint8Array, options?: CallOptions, progress?: Progress): Promise<EmbedTurn>;
}

/** An analyzer whose turns have these limits. */
export function turnsFromNetworks(
  networks: Networks,
  imageLimits: Partial<ImageLimits>,
  turnLimits: TurnLimits,
): TurnAnalyzer {
  const limits = { ...DEFAULT_LIMITS, ...imageLimits };
  return {
    analyze: async (image, options = {}, progress) => {
      checkBoxCount("analyze", options.boxes);
      return withFaces(networks, limits, image, options, { progress, limits: turnLimits }, (chosen) =>
        analyze(networks, chosen, options),
      );
    },
    embed: async (image, options = {}, progress) => {
      checkBoxCount("embed", options.boxes);
      return withFaces(networks, limits, image, options, { progress, limits: turnLimits }, (chosen) =>
        embedOne(networks, chosen, options),
      );
    },
  };
}

async function analyze(
  networks: Networks,
  { photo, chosen }: ChosenIn,
  options: AnalyzeOptions,
): Promise<AnalyzeTurn> {
  const faces: RankedFace[] = [];
  // In groups as large as a worker's turn, so that the networks see the same batches however many turns there are.
  for (let start = 0; start < chosen.faces.length || start === 0; start += FACES_PER_TURN) {
    const group = byRank(chosen.faces.slice(start, start + FACES_PER_TURN));
    faces.push(...(await describe(networks, photo, group, options)));
  }
  const { width, height } = photo;
  return { width, height, ...turnOf(chosen), faces };
}

async function describe(
  networks: Networks,
  photo: Photo,
  found: readonly ChosenFace[],
  options: AnalyzeOptions,
): Promise<RankedFace[]> {
  const meshes = found.map(({ mesh }) => mesh.points);
  const attributes = await timed("attributes", options, () =>
    readAttributes(networks.attributes, photo.pixels, meshes),
  );
  const vectors = options.vectors ? await vectorsOf(networks, photo, found, options) : [];
  return found.map((face, i) => {
    const basics = basicsOf(photo, face);
    const landmarks = landmarks68(face.mesh.points, basics.pose.yawDegrees);
    return {
      rank: face.rank,
      ...basics,
      ...attributes[i]!,
      landmarks: landmarks.map((point) => fullSizePoint(photo, point)),
      ...(vectors[i] && { vector: vectors[i] }),
    };
  });
}

async function embedOne(
  networks: Networks,
  { photo, chosen }: ChosenIn,
  options: CallOptions,
): Promise<EmbedTurn> {
  const [face] = byRank(chosen.faces);
  const { width, height } = photo;
  if (!face) {
    if (!chosen.next) throw new FaceError("noFace", "No face was found in the image.");
    return { width, height, ...turnOf(chosen), faces: [] };
  }
  const [vector] = await vectorsOf(networks, photo, [face], options);
  const best = { rank: face.rank, ...basicsOf(photo, face), vector: vector! };
  return { width, height, ...turnOf(chosen), faces: [best] };
}

function turnOf({ facesFound, next }: Chosen) {
  return { facesFound, ...(next && { next }) };
}

/** A photo, and the faces of a turn. */
interface ChosenIn {
  readonly photo: Photo;
  readonly chosen: Chosen;
}

/** Decodes an image and finds its faces, for whatever is asked about them. */
async function withFaces<T>(
  networks: Networks,
  limits: ImageLimits,
  bytes: Uint8Array,
  options: CallOptions,
  turn: { readonly progress: Progress | undefined; readonly limits: TurnLimits },
  ask: (chosen: ChosenIn) => Promise<T>,
): Promise<T> {
  const photo = await timed("decode", options, () => decode(bytes, limits, options.signal));
  try {
    return await ask({ photo, chosen: await chooseIn(photo, networks, options, turn) });
  } finally {
    forget(photo.pixels);
  }
}

async function chooseIn(
  photo: Photo,
  networks: Networks,
  options: CallOptions,
  turn: { readonly progress: Progress | undefined; readonly limits: TurnLimits },
): Promise<Chosen> {
  // Detection and meshes alternate, so their times are added up.
  const [detect, mesh] = [new TimedNetwork(networks.detect), new TimedNetwork(networks.mesh)];
  const chosen = await chooseFaces({ ...networks, detect, mesh }, photo, options, turn, options.signal);
  if (detect.milliseconds > 0) options.onStage?.("detect", detect.milliseconds);
  if (mesh.milliseconds > 0) options.onStage?.("mesh", mesh.milliseconds);
  options.signal?.throwIfAborted();
  return chosen;
}

/** A network that knows how long it ran, the making of its images included. */
class TimedNetwork implements Network {
  milliseconds = 0;
  readonly #network: Network;

  constructor(network: Network) {
    this.#network = network;
  }

  async run(drawings: readonly Drawing[]): ReturnType<Network["run"]> {
    const start = performance.now();
    const rows = await this.#network.run(drawings);
    if (drawings.length > 0) this.milliseconds += performance.now() - start;
    return rows;
  }
}

function vectorsOf(networks: Networks, { pixels }: Photo, found: readonly FoundFace[], options: CallOptions) {
  return timed("embed", options, () =>
    embed(
      networks.embed,
      found.map(({ mesh }) => align(pixels, mesh.points)),
    ),
  );
}

async function timed<T>(stage: Stage, { signal, onStage }: CallOptions, step: () => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  const start = performance.now();
  const result = await step();
  onStage?.(stage, performance.now() - start);
  signal?.throwIfAborted();
  return result;
}

function basicsOf(photo: Photo, { box, score, mesh }: FoundFace): FaceBasics {
  const { pixels, width, height } = photo;
  const fullSize = scaleBox(box, width / pixels.width, height / pixels.height);
  return {
    box: intersectionOf(fullSize, { x1: 0, y1: 0, x2: width, y2: height }),
    ...(score !== undefined && { score }),
    presence: mesh.presence,
    pose: measurePose(mesh.points),
    light: measureLight(pixels, box),
  };
}

function fullSizePoint({ pixels, width, height }: Photo, { x, y }: Point): Point {
  return { x: (x * width) / pixels.width, y: (y * height) / pixels.height };
}
