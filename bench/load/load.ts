import type { SocketBytes } from "./socket-bytes.ts";

/**
 * How a request is encoded: one of the service's three protocols, a message on one gRPC stream, or the raw image bytes
 * that the peer takes.
 */
export type Protocol = "grpc" | "grpc-stream" | "multipart" | "json" | "raw";

/**
 * The measured operations. compare_faces is left out: it does the same work as match_faces. analyze_image is that of the
 * typed API: AnalyzeImage, and AnalyzeImages on a stream. It is measured over gRPC only, and the others not on a stream.
 * enrol_face, over gRPC only, adds another person to ENROLMENT_GALLERY with each request.
 */
export type Operation = "match_faces" | "get_image_attr" | "get_face_vec" | "analyze_image" | "enrol_face";

/** The gallery in which enrol_face enrols. It must exist. */
export const ENROLMENT_GALLERY = "bench-enrolment";

/** A request that can be sent repeatedly. */
export interface RequestKind {
  readonly protocol: Protocol;
  readonly operation: Operation;
  /** Image files: two for match_faces, otherwise one. */
  readonly images: readonly string[];
}

/** A phase with a constant arrival rate. */
export interface Phase {
  readonly perSecond: number;
  readonly seconds: number;
}

/** A fixed number of clients, each of which sends its next request when it has the response to the last one. */
export type ClosedLoop = { readonly inFlight: number } & (
  | { readonly seconds: number }
  | { readonly requests: number }
);

/** Requests that arrive as a Poisson process, independently of the responses. */
export interface OpenLoop {
  readonly phases: readonly Phase[];
}

/** The target, the requests and the arrival process of a load. */
export interface Load {
  /** One port, or those of several replicas, which get the requests in turn. */
  readonly port: number | readonly number[];
  readonly userId: string;
  /** Each request is drawn from these at random. */
  readonly mix: readonly RequestKind[];
  readonly arrivals: ClosedLoop | OpenLoop;
}

/** One request and its outcome. */
export interface Sample {
  /** Index of the request in the mix. */
  readonly kind: number;
  /** When the request was due, in milliseconds since the load began. */
  readonly dueMs: number;
  /** Time from when the request was due, not sent, to its response: a late generator hides no latency. */
  readonly latencyMs: number;
  /** The code of the response envelope, or how the connection failed. */
  readonly code: string;
}

/** The envelope code of success. */
export const OK = "1000";

/** The envelope code of a request that was rejected because the service is overloaded. */
export const OVERLOADED = "5001";

/** What a load cost its generator: CPU time, and bytes on its HTTP connections (none of gRPC are counted). */
export interface GeneratorCost extends SocketBytes {
  readonly cpuMs: number;
}

/** A message from a load generator: when it started, new samples, and at the end its own cost. */
export type GeneratorMessage =
  | { readonly startedAt: number }
  | { readonly samples: readonly Sample[] }
  | GeneratorCost;
