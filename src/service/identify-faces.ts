import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { FaceSource } from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import type { IdentifyFacesRequest, IdentifyFacesResponseSchema } from "../../gen/ts/visage/v1/gallery_pb.ts";
import type { SearchResult } from "../galleries/gallery-search.ts";
import { FaceCall, optionalBox, scopeFrom } from "./face-call.ts";
import { type GalleryServiceOptions, orUnavailable, requireSource, type SourceFace } from "./gallery-call.ts";
import { requireDistance, requireId } from "./gallery-messages.ts";
import { requireValid, vectorFrom } from "./request-checks.ts";
import { callerFrom } from "./request-record.ts";
import { messageFromBox } from "./typed-messages.ts";

const MAX_RESULTS = 100;

/** Finds the people in a gallery to whom the faces of an image may belong. */
export async function identifyFaces(
  { galleryId, source, maxResults, maxDistance }: IdentifyFacesRequest,
  context: HandlerContext,
  options: GalleryServiceOptions,
): Promise<MessageInitShape<typeof IdentifyFacesResponseSchema>> {
  requireId("gallery_id", galleryId);
  requireValid("max_results", maxResults >= 0 && maxResults <= MAX_RESULTS, `must be 0 to ${MAX_RESULTS}`);
  requireDistance(maxDistance);
  const { userId } = callerFrom(context.values);
  const deadlineMs = performance.now() + Math.min(options.timeoutMs, scopeFrom(context).timeoutMs);
  const model = options.analyzer.identity;
  const faces = await facesToIdentify(source, new FaceCall(options, scopeFrom(context)), model);
  const result = await orUnavailable(() =>
    options.searcher.search(
      {
        userId,
        galleryId,
        vectors: faces.map(({ vector }) => vector),
        model,
        maxResults: maxResults || 1,
        maxDistance,
        timeoutMs: deadlineMs - performance.now(),
      },
      context.signal,
    ),
  );
  return responseFromResult(result, faces);
}

async function facesToIdentify(
  from: FaceSource | undefined,
  call: FaceCall,
  model: string,
): Promise<SourceFace[]> {
  const { source, box } = requireSource(from);
  if (source.case === "embedding") return [{ vector: vectorFrom("source.embedding", source.value, model) }];
  const options = { boxes: optionalBox(box), landmarks: false, attributes: false, vectors: true };
  const { faces } = await call.analyze("source", source.value, options);
  return faces.map((face) => ({ box: face.box, vector: face.vector! }));
}

function responseFromResult(
  { gallery, threshold, matches, isStale }: SearchResult,
  faces: readonly SourceFace[],
): MessageInitShape<typeof IdentifyFacesResponseSchema> {
  const { distance, falsePositiveRate, isForCandidates } = threshold;
  return {
    faces: faces.map(({ box }, i) => ({
      ...(box && { box: messageFromBox(box) }),
      matches: matches[i]!.map((match) => ({ ...match, distance: Math.fround(match.distance) })),
    })),
    threshold: Math.fround(distance),
    ...(falsePositiveRate !== undefined && { falsePositiveRate: Math.fround(falsePositiveRate) }),
    candidatesOnly: isForCandidates,
    model: gallery.model,
    revision: BigInt(gallery.revision),
    stale: isStale,
  };
}
