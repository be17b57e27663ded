import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type AnalyzeImageRequestSchema,
  type AnalyzeImageResponse,
  type BoundingBox,
  type CompareFacesResponse,
  type Embedding,
  type EmbeddingSchema,
  type Face,
  type FaceSourceSchema,
  Feature as FeatureNumber,
  Gender,
  Population as PopulationNumber,
  type Pose as PoseMessage,
  type Quality,
  QualityComponent as QualityComponentNumber,
  QualityIssue as QualityIssueNumber,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import type { ImageFields } from "./image-input.ts";
import type {
  AnalysisOptions,
  AnalyzedFace,
  ApparentGender,
  Box,
  FaceComparison,
  FaceInput,
  FaceMeasures,
  FaceQuality,
  ImageAnalysis,
  Population,
  Pose,
  QualityComponent,
  QualityIssue,
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
  const { width, height } = imageSize!;
  return { width, height, faces: faces.map(faceFromMessage), facesFound };
}

export function comparisonFromMessage(message: CompareFacesResponse): FaceComparison {
  const { matches, threshold, falseMatchRate, extrapolated, model } = message;
  const { sourceBox, sourceQuality, sourcePose } = message;
  return {
    matches: matches.map((match) => ({
      box: match.box && boxFromMessage(match.box),
      distance: match.distance,
      confidence: match.confidence,
      matched: match.matched,
      threshold: match.threshold,
      falseMatchRate: match.falseMatchRate,
      extrapolated: match.extrapolated,
      population: populationFromMessage(match.population),
      candidatesOnly: match.candidatesOnly,
      ...measuresFromMessage(match),
    })),
    threshold,
    falseMatchRate,
    extrapolated,
    sourceBox: sourceBox && boxFromMessage(sourceBox),
    sourceQuality: sourceQuality && qualityFromMessage(sourceQuality),
    sourcePose: sourcePose && poseFromMessage(sourcePose),
    model,
  };
}

/** Converts what was measured of a face beside its embedding. */
export function measuresFromMessage({ quality, pose }: Pick<Face, "quality" | "pose">): FaceMeasures {
  return { quality: quality && qualityFromMessage(quality), pose: pose && poseFromMessage(pose) };
}

function poseFromMessage({ yaw, pitch, roll }: PoseMessage): Pose {
  return { yaw, pitch, roll };
}

function qualityFromMessage(quality: Quality): FaceQuality {
  return {
    size: quality.size,
    brightness: quality.brightness,
    issues: quality.issues.map((issue) => textOf(QualityIssueNumber, issue) as QualityIssue),
    usable: quality.usable,
    value: quality.value,
    components: quality.components.map(({ component, value, measure }) => ({
      component: textOf(QualityComponentNumber, component) as QualityComponent,
      value,
      measure,
    })),
  };
}

function faceFromMessage(face: Face): AnalyzedFace {
  const { detectionScore, presence, prominence, landmarks, age, gender, embedding } = face;
  return {
    box: boxFromMessage(face.box!),
    detectionScore,
    presence,
    prominence,
    ...measuresFromMessage(face),
    landmarks: landmarks.map(({ x, y }) => ({ x, y })),
    age: age && {
      range: `${age.minYears}-${age.maxYears}`,
      minYears: age.minYears,
      maxYears: age.maxYears,
      confidence: age.confidence,
    },
    gender: gender && {
      value: textOf(Gender, gender.value) as ApparentGender["value"],
      confidence: gender.confidence,
    },
    template: embedding && templateFromMessage(embedding),
  };
}

export function populationFromMessage(population: PopulationNumber): Population {
  return textOf(PopulationNumber, population) as Population;
}

export function boxFromMessage({ x1, y1, x2, y2 }: BoundingBox): Box {
  return { x1, y1, x2, y2 };
}

/** The name of an enum's value in lower case, as the types of this client have it. */
function textOf(names: Readonly<Record<number, string>>, value: number): string {
  return (names[value] ?? "unknown").toLowerCase();
}
