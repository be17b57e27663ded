import type { HandlerContext } from "@connectrpc/connect";
import { callerFrom, recordFrom } from "./request-record.ts";

/** A change of something that is stored, for the log. It holds no embedding, no key and no result of a search. */
export interface AuditEntry {
  readonly requestId: string | null;
  readonly trace_id: string | undefined;
  /** Fingerprint of the user, or `admin`. */
  readonly user: string;
  /** Such as `DeletePerson`. */
  readonly operation: string;
  /** Such as `galleries/staff/people/17`. */
  readonly resource: string;
  /** Number of faces enrolled, or removed if it is negative; undefined for a change of anything else. */
  readonly count?: number;
}

/** Creates the entry of a request that has changed a resource. */
export function auditEntryFrom(
  { requestHeader, method, values }: HandlerContext,
  resource: string,
  count?: number,
): AuditEntry {
  return {
    requestId: requestHeader.get("x-request-id"),
    trace_id: recordFrom(values)?.traceId,
    user: callerFrom(values).fingerprint,
    operation: method.name,
    resource,
    ...(count !== undefined && { count }),
  };
}
