import { releasePyramid } from "./crop/image-pyramid.ts";
import { FaceError } from "./errors.ts";
import { intersectBoxes, scaleBox } from "./geometry.ts";
import { decode } from "./image/decode.ts";
import { DEFAULT_LIMITS, type ImageLimits } from "./image/limits.ts";
import type { Network, Networks, TensorWriter } from "./networks.ts";
import {
  type Checkpoint,
  FACES_PER_PART,
  limitFaces,
  mergeAnalysis,
  mergeEmbedding,
  NO_PART_LIMITS,
  type PartialAnalysis,
  type PartialEmbedding,
  type PartLimits,
  type RankedFace,
} from "./partial-work.ts";
import { align } from "./steps/align.ts";
import { estimateAttributes } from "./steps/attributes.ts";
import { type ChosenFace, type ChosenFaces, chooseFaces } from "./steps/choose.ts";
import { embed, embeddingIdentity } from "./steps/embed.ts";
import type { FoundFace } from "./steps/find.ts";
import { landmarks68 } from "./steps/landmarks68.ts";
import { measureLight } from "./steps/light.ts";
import { measurePose } from "./steps/pose.ts";
import { sortByRank } from "./steps/rank.ts";
import { checkBoxCount } from "./steps/selection.ts";
import type { AnalyzeOptions, Analyzer, CallOptions, FaceBasics, Photo, Point, Stage } from "./types.ts";

/** Creates an analyzer of loaded networks. Closing the analyzer closes the networks. */
export function createAnalyzer(networks: Networks, limits: Partial<ImageLimits> = {}): Analyzer {
  const analyzer = createResumableAnalyzer(networks, limits, NO_PART_LIMITS);
  return {
    identity: embeddingIdentity(networks.digests),
    analyze: async (image, options) => mergeAnalysis([await analyzer.analyze(image, options)], options),
    embed: async (image, options) => mergeEmbedding([await analyzer.embed(image, options)]),
    close: () => networks.close(),
  };
}

/** An analyzer that does its work in parts. Each call does one part and returns where to resume. */
export interface ResumableAnalyzer {
  /** Does the first part of `analyze`, or the part after a checkpoint. */
  analyze(image: Uint8Array, options?: AnalyzeOptions, checkpoint?: Checkpoint): Promise<PartialAnalysis>;
  /** Does a part of `embed`. Throws FaceError `noFace` if the search ends without a face. */
  embed(image: Uint8Array, options?: CallOptions, checkpoint?: Checkpoint): Promise<PartialEmbedding>;
}

/** Creates an analyzer whose parts have the given limits. */
export function createResumableAnalyzer(
  networks: Networks,
  imageLimits: Partial<ImageLimits>,
  partLimits: PartLimits,
): ResumableAnalyzer {
  const limits = { ...DEFAULT_LIMITS, ...imageLimits };
  return {
    analyze: async (image, options = {}, checkpoint) => {
      checkBoxCount("analyze", options.boxes);
      const part = { checkpoint, limits: partLimits };
      return withFaces(networks, limits, image, options, part, (photo, chosen) =>
        analyzeFaces(networks, photo, chosen, options),
      );
    },
    embed: async (image, options = {}, checkpoint) => {
      checkBoxCount("embed", options.boxes);
      const part = { checkpoint, limits: partLimits };
      return withFaces(networks, limits, image, options, part, (photo, chosen) =>
        embedFirstFace(networks, photo, chosen, options),
      );
    },
  };
}

async function analyzeFaces(
  networks: Networks,
  photo: Photo,
  chosen: ChosenFaces,
  options: AnalyzeOptions,
): Promise<PartialAnalysis> {
  const faces: RankedFace[] = [];
  // Grouped as in a worker's part, so that the networks get the same batches however the work is divided.
  for (let start = 0; start < chosen.faces.length || start === 0; start += FACES_PER_PART) {
    const group = limitFaces(chosen.faces.slice(start, start + FACES_PER_PART), options);
    faces.push(...(await measureFaces(networks, photo, group, options)));
  }
  const { width, height } = photo;
  return { width, height, ...chosen, faces };
}

async function measureFaces(
  networks: Networks,
  photo: Photo,
  chosen: readonly ChosenFace[],
  options: AnalyzeOptions,
): Promise<RankedFace[]> {
  const meshes = chosen.map(({ mesh }) => mesh.points);
  const attributes =
    options.attributes === false
      ? []
      : await timed("attributes", options, () =>
          estimateAttributes(networks.attributes, photo.pixels, meshes),
        );
  const vectors = options.vectors ? await embedFaces(networks, photo, chosen, options) : [];
  return chosen.map((face, i) => {
    const basics = measureBasics(photo, face);
    const landmarks = landmarks68(face.mesh.points, basics.pose.yawDegrees);
    return {
      rank: face.rank,
      ...basics,
      ...attributes[i],
      landmarks: landmarks.map((point) => fullSizePoint(photo, point)),
      ...(vectors[i] && { vector: vectors[i] }),
    };
  });
}

async function embedFirstFace(
  networks: Networks,
  photo: Photo,
  chosen: ChosenFaces,
  options: CallOptions,
): Promise<PartialEmbedding> {
  const [face] = sortByRank(chosen.faces);
  const { width, height } = photo;
  if (!face) {
    if (!chosen.checkpoint) throw new FaceError("noFace", "No face was found in the image.");
    return { width, height, ...chosen, faces: [] };
  }
  const [vector] = await embedFaces(networks, photo, [face], options);
  const embedded = { rank: face.rank, ...measureBasics(photo, face), vector: vector! };
  return { width, height, ...chosen, faces: [embedded] };
}

/** Decodes an image, chooses its faces, and passes both to `process`. */
async function withFaces<T>(
  networks: Networks,
  limits: ImageLimits,
  bytes: Uint8Array,
  options: CallOptions,
  part: { readonly checkpoint: Checkpoint | undefined; readonly limits: PartLimits },
  process: (photo: Photo, chosen: ChosenFaces) => Promise<T>,
): Promise<T> {
  const photo = await timed("decode", options, () => decode(bytes, limits, options.signal));
  try {
    return await process(photo, await chooseTimed(photo, networks, options, part));
  } finally {
    releasePyramid(photo.pixels);
  }
}

async function chooseTimed(
  photo: Photo,
  networks: Networks,
  options: CallOptions,
  part: { readonly checkpoint: Checkpoint | undefined; readonly limits: PartLimits },
): Promise<ChosenFaces> {
  // Detection and mesh fitting alternate, so their times are added up.
  const [detect, mesh] = [new TimedNetwork(networks.detect), new TimedNetwork(networks.mesh)];
  const chosen = await chooseFaces({ ...networks, detect, mesh }, photo, options, part, options.signal);
  if (detect.milliseconds > 0) options.onStage?.("detect", detect.milliseconds);
  if (mesh.milliseconds > 0) options.onStage?.("mesh", mesh.milliseconds);
  options.signal?.throwIfAborted();
  return chosen;
}

/** A network that adds up its running time, including the time to write its input. */
class TimedNetwork implements Network {
  milliseconds = 0;
  readonly #network: Network;

  constructor(network: Network) {
    this.#network = network;
  }

  async run(inputs: readonly TensorWriter[]): ReturnType<Network["run"]> {
    const start = performance.now();
    const rows = await this.#network.run(inputs);
    if (inputs.length > 0) this.milliseconds += performance.now() - start;
    return rows;
  }
}

function embedFaces(
  networks: Networks,
  { pixels }: Photo,
  faces: readonly FoundFace[],
  options: CallOptions,
) {
  return timed("embed", options, () =>
    embed(
      networks.embed,
      faces.map(({ mesh }) => align(pixels, mesh.points)),
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

function measureBasics(photo: Photo, { box, score, mesh, rank }: ChosenFace): FaceBasics {
  const { pixels, width, height } = photo;
  const fullSize = scaleBox(box, width / pixels.width, height / pixels.height);
  return {
    box: intersectBoxes(fullSize, { x1: 0, y1: 0, x2: width, y2: height }),
    ...(score !== undefined && { score, prominence: rank.prominence }),
    presence: mesh.presence,
    pose: measurePose(mesh.points),
    light: measureLight(pixels, box),
  };
}

function fullSizePoint({ pixels, width, height }: Photo, { x, y }: Point): Point {
  return { x: (x * width) / pixels.width, y: (y * height) / pixels.height };
}
