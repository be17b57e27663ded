import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { CandidatesReason, type FaceSource } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import type { IdentifyFacesRequest, IdentifyFacesResponseSchema } from "../../gen/ts/visage/v1/gallery_pb.ts";
import type { Population } from "../core/index.ts";
import type { SearchResult } from "../galleries/gallery-search.ts";
import { GalleryError } from "../galleries/gallery-store.ts";
import type { CandidatesReason as GalleryCandidatesReason } from "../galleries/gallery-threshold.ts";
import type { QueuedAnalyzer } from "../workers/pool.ts";
import { addToAudit } from "./audit.ts";
import { FaceCall, optionalBox, scopeFrom } from "./face-call.ts";
import {
  type GalleryServiceOptions,
  orUnavailable,
  type ProbeFace,
  requireSource,
  UNESTIMATED_POPULATIONS,
} from "./gallery-call.ts";
import { requireDistance, requireId } from "./gallery-messages.ts";
import { embeddingFrom, requireValid } from "./request-checks.ts";
import { callerFrom } from "./request-record.ts";
import { serviceErrorFrom } from "./service-error.ts";
import { messageFromBox, messagesFromQuality, POPULATIONS, roundDistance } from "./typed-messages.ts";

const MAX_RESULTS = 100;

const CANDIDATES_REASONS: Readonly<Record<GalleryCandidatesReason, CandidatesReason>> = {
  gallerySize: CandidatesReason.GALLERY_SIZE,
  population: CandidatesReason.POPULATION,
};

/** Finds the people in a gallery to whom the faces of an image may belong. */
export async function identifyFaces(
  { galleryId, source, maxResults, maxDistance, assumeAdults, quality }: IdentifyFacesRequest,
  context: HandlerContext,
  options: GalleryServiceOptions,
): Promise<MessageInitShape<typeof IdentifyFacesResponseSchema>> {
  requireId("gallery_id", galleryId);
  requireValid("max_results", maxResults >= 0 && maxResults <= MAX_RESULTS, `must be 0 to ${MAX_RESULTS}`);
  requireDistance(maxDistance);
  const caller = callerFrom(context.values);
  const { userId } = caller;
  const isWithinThreshold = !options.permissions.has(caller, "wide-distance");
  const deadlineMs = performance.now() + Math.min(options.timeoutMs, scopeFrom(context).timeoutMs);
  const identifyBy = async (analyzer: QueuedAnalyzer) => {
    const model = analyzer.identity;
    const call = new FaceCall({ ...options, analyzer }, scopeFrom(context));
    const faces = await facesToIdentify(source, call, model, { assumeAdults, quality });
    const result = await orUnavailable(() =>
      options.searcher.search(
        {
          userId,
          galleryId,
          probes: faces.map(({ embedding, populations }) => ({ embedding, populations })),
          model,
          maxResults: maxResults || 1,
          maxDistance,
          isWithinThreshold,
          timeoutMs: deadlineMs - performance.now(),
        },
        context.signal,
      ),
    );
    const people = result.faces.flatMap(({ matches }) => matches.map(({ personId }) => personId));
    addToAudit(context.values, { people: [...new Set(people)], faces: faces.length, model });
    return responseFromResult(result, faces);
  };
  const [analyzer, other] = await analyzersFor(userId, galleryId, options);
  return identifyBy(analyzer).catch((error: unknown) => {
    if (error instanceof GalleryError && error.kind === "distanceTooWide")
      options.permissions.require(caller, "wide-distance");
    // The gallery may have been replaced by one of the other model meanwhile.
    if (other && serviceErrorFrom(error).kind === "modelMismatch") return identifyBy(other);
    throw error;
  });
}

/** The analyzer of a gallery's model, as far as it is known, and the other one if there is another. */
async function analyzersFor(
  userId: string,
  galleryId: string,
  { analyzer, previousAnalyzer, galleries }: GalleryServiceOptions,
): Promise<readonly [QueuedAnalyzer, QueuedAnalyzer?]> {
  if (!previousAnalyzer) return [analyzer];
  // Without the database, galleries are searched that are in memory.
  const gallery = await galleries.getGallery(userId, galleryId).catch((error: unknown) => {
    if (error instanceof GalleryError) throw error;
  });
  return gallery?.model === previousAnalyzer.identity
    ? [previousAnalyzer, analyzer]
    : [analyzer, previousAnalyzer];
}

async function facesToIdentify(
  from: FaceSource | undefined,
  call: FaceCall,
  model: string,
  { assumeAdults, quality }: Pick<IdentifyFacesRequest, "assumeAdults" | "quality">,
): Promise<ProbeFace[]> {
  const { source, box } = requireSource(from);
  const unestimated: readonly Population[] = assumeAdults ? ["adults"] : UNESTIMATED_POPULATIONS;
  if (source.case === "embedding")
    return [{ embedding: embeddingFrom("source.embedding", source.value, model), populations: unestimated }];
  const attributes = !assumeAdults && call.isPermitted("attributes");
  const options = { boxes: optionalBox(box), landmarks: quality, quality, attributes, embeddings: true };
  const { faces } = await call.analyze("source", source.value, options);
  return faces.map((face) => ({
    box: face.box,
    embedding: face.embedding!,
    populations: face.populations ?? unestimated,
    measured: face,
  }));
}

function responseFromResult(
  { gallery, threshold, faces: identified, isStale }: SearchResult,
  faces: readonly ProbeFace[],
): MessageInitShape<typeof IdentifyFacesResponseSchema> {
  return {
    faces: faces.map(({ box, measured }, i) => {
      const { threshold, matches } = identified[i]!;
      const { candidatesReason } = threshold;
      return {
        ...(box && { box: messageFromBox(box) }),
        ...messagesFromQuality(measured),
        matches: matches.map((match) => ({ ...match, distance: roundDistance(match.distance) })),
        ...messageFromRate(threshold),
        population: POPULATIONS[threshold.population],
        ...(candidatesReason && {
          candidatesOnly: true,
          candidatesReason: CANDIDATES_REASONS[candidatesReason],
        }),
      };
    }),
    ...messageFromRate(threshold),
    candidatesOnly: threshold.isForCandidates,
    model: gallery.model,
    revision: BigInt(gallery.revision),
    stale: isStale,
  };
}

function messageFromRate({
  distance,
  falsePositiveRate,
}: {
  readonly distance: number;
  readonly falsePositiveRate: number | undefined;
}) {
  return {
    threshold: Math.fround(distance),
    ...(falsePositiveRate !== undefined && { falsePositiveRate: Math.fround(falsePositiveRate) }),
  };
}
