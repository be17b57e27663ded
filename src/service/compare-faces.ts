import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  CandidatesReason,
  type CompareFacesRequest,
  type CompareFacesResponseSchema,
  type FaceSource,
} from "../../gen/ts/visage/v1/face_analysis_pb.ts";
import {
  type Box,
  confidenceOf,
  distanceOf,
  type Embedding,
  type FaceBasics,
  type FalseMatchRates,
  type Population,
  type RatedThreshold,
} from "../core/index.ts";
import { type FaceCall, optionalBox } from "./face-call.ts";
import { embeddingFrom, missingError, requireValid } from "./request-checks.ts";
import { messageFromBox, messagesFromQuality, POPULATIONS, roundDistance } from "./typed-messages.ts";

/** A face to compare. */
interface ComparedFace {
  /** Missing if the face was given as an embedding. */
  readonly box?: Box;
  readonly embedding: Embedding;
  /** The populations to which the face may belong; missing if they were not estimated. */
  readonly populations?: readonly Population[] | undefined;
  /** What was measured of the face in an image. */
  readonly measured?: FaceBasics;
}

/** What is measured of faces in images. */
interface Measures {
  readonly attributes: boolean;
  readonly quality: boolean;
}

/** Compares a face with every face of the target, by the threshold of the people whom both may show. */
export async function compareFaces(
  { source, target, maxFalseMatchRate, assumeAdults, quality }: CompareFacesRequest,
  call: FaceCall,
  model: string,
  rates: FalseMatchRates,
): Promise<MessageInitShape<typeof CompareFacesResponseSchema>> {
  const isKnownRate = maxFalseMatchRate >= rates.minRate && maxFalseMatchRate <= 1;
  requireValid(
    "max_false_match_rate",
    maxFalseMatchRate === 0 || isKnownRate,
    `must be 0 or ${rates.minRate} to 1`,
  );
  // The cheap checks of both come first, so that no image is analysed for a request that fails anyway.
  const stored = { source: storedFace("source", source, model), target: storedFace("target", target, model) };
  const measures = { attributes: !assumeAdults && call.isPermitted("attributes"), quality };
  const [one, others] = await Promise.allSettled([
    stored.source ?? embedSource(source!, call, measures),
    stored.target ? [stored.target] : embedTarget(target!, call, measures),
  ]);
  if (one.status === "rejected") throw one.reason;
  if (others.status === "rejected") throw others.reason;
  const thresholdOf = (...faces: ComparedFace[]) =>
    chooseThreshold(rates, maxFalseMatchRate, assumeAdults ? ["adults"] : populationsOf(faces));
  const { box: sourceBox, embedding, measured } = one.value;
  const { quality: sourceQuality, pose: sourcePose } = messagesFromQuality(measured);
  const compared = others.value.map((other) => ({
    ...other,
    distance: distanceOf(embedding, other.embedding),
    threshold: thresholdOf(one.value, other),
  }));
  const thresholds =
    compared.length > 0 ? compared.map(({ threshold }) => threshold) : [thresholdOf(one.value)];
  return {
    matches: compared
      .toSorted((a, b) => a.distance - b.distance)
      .map(({ box, distance, measured, threshold: { isHeld, ...rated } }) => ({
        ...(box && { box: messageFromBox(box) }),
        distance: roundDistance(distance),
        // It would tell the distance otherwise.
        confidence: Math.fround(confidenceOf(roundDistance(distance))),
        matched: isHeld && distance < rated.distance,
        threshold: Math.fround(rated.distance),
        falseMatchRate: Math.fround(rated.falseMatchRate),
        extrapolated: rated.extrapolated,
        population: POPULATIONS[rated.population],
        ...messagesFromQuality(measured),
        ...(!isHeld && { candidatesOnly: true, candidatesReason: CandidatesReason.POPULATION }),
      })),
    threshold: Math.fround(Math.min(...thresholds.map(({ distance }) => distance))),
    falseMatchRate: Math.fround(Math.max(...thresholds.map(({ falseMatchRate }) => falseMatchRate))),
    extrapolated: thresholds.some(({ extrapolated }) => extrapolated),
    ...(sourceBox && { sourceBox: messageFromBox(sourceBox) }),
    ...(sourceQuality && { sourceQuality }),
    ...(sourcePose && { sourcePose }),
    model,
  };
}

/** All populations of both faces. If only one is known, it decides: faces that are mistaken for it are mostly like it. */
function populationsOf(faces: readonly ComparedFace[]): readonly Population[] {
  const known = faces.flatMap(({ populations = [] }) => populations);
  return known.length > 0 ? known : ["age10Up"];
}

/** Chooses the threshold by its rate. If none holds it, returns the smallest one with the rate that it has. */
function chooseThreshold(
  rates: FalseMatchRates,
  rate: number,
  populations: readonly Population[],
): RatedThreshold & { readonly isHeld: boolean } {
  if (rate === 0) return { ...rates.atMatchDistance(populations), isHeld: true };
  const threshold = rates.thresholdFor(rate, populations);
  if (threshold) return { ...threshold, isHeld: true };
  return { ...rates.at(rates.minDistance, populations)!, isHeld: false };
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
  return { embedding: embeddingFrom(`${field}.embedding`, source.value, model) };
}

async function embedSource(
  { source, box }: FaceSource,
  call: FaceCall,
  { attributes, quality }: Measures,
): Promise<ComparedFace> {
  const image = source.case === "image" ? source.value : undefined;
  const options = { boxes: optionalBox(box), populations: attributes, quality };
  const face = await call.embed("source", image, options);
  return { ...face, measured: face };
}

async function embedTarget(
  { source, box }: FaceSource,
  call: FaceCall,
  { attributes, quality }: Measures,
): Promise<ComparedFace[]> {
  const image = source.case === "image" ? source.value : undefined;
  const options = { boxes: optionalBox(box), landmarks: quality, quality, attributes, embeddings: true };
  const { faces } = await call.analyze("target", image, options);
  return faces.map((face) => ({ ...face, embedding: face.embedding!, measured: face }));
}
