/** How a request travels: the three wires of the service, or the bare bytes of an image, which the peer takes. */
export type Wire = "grpc" | "multipart" | "json" | "bare";

/** The operations that are measured; compare_faces does the same work as match_faces. */
export type Operation = "match_faces" | "get_image_attr" | "get_face_vec";

/** A request that can be sent again and again. */
export interface RequestKind {
  readonly wire: Wire;
  readonly operation: Operation;
  /** Files of its images: two for match_faces, one otherwise. */
  readonly images: readonly string[];
}

/** Requests at a steady rate for a while. */
export interface Phase {
  readonly perSecond: number;
  readonly seconds: number;
}

/** So many callers, each of whom sends when it has its answer, for a time or for a number of requests. */
export type ClosedLoop = { readonly inFlight: number } & (
  | { readonly seconds: number }
  | { readonly requests: number }
);

/** Requests at moments that do not depend on the answers: independent callers, as a Poisson process. */
export interface OpenLoop {
  readonly phases: readonly Phase[];
}

/** Where requests go, which, and when. */
export interface Load {
  readonly port: number;
  readonly userId: string;
  /** Each request is one of these, drawn at random. */
  readonly mix: readonly RequestKind[];
  readonly arrivals: ClosedLoop | OpenLoop;
}

/** One request and its answer. */
export interface Sample {
  /** Which of the mix it was. */
  readonly kind: number;
  /** When it was due, in milliseconds since the load began. */
  readonly dueMs: number;
  /** From then to its answer, so that a late sender hides nothing. */
  readonly tookMs: number;
  /** The code in the answer's envelope, or how the connection failed. */
  readonly code: string;
}

/** The code of success. */
export const OK = "1000";

/** The code of a request that was refused because too many wait. */
export const OVERLOADED = "5001";

/** What a generator tells: when it began, what it has seen since it last told, and in the end what it cost. */
export type Told =
  | { readonly startedAt: number }
  | { readonly samples: readonly Sample[] }
  | { readonly cpuMs: number };
