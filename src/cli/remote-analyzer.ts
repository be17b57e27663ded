import {
  type AnalyzeImageResponse,
  type Face as FaceMessage,
  Feature,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import type { Config } from "../config.ts";
import type { Analysis, Face } from "../core/index.ts";
import { attributesFromMessages } from "../service/attribute-messages.ts";
import { AnalysisStream, type AnalysisStreamOptions } from "./analysis-stream.ts";
import { drawPhoto, type PhotoAnalyzer } from "./photo-analyzer.ts";
import { fileErrorReason, readPhoto } from "./photo-file.ts";

/** Options of the analysis of photos by a running service. */
export interface RemoteAnalyzerOptions extends Omit<AnalysisStreamOptions, "features"> {
  readonly embeddings: boolean;
  /** A file that ends in .png, or a folder. */
  readonly draw: string | undefined;
}

const FEATURES = [Feature.LANDMARKS, Feature.ATTRIBUTES, Feature.QUALITY];

/** Creates an analyzer that sends photos to a running service. It connects when the first photo is analyzed. */
export function createRemoteAnalyzer(config: Config, options: RemoteAnalyzerOptions): PhotoAnalyzer {
  const features = options.embeddings ? [...FEATURES, Feature.EMBEDDING] : FEATURES;
  const stream = new AnalysisStream({ ...options, features });
  return {
    get failure() {
      return options.signal.aborted ? undefined : stream.failure;
    },
    analyze: async ({ file, error }) => {
      if (error !== undefined) return { result: { file, error } };
      try {
        let photo: Uint8Array = new Uint8Array();
        const response = await stream.analyze(async () => {
          photo = await readPhoto(file, config);
          return photo;
        });
        const model = response.faces.find(({ embedding }) => embedding)?.embedding?.model;
        return drawPhoto(options.draw, photo, { file, analysis: analysisFromResponse(response), model });
      } catch (cause) {
        return stream.failure ? undefined : { result: { file, error: fileErrorReason(cause) } };
      }
    },
    close: () => stream.close(),
  };
}

/** Converts the response of the service to a result of the core. Its numbers have single precision. */
function analysisFromResponse({ imageSize, faces, facesFound }: AnalyzeImageResponse): Analysis {
  const { width = 0, height = 0 } = imageSize ?? {};
  return { width, height, facesFound, faces: faces.map(faceFromMessage) };
}

function faceFromMessage(face: FaceMessage): Face {
  const { detectionScore, presence, prominence, pose, landmarks, quality, embedding } = face;
  const { x1 = 0, y1 = 0, x2 = 0, y2 = 0 } = face.box ?? {};
  return {
    box: { x1, y1, x2, y2 },
    ...(detectionScore !== undefined && { score: detectionScore }),
    presence,
    ...(prominence !== undefined && { prominence }),
    ...(pose && { pose: { yawDegrees: pose.yaw, pitchDegrees: pose.pitch, rollDegrees: pose.roll } }),
    light: quality?.brightness ?? 0,
    landmarks: landmarks.map(({ x, y }) => ({ x, y })),
    ...attributesFromMessages(face),
    ...(embedding && { embedding: Float32Array.from(embedding.values) }),
  };
}
