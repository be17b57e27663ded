import { fingerprintOf } from "../accounts/key.ts";
import { formatAuditLine } from "../audit/audit-line.ts";
import type { AuditTrail } from "../audit/audit-trail.ts";
import type { Expiry, ExpiryObserver } from "../galleries/sql-expiry.ts";

/**
 * Audits what is removed because its time is over, with a line before and after. Lines that cannot be written now are
 * kept: nobody is stored for longer because the trail fails.
 */
export function auditExpiry(trail: AuditTrail): ExpiryObserver {
  return {
    onDue: async (due) => {
      await Promise.all(due.map((expiry) => trail.keep(formatExpiryLine(expiry, { phase: "start" }))));
    },
    onExpiry: (expired) => {
      for (const expiry of expired)
        trail.keep(formatExpiryLine(expiry, { phase: "end", outcome: "ok" })).catch(() => {});
    },
  };
}

function formatExpiryLine(
  { userId, galleryId, personId, faces }: Expiry,
  phase: { readonly phase: "start" } | { readonly phase: "end"; readonly outcome: "ok" },
): string {
  return formatAuditLine({
    operation: personId === undefined ? "ExpireGallery" : "ExpirePerson",
    source: "expiry",
    user: fingerprintOf(userId),
    gallery: galleryId,
    ...(personId !== undefined && { people: [personId] }),
    faces,
    ...phase,
  });
}
