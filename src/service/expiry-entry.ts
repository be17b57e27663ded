import { fingerprintOf } from "../accounts/key.ts";
import type { Expiry } from "../galleries/sql-expiry.ts";
import type { AuditEntry } from "./audit.ts";

/** Creates the entry of a person or gallery that was removed because its time was over. No request has caused it. */
export function expiryEntryFrom({ userId, galleryId, personId, faces }: Expiry): AuditEntry {
  const gallery = `galleries/${galleryId}`;
  return {
    requestId: null,
    trace_id: undefined,
    user: fingerprintOf(userId),
    operation: personId === undefined ? "ExpireGallery" : "ExpirePerson",
    resource: personId === undefined ? gallery : `${gallery}/people/${personId}`,
    count: -faces,
  };
}
