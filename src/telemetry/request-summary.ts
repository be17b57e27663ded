import type { TraceContext } from "./trace-context.ts";

/** The protocol of a request; `rest` is plain HTTP with JSON, a form or multipart. */
export type Protocol = "grpc" | "grpc-web" | "connect" | "rest";

/** Summary of a finished request for log, metrics and traces. It contains no payload of request or response. */
export interface RequestSummary {
  readonly requestId: string;
  /** Undefined if the request is not part of a trace. */
  readonly trace: TraceContext | undefined;
  /** Fingerprint of the user; undefined if the request was not authenticated. */
  readonly user: string | undefined;
  /** The client address and the kind of credential, if the authentication failed. */
  readonly failedAuth?: { readonly address: string; readonly credential: string } | undefined;
  /** Such as `get_face_vec`; `none` for a path without an operation. */
  readonly operation: string;
  readonly protocol: Protocol;
  /** `ok`, or the reason of an error. */
  readonly outcome: string;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly durationMs: number;
  /** Encoded bytes of all images together. */
  readonly imageBytes: number;
  /** Number of faces found in each image. */
  readonly faces: readonly number[];
  /** The processing stages of all images, in the order in which they ended. */
  readonly stages: readonly {
    readonly image: string;
    readonly stage: string;
    readonly milliseconds: number;
  }[];
}

/** Called once for every finished request. */
export type RequestObserver = (summary: RequestSummary) => void;
