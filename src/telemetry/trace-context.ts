import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** The trace to which a request belongs (W3C Trace Context). */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** The caller's span; undefined if the trace starts with this request. */
  readonly parent: ParentSpan | undefined;
}

/** A span of the caller. */
export interface ParentSpan {
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly flags: number;
  /** The header tracestate. */
  readonly state: string | undefined;
}

const TRACE_ID_BYTES = 16;

/** Version, trace id, span id, flags. Later versions may have more parts; version ff and ids of zeros are invalid. */
const TRACEPARENT =
  /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-[\x21-\x7e]*)?$/;

/**
 * Returns the trace of a request: the caller's, if the header traceparent is valid, otherwise a new one if requests are
 * traced.
 */
export function traceContextFrom(headers: IncomingHttpHeaders, isTraced: boolean): TraceContext | undefined {
  const { traceparent, tracestate } = headers;
  // Node joins repeated headers with a comma, which makes them invalid.
  const [, version, traceId, spanId, flags, extension] =
    typeof traceparent === "string" ? (TRACEPARENT.exec(traceparent) ?? []) : [];
  if (traceId !== undefined && !(version === "00" && extension !== undefined)) {
    const state = Array.isArray(tracestate) ? tracestate.join(",") : tracestate;
    return { traceId, parent: { spanId: spanId!, flags: Number.parseInt(flags!, 16), state } };
  }
  return isTraced ? { traceId: randomBytes(TRACE_ID_BYTES).toString("hex"), parent: undefined } : undefined;
}
