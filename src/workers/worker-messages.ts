// The messages between the server and a worker process.
import {
  type AnalyzeOptions,
  type AnalyzerOptions,
  type Box,
  type EmbeddedFace,
  type EmbedOptions,
  type Face,
  FaceError,
  type FaceErrorKind,
  type PartialAnalysis,
  type Point,
  type Stage,
  type Target,
} from "../core/index.ts";

/** The result of each operation: for `analyze`, of one part. */
export interface Results {
  readonly analyze: PackedAnalysis;
  readonly embed: EmbeddedFace;
}

/** The operations of an analyzer. */
export type Operation = keyof Results;

/** A call, or one part of it, without the options that cannot be sent: the signal and the stage callback. */
export interface Job<Name extends Operation = Operation> {
  readonly operation: Name;
  readonly image: Uint8Array;
  readonly options: Omit<AnalyzeOptions & EmbedOptions, "signal" | "onStage">;
  /** What an earlier part of `analyze` has left; missing in the first part. */
  readonly targets?: readonly Target[] | undefined;
}

/** A task of a worker. `open` comes first and loads the networks. */
export type Task =
  | { readonly type: "open"; readonly options: AnalyzerOptions }
  | { readonly type: "run"; readonly job: Job };

/** What a worker is sent: a task, after the result of the one before, or the cancellation of the task that runs. */
export type WorkerRequest = Task | { readonly type: "cancel" };

/** The durations of the steps in milliseconds, in the order in which they ended. */
export type StageTimes = readonly (readonly [Stage, number])[];

/** What a worker sends once for every task. The value is the analyzer's identity for `open`, and the result of the part for `run`. */
export type TaskResult =
  | { readonly ok: true; readonly value: unknown; readonly stages: StageTimes }
  | { readonly ok: false; readonly error: SerializedError; readonly stages: StageTimes };

/** A part of `analyze` as it is sent. */
export interface PackedAnalysis extends Omit<PartialAnalysis, "faces"> {
  readonly faces: readonly PackedFace[];
}

/** A face as it is sent. The landmarks are one array, because 68 objects are slow to serialize. */
interface PackedFace extends Omit<Face, "landmarks"> {
  /** x and y of each landmark. */
  readonly landmarks: Float64Array;
}

/** Packs a part of `analyze` without loss. */
export function packAnalysis({ faces, ...rest }: PartialAnalysis): PackedAnalysis {
  return { ...rest, faces: faces.map((face) => ({ ...face, landmarks: packPoints(face.landmarks) })) };
}

/** Restores a packed part of `analyze`. */
export function unpackAnalysis({ faces, ...rest }: PackedAnalysis): PartialAnalysis {
  return { ...rest, faces: faces.map((face) => ({ ...face, landmarks: unpackPoints(face.landmarks) })) };
}

function packPoints(points: readonly Point[]): Float64Array {
  const coordinates = new Float64Array(2 * points.length);
  points.forEach(({ x, y }, i) => {
    coordinates[2 * i] = x;
    coordinates[2 * i + 1] = y;
  });
  return coordinates;
}

function unpackPoints(coordinates: Float64Array): Point[] {
  return Array.from({ length: coordinates.length / 2 }, (_, i) => ({
    x: coordinates[2 * i]!,
    y: coordinates[2 * i + 1]!,
  }));
}

/** An error as plain data. Node's own serialization of an Error loses its class, kind and box. */
export interface SerializedError {
  readonly message: string;
  readonly stack: string | undefined;
  readonly cause: SerializedError | undefined;
  /** Only for a FaceError. */
  readonly face:
    | {
        readonly kind: FaceErrorKind;
        readonly box: Box | undefined;
        readonly boxIndex: number | undefined;
      }
    | undefined;
}

/** Serializes anything that was thrown. */
export function serializeError(error: unknown): SerializedError {
  if (!(error instanceof Error)) {
    return { message: String(error), stack: undefined, cause: undefined, face: undefined };
  }
  return {
    message: error.message,
    stack: error.stack,
    cause: error.cause === undefined ? undefined : serializeError(error.cause),
    face:
      error instanceof FaceError ? { kind: error.kind, box: error.box, boxIndex: error.boxIndex } : undefined,
  };
}

/** Restores a FaceError if it was one, otherwise an Error with the same message. */
export function deserializeError({ message, stack, cause, face }: SerializedError): Error {
  const details = cause && { cause: deserializeError(cause) };
  const error = face
    ? new FaceError(face.kind, message, { ...details, box: face.box, boxIndex: face.boxIndex })
    : new Error(message, details);
  if (stack !== undefined) error.stack = stack;
  return error;
}
