import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type AnalyzeImageRequest,
  type AnalyzeImageResponseSchema,
  type AnalyzeImagesRequest,
  type AnalyzeImagesResponseSchema,
  type CompareFacesRequest,
  type CompareFacesResponseSchema,
  type FaceAnalysisService,
  type FaceSource,
  Feature,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import {
  type Box,
  type CurvePoint,
  confidenceOf,
  distanceOf,
  type FalseMatchCurve,
  MAX_FACES,
  type Vector,
} from "../core/index.ts";
import { statusFrom } from "./error-responses.ts";
import { reasonFromKind } from "./error-table.ts";
import { FaceCall, type FaceCallOptions, optionalBox, scopeFrom } from "./face-call.ts";
import { logHiddenCause, type RequestLog, SUCCESS } from "./interceptors.ts";
import { mapUnordered } from "./map-unordered.ts";
import { createPatientAnalyzer } from "./patient-analyzer.ts";
import { missingError, requireValid, vectorFrom } from "./request-checks.ts";
import { CANCELED } from "./request-record.ts";
import { ServiceError, serviceErrorFrom } from "./service-error.ts";
import { STREAM_ITEMS, type StreamItem } from "./stream-items.ts";
import { messageFromBox, responseFromAnalysis } from "./typed-messages.ts";

/** What the typed operations need. */
export interface FaceAnalysisOptions extends FaceCallOptions {
  readonly curve: FalseMatchCurve;
}

/** What a request without features gets. */
const DEFAULT_FEATURES = [Feature.LANDMARKS, Feature.ATTRIBUTES, Feature.QUALITY];

/** The longest key of an image in a stream. */
export const MAX_KEY_BYTES = 1024;

/**
 * Analyses one image of a stream. Its response has the error if there is one. Throws if the stream has ended. An error in
 * place of the request is that of a message that is no request: it is counted like a failed request.
 */
export type ItemAnalyzer = (
  request: AnalyzeImagesRequest | ServiceError,
  item: StreamItem,
) => Promise<MessageInitShape<typeof AnalyzeImagesResponseSchema>>;

/** Creates the typed operations. */
export function createFaceAnalysisService(
  options: FaceAnalysisOptions,
  analyzeItem: ItemAnalyzer,
): ServiceImpl<typeof FaceAnalysisService> {
  return {
    analyzeImage: (request, context) =>
      analyzeImage(request, new FaceCall(options, scopeFrom(context)), options.analyzer.identity),
    compareFaces: (request, context) =>
      compareFaces(request, new FaceCall(options, scopeFrom(context)), options),
    analyzeImages(requests, { values }) {
      const items = values.get(STREAM_ITEMS)!;
      return mapUnordered(requests, items.window, (request) => analyzeItem(request, items.take()));
    },
  };
}

/** Creates the analysis of a stream's images, which wait for room in the queue. Logs the causes of errors that are hidden from the caller. */
export function createItemAnalyzer(
  unaryOptions: FaceAnalysisOptions,
  maxQueueWaitMs: number,
  log: RequestLog,
): ItemAnalyzer {
  const options = { ...unaryOptions, analyzer: createPatientAnalyzer(unaryOptions.analyzer, maxQueueWaitMs) };
  return async (message, item) => {
    const isRequest = !(message instanceof ServiceError);
    const key = isRequest ? message.key : "";
    let outcome = CANCELED;
    try {
      // First, so that the rate limit applies to messages with errors, too.
      await item.admit();
      if (!isRequest) throw message;
      requireValid("key", Buffer.byteLength(key) <= MAX_KEY_BYTES, `is longer than ${MAX_KEY_BYTES} bytes`);
      const { request } = message;
      if (!request) throw missingError("request");
      const { signal, record } = item;
      const call = new FaceCall(options, { signal, record, timeoutMs: Number.POSITIVE_INFINITY });
      const response = await analyzeImage(request, call, options.analyzer.identity);
      outcome = SUCCESS;
      return { key, result: { case: "response", value: response } };
    } catch (fault) {
      if (item.signal.aborted) throw fault;
      const error = serviceErrorFrom(fault);
      outcome = reasonFromKind(error.kind);
      const { requestId, record } = item;
      logHiddenCause(log, error, { requestId, trace_id: record.traceId, operation: "AnalyzeImages" });
      return { key: key.slice(0, MAX_KEY_BYTES), result: { case: "error", value: statusFrom(error) } };
    } finally {
      item.end(outcome);
    }
  };
}

async function analyzeImage(
  { image, features: chosen, boxes, maxFaces }: AnalyzeImageRequest,
  call: FaceCall,
  model: string,
): Promise<MessageInitShape<typeof AnalyzeImageResponseSchema>> {
  requireValid("features", chosen.every(isFeature), "has an unknown value");
  requireValid("max_faces", maxFaces >= 0 && maxFaces <= MAX_FACES, `must be 0 to ${MAX_FACES}`);
  const features = new Set(chosen.length > 0 ? chosen : DEFAULT_FEATURES);
  const analysis = await call.analyze("image", image, {
    boxes,
    landmarks: features.has(Feature.LANDMARKS) || features.has(Feature.QUALITY),
    attributes: features.has(Feature.ATTRIBUTES),
    vectors: features.has(Feature.EMBEDDING),
    maxFaces: maxFaces || undefined,
  });
  return responseFromAnalysis(analysis, features, model);
}

function isFeature(feature: Feature): boolean {
  return feature !== Feature.UNSPECIFIED && Feature[feature] !== undefined;
}

/** A face to compare. */
interface ComparedFace {
  /** Missing if the face was given as an embedding. */
  readonly box?: Box;
  readonly vector: Vector;
}

async function compareFaces(
  { source, target, maxFalseMatchRate }: CompareFacesRequest,
  call: FaceCall,
  { analyzer: { identity: model }, curve }: FaceAnalysisOptions,
): Promise<MessageInitShape<typeof CompareFacesResponseSchema>> {
  const { distance: threshold, falseMatchRate, extrapolated } = thresholdFor(maxFalseMatchRate, curve);
  // The cheap checks of both come first, so that no image is analysed for a request that fails anyway.
  const stored = { source: storedFace("source", source, model), target: storedFace("target", target, model) };
  const [one, others] = await Promise.allSettled([
    stored.source ?? embedSource(source!, call),
    stored.target ? [stored.target] : embedTarget(target!, call),
  ]);
  if (one.status === "rejected") throw one.reason;
  if (others.status === "rejected") throw others.reason;
  const { box: sourceBox, vector } = one.value;
  const matches = others.value.map((other) => {
    const distance = distanceOf(vector, other.vector);
    return {
      ...(other.box && { box: messageFromBox(other.box) }),
      distance: Math.fround(distance),
      confidence: Math.fround(confidenceOf(distance)),
      matched: distance < threshold,
    };
  });
  return {
    matches: matches.toSorted((a, b) => a.distance - b.distance),
    threshold: Math.fround(threshold),
    falseMatchRate: Math.fround(falseMatchRate),
    extrapolated,
    ...(sourceBox && { sourceBox: messageFromBox(sourceBox) }),
    model,
  };
}

/** Chooses the threshold. Throws ServiceError `badRequest` for a rate that the curve does not have. */
function thresholdFor(rate: number, curve: FalseMatchCurve): CurvePoint {
  if (rate === 0) return curve.atMatchDistance;
  const { minRate } = curve;
  requireValid("max_false_match_rate", rate >= minRate && rate <= 1, `must be 0 or ${minRate} to 1`);
  return curve.pointAtRate(rate);
}

/** Returns the face that was given as an embedding; undefined if an image was given. Throws ServiceError. */
function storedFace(
  field: "source" | "target",
  face: FaceSource | undefined,
  model: string,
): ComparedFace | undefined {
  const source = face?.source;
  if (source?.case === undefined) throw missingError(field);
  if (source.case !== "embedding") return undefined;
  requireValid(`${field}.box`, face?.box === undefined, "needs an image");
  return { vector: vectorFrom(`${field}.embedding`, source.value, model) };
}

function embedSource({ source, box }: FaceSource, call: FaceCall): Promise<ComparedFace> {
  const image = source.case === "image" ? source.value : undefined;
  return call.embed("source", image, { boxes: optionalBox(box) });
}

async function embedTarget({ source, box }: FaceSource, call: FaceCall): Promise<ComparedFace[]> {
  const image = source.case === "image" ? source.value : undefined;
  const options = { boxes: optionalBox(box), landmarks: false, attributes: false, vectors: true };
  const { faces } = await call.analyze("target", image, options);
  return faces.map((face) => ({ box: face.box, vector: face.vector! }));
}
