import { FaceError, type FaceErrorKind } from "../core/errors.ts";
import type { Checkpoint, PartialAnalysis, PartialEmbedding, RankedFace } from "../core/partial-work.ts";
import type { Selection } from "../core/steps/selection.ts";
import type { AnalyzerOptions, Box, Point, Stage } from "../core/types.ts";

/** What a worker sends for one part of each operation of an analyzer. */
export interface Results {
  readonly analyze: SentPartialAnalysis;
  readonly embed: PartialEmbedding;
}

/** A part of `analyze` as it is sent. */
export interface SentPartialAnalysis extends Omit<PartialAnalysis, "faces"> {
  readonly faces: readonly SentFace[];
}

/** A face as it is sent: to read 68 points one by one would take longer than all else of a message. */
interface SentFace extends Omit<RankedFace, "landmarks"> {
  /** Of each point x, then y. */
  readonly landmarks: Float64Array;
}

/** The operations of an analyzer by name. */
export type Operation = keyof Results;

/** One part of a call, without the options that cannot be sent: the signal and the stage callback. */
export interface Job<Name extends Operation = Operation> {
  readonly operation: Name;
  readonly image: Uint8Array;
  readonly options: Selection & { readonly vectors?: boolean };
  /** Where to resume; missing in the first part. */
  readonly checkpoint?: Checkpoint | undefined;
}

/** What a worker is asked to do. It does one after another, in the order in which they come. */
export type Task =
  | { readonly type: "open"; readonly options: AnalyzerOptions }
  | { readonly type: "run"; readonly job: Job };

/** What a worker is sent: a task under a number, or that it is to leave one, which may have begun or not. */
export type Request = { readonly number: number } & (Task | { readonly type: "leave" });

/** Times of the steps in milliseconds, in their order. */
export type Stages = readonly (readonly [Stage, number])[];

/** What a worker sends for every task; without a reply where it was left before it had begun. */
export interface Answer {
  readonly number: number;
  readonly reply?: Reply;
}

/** What a worker replies: to `open` the analyzer's identity, to `run` the result. */
export type Reply =
  | { readonly ok: true; readonly value: unknown; readonly stages: Stages }
  | { readonly ok: false; readonly error: PlainError; readonly stages: Stages };

/** Converts a part of `analyze` to what is sent. */
export function sentFromPart({ faces, ...rest }: PartialAnalysis): SentPartialAnalysis {
  const sent = faces.map(({ landmarks, ...face }) => ({ ...face, landmarks: numbersOf(landmarks) }));
  return { ...rest, faces: sent };
}

/** Converts what was sent back to a part of `analyze`. */
export function partFromSent({ faces, ...rest }: SentPartialAnalysis): PartialAnalysis {
  const whole = faces.map(({ landmarks, ...face }) => ({ ...face, landmarks: pointsOf(landmarks) }));
  return { ...rest, faces: whole };
}

function numbersOf(points: readonly Point[]): Float64Array {
  const numbers = new Float64Array(2 * points.length);
  points.forEach(({ x, y }, i) => {
    numbers[2 * i] = x;
    numbers[2 * i + 1] = y;
  });
  return numbers;
}

function pointsOf(numbers: Float64Array): Point[] {
  return Array.from({ length: numbers.length / 2 }, (_, i) => ({
    x: numbers[2 * i]!,
    y: numbers[2 * i + 1]!,
  }));
}

/** An error as plain data: a copy of an Error made by Node would lose its class, kind and box. */
export interface PlainError {
  readonly message: string;
  /** Where it happened in the worker, for the log. */
  readonly stack: string | undefined;
  readonly cause: PlainError | undefined;
  /** Only of a FaceError. */
  readonly face: { readonly kind: FaceErrorKind; readonly box: Box | undefined } | undefined;
}

/** Makes data of whatever was thrown. */
export function plainFromError(error: unknown): PlainError {
  if (!(error instanceof Error)) {
    return { message: String(error), stack: undefined, cause: undefined, face: undefined };
  }
  return {
    message: error.message,
    stack: error.stack,
    cause: error.cause === undefined ? undefined : plainFromError(error.cause),
    face: error instanceof FaceError ? { kind: error.kind, box: error.box } : undefined,
  };
}

/** Makes an error of data: a FaceError if it was one, otherwise an Error with the same message. */
export function errorFromPlain({ message, stack, cause, face }: PlainError): Error {
  const details = cause && { cause: errorFromPlain(cause) };
  const error = face
    ? new FaceError(face.kind, message, { ...details, ...(face.box && { box: face.box }) })
    : new Error(message, details);
  if (stack !== undefined) error.stack = stack;
  return error;
}
