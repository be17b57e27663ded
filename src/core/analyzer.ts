import { releasePyramid } from "./crop/image-pyramid.ts";
import { FaceError } from "./errors.ts";
import { intersectBoxes, scaleBox } from "./geometry.ts";
import { decode } from "./image/decode.ts";
import { DEFAULT_LIMITS, type ImageLimits } from "./image/limits.ts";
import type { Networks } from "./networks.ts";
import { analyzeInParts, FACES_PER_PART, type PartialAnalysis } from "./parts.ts";
import { align } from "./steps/align.ts";
import { estimateAttributes } from "./steps/attributes.ts";
import { chooseTargets, type SettledFace, settleFaces, type Target } from "./steps/choose.ts";
import { embed, embeddingIdentity } from "./steps/embed.ts";
import { landmarks68 } from "./steps/landmarks68.ts";
import { measureLight } from "./steps/light.ts";
import { fitMeshes } from "./steps/mesh.ts";
import { measurePose } from "./steps/pose.ts";
import { checkBoxCount } from "./steps/selection.ts";
import type {
  AnalyzeOptions,
  Analyzer,
  CallOptions,
  Embedding,
  EmbedOptions,
  Face,
  FaceBasics,
  Photo,
  Point,
  Stage,
} from "./types.ts";

/** An analyzer that measures a crowd in parts, so that a worker can serve others between them. */
export interface PartialAnalyzer {
  /** Measures the first faces of an image, or those that an earlier part left. */
  analyze(image: Uint8Array, options?: AnalyzeOptions, targets?: readonly Target[]): Promise<PartialAnalysis>;
  embed(image: Uint8Array, options?: EmbedOptions): Promise<Embedding>;
}

/** Creates an analyzer of loaded networks. Closing the analyzer closes the networks. */
export function createAnalyzer(networks: Networks, limits: Partial<ImageLimits> = {}): Analyzer {
  const { analyze, embed } = createPartialAnalyzer(networks, limits);
  return {
    identity: embeddingIdentity(networks.digests),
    analyze: (image, options) => analyzeInParts((targets) => analyze(image, options, targets)),
    embed,
    close: () => networks.close(),
  };
}

/** Creates an analyzer whose calls do one part each. */
export function createPartialAnalyzer(
  networks: Networks,
  imageLimits: Partial<ImageLimits> = {},
): PartialAnalyzer {
  const limits = { ...DEFAULT_LIMITS, ...imageLimits };
  return {
    analyze: async (image, options = {}, targets) => {
      checkBoxCount("analyze", options.boxes);
      return withPhoto(image, limits, options, async (photo) => {
        const { faces, ...part } = await selectFaces(networks, photo, options, "all", targets);
        return { ...part, faces: await measureFaces(networks, photo, faces, options) };
      });
    },
    embed: async (image, options = {}) => {
      checkBoxCount("embed", options.boxes);
      return withPhoto(image, limits, options, (photo) => embedFirstFace(networks, photo, options));
    },
  };
}

/** Decodes an image and passes it to `process`. */
async function withPhoto<T>(
  bytes: Uint8Array,
  limits: ImageLimits,
  options: CallOptions,
  process: (photo: Photo) => Promise<T>,
): Promise<T> {
  const photo = await timed("decode", options, () => decode(bytes, limits, options.signal));
  try {
    return await process(photo);
  } finally {
    releasePyramid(photo.pixels);
  }
}

/** Finds the faces of an image, or takes those that an earlier part has left, and settles the first of them. */
function selectFaces(
  networks: Networks,
  photo: Photo,
  options: AnalyzeOptions,
  wanted: "all" | "first",
  left?: readonly Target[],
) {
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

async function embedFirstFace(networks: Networks, photo: Photo, options: EmbedOptions): Promise<Embedding> {
  const { width, height, facesFound, faces } = await selectFaces(networks, photo, options, "first");
  const [face] = faces;
  if (!face) throw new FaceError("noFace", "No face was found in the image.");
  const [mesh] = options.pose ? await meshFaces(networks, photo, [face], options) : [];
  const [vector] = await embedFaces(networks, photo, [face], options);
  return {
    ...{ width, height, facesFound },
    ...measureBasics(photo, face),
    ...(mesh && { pose: measurePose(mesh) }),
    vector: vector!,
  };
}

async function measureFaces(
  networks: Networks,
  photo: Photo,
  faces: readonly SettledFace[],
  options: AnalyzeOptions,
): Promise<Face[]> {
  const meshes = options.landmarks === false ? [] : await meshFaces(networks, photo, faces, options);
  const attributes =
    options.attributes === false
      ? []
      : await timed("attributes", options, () =>
          estimateAttributes(
            networks.attributes,
            photo.pixels,
            faces.map(({ points }) => points),
          ),
        );
  const vectors = options.vectors ? await embedFaces(networks, photo, faces, options) : [];
  return faces.map((face, i) => {
    const mesh = meshes[i];
    const pose = mesh && measurePose(mesh);
    const landmarks = pose ? landmarks68(mesh, pose.yawDegrees) : [];
    return {
      ...measureBasics(photo, face),
      ...(pose && { pose }),
      landmarks: landmarks.map((point) => fullSizePoint(photo, point)),
      ...attributes[i],
      ...(vectors[i] && { vector: vectors[i] }),
    };
  });
}

function meshFaces(
  networks: Networks,
  { pixels }: Photo,
  faces: readonly SettledFace[],
  options: CallOptions,
) {
  return timed("mesh", options, () => fitMeshes(networks.mesh, pixels, faces));
}

function embedFaces(
  networks: Networks,
  { pixels }: Photo,
  faces: readonly SettledFace[],
  options: CallOptions,
) {
  const crops = faces.map(({ points }) => align(pixels, points));
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

function measureBasics(photo: Photo, { box, presence, found }: SettledFace): FaceBasics {
  const { pixels, width, height } = photo;
  const fullSize = scaleBox(box, width / pixels.width, height / pixels.height);
  return {
    box: intersectBoxes(fullSize, { x1: 0, y1: 0, x2: width, y2: height }),
    ...found,
    presence,
    light: measureLight(pixels, box),
  };
}

function fullSizePoint({ pixels, width, height }: Photo, { x, y }: Point): Point {
  return { x: (x * width) / pixels.width, y: (y * height) / pixels.height };
}
