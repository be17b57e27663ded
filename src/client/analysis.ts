import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type AnalyzeImageRequestSchema,
  type AnalyzeImageResponse,
  CandidatesReason,
  type CompareFacesResponse,
  type Embedding,
  type EmbeddingSchema,
  type Face,
  type FaceSourceSchema,
  Feature as FeatureNumber,
  Gender,
  Population,
  type Quality,
  QualityComponent,
  QualityIssue,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import type { ImageFields } from "./image-input.ts";
import { enumName, plain } from "./plain.ts";
import type {
  AnalysisOptions,
  AnalyzedFace,
  Box,
  FaceComparison,
  FaceInput,
  FaceMeasures,
  FaceQuality,
  ImageAnalysis,
  Template,
} from "./types.ts";

const FEATURES = {
  landmarks: FeatureNumber.LANDMARKS,
  attributes: FeatureNumber.ATTRIBUTES,
  embedding: FeatureNumber.EMBEDDING,
  quality: FeatureNumber.QUALITY,
};

/** Reads a face: an image, in which a box may select it, or a template. */
export type ReadFace = (
  face: FaceInput,
  box: Box | undefined,
  signal: AbortSignal,
) => Promise<MessageInitShape<typeof FaceSourceSchema>>;

/** Makes the request of an analysis. Throws TypeError for an unknown feature. */
export function analysisRequest(
  image: ImageFields,
  { features = [], maxFaces = 0 }: AnalysisOptions,
  boxes: readonly Box[] = [],
): MessageInitShape<typeof AnalyzeImageRequestSchema> {
  return {
    image,
    boxes: [...boxes],
    maxFaces,
    features: features.map((name) => {
      if (!Object.hasOwn(FEATURES, name)) throw new TypeError(`There is no feature "${name}".`);
      return FEATURES[name];
    }),
  };
}

/** Whether a face is given as a template. */
export function isTemplate(face: FaceInput): face is Template {
  return typeof face === "object" && face !== null && "model" in face;
}

/** Makes the source or target of a comparison from a template. */
export function sourceFromTemplate(template: Template) {
  return { case: "embedding" as const, value: embeddingFromTemplate(template) };
}

export function embeddingFromTemplate({
  embedding,
  model,
}: Template): MessageInitShape<typeof EmbeddingSchema> {
  return { values: [...embedding], model };
}

export function templateFromMessage({ values, model }: Embedding): Template {
  return { embedding: Float32Array.from(values), model };
}

export function analysisFromMessage({ imageSize, faces, facesFound }: AnalyzeImageResponse): ImageAnalysis {
  return { ...plain(imageSize!), faces: faces.map(faceFromMessage), facesFound };
}

export function comparisonFromMessage(message: CompareFacesResponse): FaceComparison {
  const { matches, sourceBox, sourceQuality, sourcePose } = message;
  return {
    ...plain(message),
    matches: matches.map((match) => ({
      ...plain(match),
      box: match.box && plain(match.box),
      population: enumName(Population, match.population),
      candidatesReason: match.candidatesReason
        ? enumName(CandidatesReason, match.candidatesReason)
        : undefined,
      ...measuresFromMessage(match),
    })),
    sourceBox: sourceBox && plain(sourceBox),
    sourceQuality: sourceQuality && qualityFromMessage(sourceQuality),
    sourcePose: sourcePose && plain(sourcePose),
  };
}

/** Converts what was measured of a face beside its embedding. */
export function measuresFromMessage({ quality, pose }: Pick<Face, "quality" | "pose">): FaceMeasures {
  return { quality: quality && qualityFromMessage(quality), pose: pose && plain(pose) };
}

function qualityFromMessage(message: Quality): FaceQuality {
  const { issues, components, ...quality } = plain(message);
  return {
    ...quality,
    issues: issues.map((issue) => enumName(QualityIssue, issue)),
    components: components.map(({ component, ...others }) => ({
      component: enumName(QualityComponent, component),
      ...others,
    })),
  };
}

function faceFromMessage({ embedding, landmarks, quality, pose, ...message }: Face): AnalyzedFace {
  const { box, detectionScore, prominence, age, gender, ...face } = plain(message);
  return {
    ...face,
    box: box!,
    detectionScore,
    prominence,
    landmarks: landmarks.map(({ x, y }) => ({ x, y })),
    ...measuresFromMessage({ quality, pose }),
    age: age && { ...age, range: `${age.minYears}-${age.maxYears}` },
    gender: gender && { ...gender, value: enumName(Gender, gender.value) },
    template: embedding && templateFromMessage(embedding),
  };
}
