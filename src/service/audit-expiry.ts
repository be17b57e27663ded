import { fingerprintOf } from "../accounts/key.ts";
import { formatAuditLine } from "../audit/audit-line.ts";
import type { Expiry } from "../galleries/sql-expiry.ts";

/** Formats the audit line of a person or gallery that was removed because its time was over. */
export function formatExpiryLine({ userId, galleryId, personId, faces }: Expiry): string {
  return formatAuditLine({
    phase: "end",
    operation: personId === undefined ? "ExpireGallery" : "ExpirePerson",
    source: "expiry",
    user: fingerprintOf(userId),
    key: undefined,
    address: undefined,
    request_id: undefined,
    trace_id: undefined,
    gallery: galleryId,
    ...(personId !== undefined && { people: [personId] }),
    faces,
    outcome: "ok",
  });
}
