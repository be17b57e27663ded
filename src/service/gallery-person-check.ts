import type { HandlerContext } from "@connectrpc/connect";
import { distanceOf, MATCH_DISTANCE, type Population } from "../core/index.ts";
import type { NamedMatch } from "../galleries/gallery-search.ts";
import { type Gallery, GalleryError, type Template } from "../galleries/gallery-store.ts";
import type { GalleryThreshold } from "../galleries/gallery-threshold.ts";
import { scopeFrom } from "./face-call.ts";
import { type GalleryServiceOptions, orUnavailable } from "./gallery-call.ts";
import { admittedRecordFrom } from "./request-record.ts";
import { ServiceError } from "./service-error.ts";
import { roundDistance } from "./typed-messages.ts";

/** A face to enrol, with the populations to which it may belong. */
export interface CheckedFace extends Template {
  readonly populations: readonly Population[];
}

/** Whom a face resembles that is to be enrolled. */
export interface PersonCheck {
  /** The distance to the nearest other face of the person; undefined if it has none. */
  readonly personDistance: number | undefined;
  /** The largest distance to the person that raises no doubt. */
  readonly limit: number;
  /** The nearest other person who matches. */
  readonly other: NamedMatch | undefined;
  readonly threshold: GalleryThreshold;
}

/**
 * Where a threshold gives only candidates, most strangers are near somebody. Only people nearer than this then count as
 * others: it is the smallest threshold of any gallery.
 */
const MAX_CANDIDATE_DISTANCE = 0.4;

/** Compares a face with the other faces of its person and with other people. */
export async function checkPerson(
  { personId, faceId, embedding, populations }: CheckedFace,
  gallery: Gallery,
  context: HandlerContext,
  options: GalleryServiceOptions,
): Promise<PersonCheck> {
  const { permissions, searcher, analyzer } = options;
  const { caller } = admittedRecordFrom(context.values);
  const search = searcher.search(
    {
      userId: caller.userId,
      galleryId: gallery.id,
      probes: [{ embedding, populations }],
      model: analyzer.identity,
      // One of them may be the person.
      maxResults: 2,
      maxDistance: undefined,
      isWithinThreshold: !permissions.has(caller, "wide-distance"),
      timeoutMs: Math.min(options.timeoutMs, scopeFrom(context).timeoutMs),
    },
    context.signal,
  );
  const { faces } = await orUnavailable(() => search).catch((error: unknown) => {
    if (error instanceof GalleryError && error.kind === "distanceTooWide")
      permissions.require(caller, "wide-distance");
    throw error;
  });
  const { threshold, matches } = faces[0]!;
  const face = { personId, faceId, embedding };
  return {
    personDistance: await orUnavailable(() => distanceToPerson(face, gallery, caller.userId, options)),
    limit: Math.max(threshold.distance, MATCH_DISTANCE),
    other: matches.find((match) => match.personId !== personId),
    threshold,
  };
}

/** Throws ServiceError if a face seems to be of another person. The answer of a search counts as a request. */
export function requireSamePerson(
  { personDistance, limit, other, threshold }: PersonCheck,
  context: HandlerContext,
  { permissions }: GalleryServiceOptions,
): void {
  const otherLimit = threshold.candidatesReason ? MAX_CANDIDATE_DISTANCE : threshold.distance;
  const isOther = other !== undefined && other.distance < Math.min(otherLimit, personDistance ?? limit);
  const isUnlike = personDistance !== undefined && personDistance >= limit;
  if (!isOther && !isUnlike) return;
  const record = admittedRecordFrom(context.values);
  record.hasEffect = true;
  // Like a search, the check reports larger distances only to who may search beyond the threshold.
  const mayReport = !isUnlike || permissions.has(record.caller, "wide-distance");
  const own = mayReport ? personDistance?.toFixed(2) : undefined;
  const metadata = {
    ...(own !== undefined && { person_distance: own }),
    ...(other && { other_person_id: other.personId, other_distance: other.distance.toFixed(2) }),
  };
  const looks = isOther
    ? `The face looks like the person ${other.personId} at a distance of ${metadata.other_distance}.`
    : "The face does not look like the other faces of the person.";
  const text = own === undefined ? looks : `${looks} The distance to the person of the request is ${own}.`;
  throw new ServiceError(isOther ? "faceOfAnotherPerson" : "faceUnlikePerson", text, {
    field: "source",
    metadata,
  });
}

/** The fields of the response. */
export function messageFromCheck({ personDistance, other }: PersonCheck) {
  return {
    ...(personDistance !== undefined && { personDistance: roundDistance(personDistance) }),
    ...(other && { nearestOther: { ...other, distance: roundDistance(other.distance) } }),
  };
}

/** The distance to the nearest other face of the person. The face that is replaced does not count. */
async function distanceToPerson(
  { personId, faceId, embedding }: Template,
  gallery: Gallery,
  userId: string,
  { galleries }: GalleryServiceOptions,
): Promise<number | undefined> {
  const person = await galleries.getPerson(userId, gallery.id, personId).catch((error: unknown) => {
    if (!(error instanceof GalleryError && error.kind === "personNotFound")) throw error;
  });
  const others = (person?.faces ?? []).filter(({ id }) => id !== faceId);
  const stored = await galleries.findFaces(
    gallery.key,
    others.map(({ id }) => ({ personId, faceId: id })),
  );
  const distances = stored.map((face) => distanceOf(embedding, face.embedding));
  return distances.length > 0 ? Math.min(...distances) : undefined;
}
