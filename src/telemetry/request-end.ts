import type { IncomingHttpHeaders } from "node:http";

/** The protocol of a request; `rest` is plain HTTP with JSON, a form or multipart. */
export type Protocol = "grpc" | "grpc-web" | "connect" | "rest";

/** A request that is over, for those who count and watch. It holds nothing of what was sent or answered. */
export interface RequestEnd {
  readonly requestId: string;
  /** Fingerprint of the user, where one was admitted. */
  readonly user: string | undefined;
  /** Such as `get_face_vec`; `none` for a path that has none. */
  readonly operation: string;
  readonly wire: Protocol;
  /** `ok`, or the reason of an error. */
  readonly outcome: string;
  /** When it began, in milliseconds since 1970, and how long it took. */
  readonly startedAtMs: number;
  readonly milliseconds: number;
  readonly imageBytes: number;
  /** Faces found, for each image. */
  readonly faces: readonly number[];
  readonly stages: readonly {
    readonly image: string;
    readonly stage: string;
    readonly milliseconds: number;
  }[];
  /** By which a trace may go on that began elsewhere. Only `traceparent` and `tracestate` are for use. */
  readonly headers: IncomingHttpHeaders;
}

/** Hears of every request that is over. */
export type RequestObserver = (end: RequestEnd) => void;
