import { FaceError } from "./errors.ts";
import { intersectBoxes, type Point, scaleBox } from "./geometry.ts";
import { decode } from "./image/decode.ts";
import { DEFAULT_LIMITS, type ImageLimits } from "./image/limits.ts";
import type { Networks } from "./networks.ts";
import { analyzeInParts, FACES_PER_PART, type PartialAnalyzer } from "./parts.ts";
import { align } from "./steps/align.ts";
import { estimateAttributes } from "./steps/attributes.ts";
import { chooseTargets, type SettledFace, settleFaces, type Target } from "./steps/choose.ts";
import type { FivePoints } from "./steps/detect.ts";
import { embed, embeddingIdentity } from "./steps/embed.ts";
import { landmarks68 } from "./steps/landmarks68.ts";
import { measureLight } from "./steps/light.ts";
import { fitMeshes, fivePointsOf, type Mesh, refineMeshes } from "./steps/mesh.ts";
import { measurePose } from "./steps/pose.ts";
import { type Quality, qualityOf } from "./steps/quality.ts";
import { measureComponents } from "./steps/quality-measures.ts";
import { checkBoxCount } from "./steps/selection.ts";
import type {
  AnalyzeOptions,
  Analyzer,
  CallOptions,
  EmbeddedFace,
  EmbedOptions,
  Face,
  FaceBasics,
  Photo,
  Stage,
} from "./types.ts";

/** One call of an analyzer, after decoding. */
interface Call<Options = CallOptions> {
  readonly networks: Networks;
  readonly options: Options;
  readonly photo: Photo;
}

/** A face with the points that align it. */
interface AlignedFace extends SettledFace {
  readonly points: FivePoints;
  /** Missing if the call needs no more of the mesh than the points. */
  readonly mesh?: Mesh;
}

/** Creates an analyzer of loaded networks. Closing the analyzer closes the networks. */
export function createAnalyzer(networks: Networks, limits: Partial<ImageLimits> = {}): Analyzer {
  const { analyze, ...others } = createPartialAnalyzer(networks, limits);
  return {
    ...others,
    analyze: (image, options) => analyzeInParts((targets) => analyze(image, options, targets)),
  };
}

/** Creates an analyzer whose calls do one part each. Closing it closes the networks. */
export function createPartialAnalyzer(
  networks: Networks,
  imageLimits: Partial<ImageLimits> = {},
): PartialAnalyzer {
  const limits = { ...DEFAULT_LIMITS, ...imageLimits };
  return {
    identity: embeddingIdentity(networks.digests),
    close: () => networks.close(),
    analyze: async (image, options = {}, targets) => {
      checkBoxCount("analyze", options.boxes);
      const call = { networks, options, photo: await decodePhoto(image, limits, options) };
      const { faces, ...part } = await selectFaces(call, "all", targets);
      return { ...part, faces: await measureFaces(call, faces) };
    },
    embed: async (image, options = {}) => {
      checkBoxCount("embed", options.boxes);
      return embedFirstFace({ networks, options, photo: await decodePhoto(image, limits, options) });
    },
  };
}

function decodePhoto(bytes: Uint8Array, limits: ImageLimits, options: CallOptions): Promise<Photo> {
  return timed("decode", options, () => decode(bytes, limits, options.signal));
}

/** Finds the faces of an image, or takes those that an earlier part has left, and settles the first of them. */
function selectFaces(call: Call<AnalyzeOptions>, wanted: "all" | "first", left?: readonly Target[]) {
  const { networks, photo, options } = call;
  const { boxes = [], maxFaces, signal } = options;
  return timed("detect", options, async () => {
    const chosen = left
      ? { targets: left, facesFound: left.length }
      : await chooseTargets(networks.detect, photo, options, wanted, signal);
    const targets = chosen.targets.slice(0, boxes.length > 0 ? undefined : maxFaces);
    const count = wanted === "first" ? 1 : FACES_PER_PART;
    return {
      width: photo.width,
      height: photo.height,
      facesFound: chosen.facesFound,
      faces: await settleFaces(networks.detect, photo, targets.slice(0, count), options, signal),
      remaining: targets.slice(count),
    };
  });
}

async function embedFirstFace(call: Call<EmbedOptions>): Promise<EmbeddedFace> {
  const { width, height, facesFound, faces } = await selectFaces(call, "first");
  const { pose, quality, populations } = call.options;
  const [face] = await alignFaces(call, faces, pose || quality);
  if (!face) throw new FaceError("noFace", "No face was found in the image.");
  const [attributes] = populations ? await attributesOfFaces(call, [face]) : [];
  const [embedding] = await embedFaces(call, [face]);
  return {
    ...{ width, height, facesFound },
    ...measureBasics(call.photo, face),
    ...(face.mesh && { pose: measurePose(face.mesh) }),
    ...(attributes && { populations: attributes.populations }),
    ...(face.mesh && quality && { quality: await measureQuality(call.photo, face, face.mesh) }),
    embedding: embedding!,
  };
}

async function measureFaces(call: Call<AnalyzeOptions>, settled: readonly SettledFace[]): Promise<Face[]> {
  const { options, photo } = call;
  const faces = await alignFaces(call, settled, options.landmarks !== false);
  const attributes = options.attributes === false ? [] : await attributesOfFaces(call, faces);
  const embeddings = options.embeddings ? await embedFaces(call, faces) : [];
  const qualities: Quality[] = [];
  if (options.quality)
    for (const face of faces) if (face.mesh) qualities.push(await measureQuality(photo, face, face.mesh));
  return faces.map((face, i) => {
    const { mesh } = face;
    const pose = mesh && measurePose(mesh);
    const landmarks = pose ? landmarks68(mesh, pose.yawDegrees) : [];
    return {
      ...measureBasics(photo, face),
      ...(pose && { pose }),
      ...(qualities[i] && { quality: qualities[i] }),
      landmarks: landmarks.map((point) => fullSizePoint(photo, point)),
      ...attributes[i],
      ...(embeddings[i] && { embedding: embeddings[i] }),
    };
  });
}

/**
 * Fits a mesh to each face. If the call needs the mesh itself, it is refined. The points that align the face are always
 * those of the first fit, so that an embedding does not depend on what else is asked for.
 */
function alignFaces(
  { networks, photo, options }: Call,
  faces: readonly SettledFace[],
  needsMesh = false,
): Promise<AlignedFace[]> {
  return timed("mesh", options, async () => {
    const seen = faces.map((face) => face.seen);
    const first = await fitMeshes(networks.mesh, photo.pixels, seen);
    const meshes = needsMesh ? await refineMeshes(networks.mesh, photo.pixels, first) : [];
    return faces.map((face, i) => ({
      ...face,
      points: fivePointsOf(first[i]!),
      ...(meshes[i] && { mesh: meshes[i] }),
    }));
  });
}

function attributesOfFaces({ networks, photo, options }: Call, faces: readonly AlignedFace[]) {
  return timed("attributes", options, () => estimateAttributes(networks.attributes, photo.pixels, faces));
}

function embedFaces({ networks, photo, options }: Call, faces: readonly AlignedFace[]) {
  const crops = faces.map(({ points }) => align(photo.pixels, points));
  return timed("embed", options, () => embed(networks.embed, crops));
}

async function timed<T>(stage: Stage, { signal, onStage }: CallOptions, step: () => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  const start = performance.now();
  const result = await step();
  onStage?.(stage, performance.now() - start);
  signal?.throwIfAborted();
  return result;
}

function measureBasics(photo: Photo, { box, seen, found }: SettledFace): FaceBasics {
  const { pixels, width, height } = photo;
  const fullSize = scaleBox(box, width / pixels.width, height / pixels.height);
  return {
    box: intersectBoxes(fullSize, { x1: 0, y1: 0, x2: width, y2: height }),
    ...found,
    presence: seen.score,
    light: measureLight(pixels, box),
  };
}

/** Measures the quality of a face in pixels of the decoded photo, which are what the embedding is made of. */
async function measureQuality({ pixels }: Photo, face: AlignedFace, mesh: Mesh): Promise<Quality> {
  const light = measureLight(pixels, face.box);
  return qualityOf(await measureComponents(pixels, { ...face, light, mesh, pose: measurePose(mesh) }));
}

function fullSizePoint({ pixels, width, height }: Photo, { x, y }: Point): Point {
  return { x: (x * width) / pixels.width, y: (y * height) / pixels.height };
}
