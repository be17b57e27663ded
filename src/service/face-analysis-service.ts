import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type AnalyzeImageRequest,
  type AnalyzeImageResponseSchema,
  type AnalyzeImagesRequest,
  type AnalyzeImagesResponseSchema,
  FaceAnalysisService,
  Feature,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import { type FalseMatchRates, MAX_FACES } from "../core/index.ts";
import { compareFaces } from "./compare-faces.ts";
import { statusFrom } from "./error-responses.ts";
import { reasonFromKind } from "./error-table.ts";
import { FaceCall, type FaceCallOptions, scopeFrom } from "./face-call.ts";
import { logHiddenCause, type RequestLog, SUCCESS } from "./interceptors.ts";
import { mapUnordered } from "./map-unordered.ts";
import { FEATURE_PERMISSIONS } from "./method-permissions.ts";
import { createPatientAnalyzer } from "./patient-analyzer.ts";
import { missingError, requireValid } from "./request-checks.ts";
import { CANCELED } from "./request-record.ts";
import { ServiceError, serviceErrorFrom } from "./service-error.ts";
import { STREAM_ITEMS, type StreamItem } from "./stream-items.ts";
import { responseFromAnalysis } from "./typed-messages.ts";

/** What the typed operations need. */
export interface FaceAnalysisOptions extends FaceCallOptions {
  readonly rates: FalseMatchRates;
}

/** What a request without features gets, as far as the caller may. */
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
      compareFaces(
        request,
        new FaceCall(options, scopeFrom(context)),
        options.analyzer.identity,
        options.rates,
      ),
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
      options.permissions.requireRequest(FaceAnalysisService.method.analyzeImages, message, record.caller!);
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
  const isPermitted = (feature: Feature) => {
    const permission = FEATURE_PERMISSIONS[feature];
    return permission === undefined || call.isPermitted(permission);
  };
  requireValid("max_faces", maxFaces >= 0 && maxFaces <= MAX_FACES, `must be 0 to ${MAX_FACES}`);
  const features = new Set(chosen.length > 0 ? chosen : DEFAULT_FEATURES.filter(isPermitted));
  const analysis = await call.analyze("image", image, {
    boxes,
    landmarks: features.has(Feature.LANDMARKS) || features.has(Feature.QUALITY),
    quality: features.has(Feature.QUALITY),
    attributes: features.has(Feature.ATTRIBUTES),
    embeddings: features.has(Feature.EMBEDDING),
    maxFaces: maxFaces || undefined,
  });
  return responseFromAnalysis(analysis, features, model);
}

function isFeature(feature: Feature): boolean {
  return feature !== Feature.UNSPECIFIED && Feature[feature] !== undefined;
}
